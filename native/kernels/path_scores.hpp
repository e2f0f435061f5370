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

}  // namespace rankwise
