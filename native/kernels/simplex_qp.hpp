// The small quadratic program of a bundle method.
#pragma once

#include <cstdint>

namespace rankwise {

// ½ xᵀHx − bᵀx with a symmetric positive semidefinite n x n matrix H.
struct QuadraticProgram {
    const double* H;
    const double* b;
    std::int64_t n;

    const double* row(std::int64_t i) const { return H + i * n; }
};

// Move x to the minimum over x ≥ 0, Σx = 1. x must start in this simplex, and all iterates stay in it.
void minimize_on_simplex(QuadraticProgram program, double* x);

}  // namespace rankwise
