// Products of one dense row, with the widest vectors that the processor has and the same bits for any width.
#pragma once

#include <cstdint>

namespace rankwise {

// x'w
double dense_score(const double* x, const double* weights, std::int64_t n);
double dense_score(const float* x, const double* weights, std::int64_t n);

// out += scale x
void dense_add(const double* x, double scale, double* out, std::int64_t n);
void dense_add(const float* x, double scale, double* out, std::int64_t n);

}  // namespace rankwise
