// The Cholesky factor of a growing and shrinking Gram matrix: O(k²) a change.
#pragma once

#include <cstdint>

namespace rankwise {

// The upper triangle of R, row after row with `stride` doubles between rows; A = Rᵀ R has `size` rows.
struct UpperFactor {
    double* data;
    std::int64_t stride;
    std::int64_t size;
};

// x = R⁻ᵀ x.
void solve_transposed(UpperFactor factor, double* x);

// x = R⁻¹ x.
void solve_upper(UpperFactor factor, double* x);

// Take row and column `index` out of A: the columns right of it move left, and Givens rotations of
// neighbouring rows make R triangular again.
void remove_column(UpperFactor factor, std::int64_t index);

}  // namespace rankwise
