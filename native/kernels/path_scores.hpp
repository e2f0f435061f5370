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

// Row i holds the kernel values between training row i and other rows.
struct KernelColumns {
    const double* values;
    std::int64_t n_rows;
    std::int64_t n_columns;
};

// Row t of `scores` (n_steps + 1 rows, as wide as the kernel) is λ f of those other rows at breakpoint t; row
// 0 is given, the rest are computed.
void scores_along_path(PathChanges path, WeightedPairs pairs, KernelColumns kernel, double* scores,
                       int n_threads);

}  // namespace rankwise
