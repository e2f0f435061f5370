// Ridge regressions without a fold: the fold's rows are subtracted from the system, which is then reduced to
// a tridiagonal one that serves all alphas.
#pragma once

#include <cstdint>

#include "kernels/lapack.hpp"

namespace rankwise {

// (A + αI) w = r over all rows.
struct RidgeEquations {
    const double* matrix;  // A, n × n
    const double* right;   // r, n
    std::int64_t n;
};

// Row-major rows of n columns, grouped by fold: those of fold f are offsets[f] .. offsets[f + 1].
struct FoldRows {
    const double* values;
    const std::int64_t* offsets;

    std::int64_t count(std::int64_t f) const { return offsets[f + 1] - offsets[f]; }
};

struct LeftOutRows {
    FoldRows differences;  // Z: what a fold adds to A is ZᵀZ,
    const double* target;  // and to r, Zᵀt
    FoldRows scored;       // X
    std::int64_t n_folds;
};

struct Alphas {
    const double* values;
    std::int64_t count;
};

// When to refuse a fold because subtracting it would leave too few digits.
struct Limits {
    double least_eigenvalue;  // of A − ZᵀZ
    double least_share;       // of each diagonal entry of A + αI, for the smallest α
};

// scores = X (A − ZᵀZ + αI)⁻¹ (r − Zᵀt) for each fold, one column per alpha. The scores of a fold that is
// beyond the limits are not set, and resolved[f] is false.
void left_out_systems(const Lapack& lapack, const RidgeEquations& all, const LeftOutRows& folds,
                      const Alphas& alphas, const Limits& limits, double* scores, bool* resolved,
                      int n_threads);

}  // namespace rankwise
