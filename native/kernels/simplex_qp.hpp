// The small quadratic program of a bundle method.
#pragma once

#include <cstdint>

namespace rankwise {

// ½ xᵀHx − bᵀx, H symmetric, positive semidefinite and n x n.
struct QuadraticProgram {
    const double* H;
    const double* b;
    std::int64_t n;

    const double* row(std::int64_t i) const { return H + i * n; }
};

// Move x to the minimum over x ≥ 0, Σx = 1. It begins at a point of that simplex, and every point on the way
// is one.
void minimize_on_simplex(QuadraticProgram program, double* x);

}  // namespace rankwise
