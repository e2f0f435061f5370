// Products with one dense row, using the widest available vectors; results are bit-identical for any width.
#pragma once

#include <cstdint>

namespace rankwise {

// x'w
double dense_score(const double* x, const double* weights, std::int64_t n);
double dense_score(const float* x, const double* weights, std::int64_t n);

// out += scale x
void dense_add(const double* x, double scale, double* out, std::int64_t n);
void dense_add(const float* x, double scale, double* out, std::int64_t n);

// The same for x - origin, whose digits survive if both are far from zero.
double dense_score(const double* x, const double* origin, const double* weights, std::int64_t n);
double dense_score(const float* x, const float* origin, const double* weights, std::int64_t n);
void dense_add(const double* x, const double* origin, double scale, double* out, std::int64_t n);
void dense_add(const float* x, const float* origin, double scale, double* out, std::int64_t n);

}  // namespace rankwise
