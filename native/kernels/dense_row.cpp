#include "kernels/dense_row.hpp"

#include "kernels/compiler.hpp"

namespace rankwise {
namespace {

// Sixteen sums, added in a fixed order: enough for the compiler to vectorize and to hide the latency of
// additions without reordering anything.
constexpr std::int64_t kLanes = 16;

template <class Entry>
RANKWISE_INLINE double score_of(Entry&& x, const double* weights, std::int64_t n) {
    double sums[kLanes] = {};
    std::int64_t j = 0;
    for (; j + kLanes <= n; j += kLanes) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += x(j + lane) * weights[j + lane];
    }
    for (std::int64_t lane = 0; j < n; ++j, ++lane) sums[lane] += x(j) * weights[j];
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
        for (std::int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    }
    return sums[0];
}

template <class Entry>
RANKWISE_INLINE void add_to(Entry&& x, double scale, double* out, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) out[j] += scale * x(j);
}

// Entries of a row, and of the difference of two rows.
template <class Value>
RANKWISE_INLINE auto entries(const Value* x) {
    return [x](std::int64_t j) RANKWISE_INLINE_LAMBDA { return static_cast<double>(x[j]); };
}

template <class Value>
RANKWISE_INLINE auto entries(const Value* x, const Value* origin) {
    return [x, origin](std::int64_t j)
               RANKWISE_INLINE_LAMBDA { return static_cast<double>(x[j]) - static_cast<double>(origin[j]); };
}

}  // namespace

RANKWISE_MULTIVERSION
double dense_score(const double* x, const double* weights, std::int64_t n) {
    return score_of(entries(x), weights, n);
}

RANKWISE_MULTIVERSION
double dense_score(const float* x, const double* weights, std::int64_t n) {
    return score_of(entries(x), weights, n);
}

RANKWISE_MULTIVERSION
void dense_add(const double* x, double scale, double* out, std::int64_t n) {
    add_to(entries(x), scale, out, n);
}

RANKWISE_MULTIVERSION
void dense_add(const float* x, double scale, double* out, std::int64_t n) {
    add_to(entries(x), scale, out, n);
}

RANKWISE_MULTIVERSION
double dense_score(const double* x, const double* origin, const double* weights, std::int64_t n) {
    return score_of(entries(x, origin), weights, n);
}

RANKWISE_MULTIVERSION
double dense_score(const float* x, const float* origin, const double* weights, std::int64_t n) {
    return score_of(entries(x, origin), weights, n);
}

RANKWISE_MULTIVERSION
void dense_add(const double* x, const double* origin, double scale, double* out, std::int64_t n) {
    add_to(entries(x, origin), scale, out, n);
}

RANKWISE_MULTIVERSION
void dense_add(const float* x, const float* origin, double scale, double* out, std::int64_t n) {
    add_to(entries(x, origin), scale, out, n);
}

}  // namespace rankwise
