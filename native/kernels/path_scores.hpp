// Scores of other rows at every breakpoint of a path, from the changes of its multipliers.
#pragma once

#include <cstdint>

#include "kernels/path_elbow.hpp"

namespace rankwise {

// Multipliers start at the pairs' weights; change k adds changes[k] to that of pair pairs[k]. The changes
// from breakpoint t to the next are offsets[t] .. offsets[t + 1].
struct PathChanges {
    const std::int32_t* pairs;
    const double* changes;
    const std::int64_t* offsets;
};

// Row i holds the kernel values between training row i and other rows.
struct KernelColumns {
    const double* values;
    std::int64_t n_rows;
    std::int64_t n_columns;
};

// A path, and the kernel values of other rows.
struct ScoredPath {
    PathChanges changes;
    WeightedPairs pairs;
    KernelColumns kernel;
};

// Row t of `scores` is λ f of the other rows at breakpoint first + t; row 0 is given, the n_steps after it
// are computed.
void scores_along_path(const ScoredPath& path, std::int64_t first, std::int64_t n_steps, double* scores,
                       int n_threads);

}  // namespace rankwise
