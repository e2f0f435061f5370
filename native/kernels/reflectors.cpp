#include "kernels/reflectors.hpp"

#include "kernels/compiler.hpp"

namespace rankwise {
namespace {

// Four partial sums let the compiler vectorize without reordering a sum.
RANKWISE_INLINE double dot(const double* a, const double* b, std::int64_t n) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (std::int64_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    }
    double rest = 0.0;
    for (; i < n; ++i) rest += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest;
}

// A group of columns stays in four registers, which compilers do not find by themselves. (`auto` would forget
// that they are not aligned.)
static_assert(4 * sizeof(Double4) == reflected_lanes * sizeof(double), "four registers");

}  // namespace

RANKWISE_MULTIVERSION_UNALIGNED
void reflect_transposed(const Reflectors& Q, double* x) {
    for (std::int64_t i = 0; i + 1 < Q.n; ++i) {
        const double* v = Q.packed + i * Q.n + i + 2;
        const std::int64_t length = Q.n - i - 2;
        double* rest = x + i + 2;
        const double share = Q.scales[i] * (x[i + 1] + dot(v, rest, length));
        x[i + 1] -= share;
        for (std::int64_t j = 0; j < length; ++j) rest[j] -= share * v[j];
    }
}

RANKWISE_MULTIVERSION_UNALIGNED
void reflect(const Reflectors& Q, double* X, std::int64_t n_lanes) {
    for (std::int64_t first = 0; first < n_lanes; first += reflected_lanes) {
        for (std::int64_t i = Q.n - 2; i >= 0; --i) {
            const double* v = Q.packed + i * Q.n + i + 2;
            const std::int64_t length = Q.n - i - 2;
            double* top = X + (i + 1) * n_lanes + first;
            Double4* here = reinterpret_cast<Double4*>(top);
            Double4 a = here[0], b = here[1], c = here[2], d = here[3];
            for (std::int64_t j = 0; j < length; ++j) {
                const Double4* row = reinterpret_cast<const Double4*>(top + (j + 1) * n_lanes);
                a += v[j] * row[0];
                b += v[j] * row[1];
                c += v[j] * row[2];
                d += v[j] * row[3];
            }
            a *= Q.scales[i];
            b *= Q.scales[i];
            c *= Q.scales[i];
            d *= Q.scales[i];
            here[0] -= a;
            here[1] -= b;
            here[2] -= c;
            here[3] -= d;
            for (std::int64_t j = 0; j < length; ++j) {
                Double4* row = reinterpret_cast<Double4*>(top + (j + 1) * n_lanes);
                row[0] -= v[j] * a;
                row[1] -= v[j] * b;
                row[2] -= v[j] * c;
                row[3] -= v[j] * d;
            }
        }
    }
}

}  // namespace rankwise
