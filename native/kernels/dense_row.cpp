#include "kernels/dense_row.hpp"

#include "kernels/multiversion.hpp"

namespace rankwise {
namespace {

// Sixteen sums, added in a fixed order: enough for the compiler to vectorize and to hide the latency of
// additions without reordering anything.
constexpr std::int64_t kLanes = 16;

template <class Value>
RANKWISE_INLINE double score_of(const Value* x, const double* weights, std::int64_t n) {
    double sums[kLanes] = {};
    std::int64_t j = 0;
    for (; j + kLanes <= n; j += kLanes) {
        for (std::int64_t lane = 0; lane < kLanes; ++lane)
            sums[lane] += static_cast<double>(x[j + lane]) * weights[j + lane];
    }
    for (std::int64_t lane = 0; j < n; ++j, ++lane) sums[lane] += static_cast<double>(x[j]) * weights[j];
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
        for (std::int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    }
    return sums[0];
}

template <class Value>
RANKWISE_INLINE void add_to(const Value* x, double scale, double* out, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) out[j] += scale * static_cast<double>(x[j]);
}

}  // namespace

RANKWISE_MULTIVERSION
double dense_score(const double* x, const double* weights, std::int64_t n) {
    return score_of(x, weights, n);
}

RANKWISE_MULTIVERSION
double dense_score(const float* x, const double* weights, std::int64_t n) {
    return score_of(x, weights, n);
}

RANKWISE_MULTIVERSION
void dense_add(const double* x, double scale, double* out, std::int64_t n) {
    add_to(x, scale, out, n);
}

RANKWISE_MULTIVERSION
void dense_add(const float* x, double scale, double* out, std::int64_t n) {
    add_to(x, scale, out, n);
}

}  // namespace rankwise
