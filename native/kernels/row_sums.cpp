#include "kernels/row_sums.hpp"

#include "kernels/compiler.hpp"

namespace rankwise {

RANKWISE_MULTIVERSION_UNALIGNED
void add_rows(const RowSum& sum, std::int64_t width, double* __restrict out) {
    const auto row = [&](std::int64_t k) { return sum.values + sum.rows[k] * sum.stride; };
    std::int64_t k = 0;
    for (; k + 8 <= sum.n; k += 8) {
        const double *a = row(k), *b = row(k + 1), *c = row(k + 2), *d = row(k + 3);
        const double *e = row(k + 4), *f = row(k + 5), *g = row(k + 6), *h = row(k + 7);
        const double* s = sum.scales + k;
        const double s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3], s4 = s[4], s5 = s[5], s6 = s[6], s7 = s[7];
        for (std::int64_t i = 0; i < width; ++i) {
            out[i] += ((s0 * a[i] + s1 * b[i]) + (s2 * c[i] + s3 * d[i])) +
                      ((s4 * e[i] + s5 * f[i]) + (s6 * g[i] + s7 * h[i]));
        }
    }
    for (; k + 2 <= sum.n; k += 2) {
        const double *a = row(k), *b = row(k + 1);
        const double s0 = sum.scales[k], s1 = sum.scales[k + 1];
        for (std::int64_t i = 0; i < width; ++i) out[i] += s0 * a[i] + s1 * b[i];
    }
    if (k < sum.n) {
        const double* a = row(k);
        const double s0 = sum.scales[k];
        for (std::int64_t i = 0; i < width; ++i) out[i] += s0 * a[i];
    }
}

}  // namespace rankwise
