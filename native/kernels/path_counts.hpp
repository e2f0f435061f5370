// Pair counts of other rows at every breakpoint of a path, without a table of their scores.
#pragma once

#include <cstdint>

#include "kernels/nearby_counts.hpp"
#include "kernels/path_scores.hpp"

namespace rankwise {

// The result of count_pairs for the scores at breakpoints first .. first + n, one row of each output per
// breakpoint. O(rows) for each coefficient that changes on the way, plus the cost of the pairs that change
// order. `doubts` reports the breakpoints at which rounding may have decided the counts; its vectors are
// these breakpoints.
void count_pairs_along_path(const ScoredPath& path, std::int64_t first, std::int64_t n, LabelledRows rows,
                            const Doubts& doubts, PairCounts<std::int64_t> out, int n_threads);

}  // namespace rankwise
