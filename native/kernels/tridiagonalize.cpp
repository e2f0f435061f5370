#include "kernels/tridiagonalize.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/compiler.hpp"

namespace rankwise {
namespace {

RANKWISE_INLINE double sum(const Double4& four) {
    return (four[0] + four[1]) + (four[2] + four[3]);
}

// The reflection of x that leaves only its first number, which becomes `off`: x := v with v_0 = 1 (not
// stored).
RANKWISE_INLINE double reflector(double* x, std::int64_t n, double& off) {
    Double4 sums = {0.0, 0.0, 0.0, 0.0};
    std::int64_t i = 1;
    for (; i + 4 <= n; i += 4) {
        const Double4 four = *reinterpret_cast<const Double4*>(x + i);
        sums += four * four;
    }
    double squares = sum(sums);
    for (; i < n; ++i) squares += x[i] * x[i];
    off = x[0];
    if (squares == 0.0) return 0.0;
    off = -std::copysign(std::sqrt(x[0] * x[0] + squares), x[0]);
    const double inverse = 1.0 / (x[0] - off);
    const double scale = (off - x[0]) / off;
    for (i = 1; i < n; ++i) x[i] *= inverse;
    return scale;
}

// One column of the trailing matrix, from its diagonal down: a -= v w_0 + w v_0, p += a x_0 and, below the
// diagonal, p_0 += aᵀx.
RANKWISE_INLINE void update_column(double* a, const double* v, const double* w, const double* x, double* p,
                                   std::int64_t n) {
    const double v0 = v[0], w0 = w[0], x0 = x[0];
    a[0] -= 2.0 * v0 * w0;
    Double4 sums = {0.0, 0.0, 0.0, 0.0};
    std::int64_t i = 1;
    for (; i + 4 <= n; i += 4) {
        Double4* here = reinterpret_cast<Double4*>(a + i);
        Double4* product = reinterpret_cast<Double4*>(p + i);
        const Double4 value = *here - (*reinterpret_cast<const Double4*>(v + i) * w0 +
                                       *reinterpret_cast<const Double4*>(w + i) * v0);
        *here = value;
        *product += value * x0;
        sums += value * *reinterpret_cast<const Double4*>(x + i);
    }
    double rest = sum(sums);
    for (; i < n; ++i) {
        a[i] -= v[i] * w0 + w[i] * v0;
        p[i] += a[i] * x0;
        rest += a[i] * x[i];
    }
    p[0] += a[0] * x0 + rest;
}

// Two columns, which share what they load; n counts the rows of the first.
RANKWISE_INLINE void update_two_columns(double* a, double* b, const double* v, const double* w,
                                        const double* x, double* p, std::int64_t n) {
    const double v0 = v[0], w0 = w[0], x0 = x[0], v1 = v[1], w1 = w[1], x1 = x[1];
    a[0] -= 2.0 * v0 * w0;
    a[1] -= v1 * w0 + w1 * v0;
    b[0] -= 2.0 * v1 * w1;
    b -= 1;
    p[0] += a[0] * x0 + a[1] * x1;
    p[1] += a[1] * x0 + b[1] * x1;
    Double4 first = {0.0, 0.0, 0.0, 0.0}, second = first;
    std::int64_t i = 2;
    for (; i + 4 <= n; i += 4) {
        const Double4 vi = *reinterpret_cast<const Double4*>(v + i);
        const Double4 wi = *reinterpret_cast<const Double4*>(w + i);
        const Double4 xi = *reinterpret_cast<const Double4*>(x + i);
        Double4* left = reinterpret_cast<Double4*>(a + i);
        Double4* right = reinterpret_cast<Double4*>(b + i);
        const Double4 one = *left - (vi * w0 + wi * v0);
        const Double4 two = *right - (vi * w1 + wi * v1);
        *left = one;
        *right = two;
        *reinterpret_cast<Double4*>(p + i) += one * x0 + two * x1;
        first += one * xi;
        second += two * xi;
    }
    double rest = sum(first), other = sum(second);
    for (; i < n; ++i) {
        a[i] -= v[i] * w0 + w[i] * v0;
        b[i] -= v[i] * w1 + w[i] * v1;
        p[i] += a[i] * x0 + b[i] * x1;
        rest += a[i] * x[i];
        other += b[i] * x[i];
    }
    p[0] += rest;
    p[1] += other;
}

// A power of two that keeps squares of A's entries from overflowing or vanishing.
double scale_of(const double* A, std::int64_t n) {
    double largest = 0.0;
    for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = j; i < n; ++i) largest = std::max(largest, std::abs(A[j * n + i]));
    }
    return largest > 0.0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000)) : 1.0;
}

RANKWISE_MULTIVERSION_UNALIGNED
void tridiagonalize_scaled(double* A, std::int64_t n, double* diagonal, double* off_diagonal, double* scales,
                           double* work) {
    // The update A -= vwᵀ + wvᵀ of a step waits for the next, which then passes over A only once.
    double *v = work, *w = work + n, *p = work + 2 * n;
    std::fill(work, work + 3 * n, 0.0);
    for (std::int64_t i = 0; i + 1 < n; ++i) {
        double* column = A + i * n;
        for (std::int64_t r = i; r < n; ++r) column[r] -= v[r] * w[i] + w[r] * v[i];
        diagonal[i] = column[i];
        scales[i] = reflector(column + i + 1, n - i - 1, off_diagonal[i]);
        column[i + 1] = 1.0;  // v_0, in place of what is now off the diagonal of T
        const double* x = column;
        std::fill(p + i + 1, p + n, 0.0);
        std::int64_t j = i + 1;
        for (; j + 2 <= n; j += 2) {
            double* here = A + j * n + j;
            update_two_columns(here, here + n + 1, v + j, w + j, x + j, p + j, n - j);
        }
        if (j < n) update_column(A + j * n + j, v + j, w + j, x + j, p + j, n - j);
        double product = 0.0;
        for (std::int64_t r = i + 1; r < n; ++r) product += p[r] * x[r];
        const double half = -0.5 * scales[i] * scales[i] * product;
        for (std::int64_t r = i + 1; r < n; ++r) {
            v[r] = x[r];
            w[r] = scales[i] * p[r] + half * x[r];
        }
    }
    diagonal[n - 1] = A[n * n - 1] - 2.0 * v[n - 1] * w[n - 1];
}

}  // namespace

void tridiagonalize(double* A, std::int64_t n, double* diagonal, double* off_diagonal, double* scales,
                    double* work) {
    const double scale = scale_of(A, n);
    for (std::int64_t i = 0; i < n * n; ++i) A[i] *= scale;
    tridiagonalize_scaled(A, n, diagonal, off_diagonal, scales, work);
    for (std::int64_t i = 0; i < n; ++i) diagonal[i] /= scale;
    for (std::int64_t i = 0; i + 1 < n; ++i) off_diagonal[i] /= scale;
}

}  // namespace rankwise
