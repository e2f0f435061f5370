// Scores of other rows at every breakpoint of a path, from the changes of its multipliers.
#pragma once

#include <cstdint>

#include "kernels/path_elbow.hpp"

namespace rankwise {

// Change k adds changes[k] to the multiplier of pair pairs[k]; those on the way to breakpoint t + 1 are
// offsets[t] .. offsets[t + 1] (offsets[0] is the first of them).
struct PathChanges {
    const std::int32_t* pairs;
    const double* changes;
    const std::int64_t* offsets;
    std::int64_t n_steps;
};

// Row t of `scores` (n_steps + 1 rows of n_rows) is λ f of the rows at breakpoint t; row 0 is given, the
// others are computed. Row i of `kernel` (n_rows wide) holds the kernel values of training row i and these
// rows.
void scores_along_path(PathChanges path, WeightedPairs pairs, const double* kernel, std::int64_t n_rows,
                       double* scores, int n_threads);

// Which of n_steps score vectors of the same rows rank them otherwise than the one before: changed[t] is 0
// when every query (rows offsets[q] .. offsets[q + 1]) is in the same order, without ties in either. `order`
// holds the rows of each query by score, and starts as any order of them.
void mark_new_orders(const std::int64_t* offsets, std::int64_t n_queries, const double* scores,
                     std::int64_t n_steps, std::int64_t* order, std::uint8_t* changed);

}  // namespace rankwise
