// How a ridge regression without two rows orders them, for all pairs of rows with different labels.
#pragma once

#include <cstdint>

#include "kernels/lapack.hpp"

namespace rankwise {

// A regression on m rows in ascending order of labels, one number per row except where it says otherwise.
struct PairRidge {
    const double* rows;         // R, n_columns × m: N_ij = offset + sign · (RᵀR)_ij
    const double* weight;       // s, not negative
    const double* root;         // √s
    const double* inverse;      // 1 / √s, or 0
    const double* free;         // (I − H)_ii
    const double* residual;     // (I − H) y
    const double* label;        // y
    const std::int64_t* below;  // the number of rows with smaller labels
    std::int64_t n_rows, n_columns;
    double offset, sign;
    double level, size;  // differences up to level · (size + …) are ties
};

// wrong[i] = Σ_j s_j over the rows j below row i that the model fitted without both puts above it, half of
// s_j if it ties them.
void misordered_pairs(const Lapack& lapack, const PairRidge& ridge, double* wrong, int n_threads);

}  // namespace rankwise
