// A symmetric matrix to tridiagonal form, on one thread. LAPACK's sytrd takes two to three times as long for
// 50 to 150 rows, and as long for 1,000.
#pragma once

#include <cstdint>

namespace rankwise {

// A = Q T Qᵀ, where Q is stored in A as described in reflectors.hpp. A is column-major, and only its lower
// triangle is read. `diagonal` takes n numbers, `off_diagonal` and `scales` n − 1, and `work` 3 n.
void tridiagonalize(double* A, std::int64_t n, double* diagonal, double* off_diagonal, double* scales,
                    double* work);

}  // namespace rankwise
