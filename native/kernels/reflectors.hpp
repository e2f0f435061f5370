// Products with an orthogonal matrix stored as n − 1 Householder reflections, as in LAPACK's sytrd. For a few
// columns, applying these one by one is faster than combining them into blocks first.
#pragma once

#include <cstdint>

namespace rankwise {

// Q = H_0 H_1 ... H_{n−2} with H_i = I − scale_i v vᵀ, where v is 0 up to place i, 1 at i + 1, and then
// stored below the subdiagonal of column i.
struct Reflectors {
    const double* packed;  // n × n, column-major
    const double* scales;  // n − 1
    std::int64_t n;
};

// Columns are worked on in groups of this many; their number must be a multiple of it.
constexpr std::int64_t reflected_lanes = 16;

// x = Qᵀ x.
void reflect_transposed(const Reflectors& Q, double* x);

// X = Q X, where X is row-major with n_lanes columns.
void reflect(const Reflectors& Q, double* X, std::int64_t n_lanes);

}  // namespace rankwise
