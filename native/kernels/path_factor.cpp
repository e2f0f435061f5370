#include "kernels/path_factor.hpp"

#include <algorithm>
#include <cmath>

namespace rankwise {
namespace {

// Four partial sums let the compiler use vector registers without reordering a sum behind our back.
double dot(const double* a, const double* b, std::int64_t n) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    }
    double rest = 0.0;
    for (; i < n; ++i) rest += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest;
}

}  // namespace

void solve_transposed(UpperFactor factor, double* x) {
    for (std::int64_t i = 0; i < factor.size; ++i) {
        const double* row = factor.data + i * factor.stride;
        x[i] /= row[i];
        const double xi = x[i];
        for (std::int64_t j = i + 1; j < factor.size; ++j) x[j] -= row[j] * xi;
    }
}

void solve_upper(UpperFactor factor, double* x) {
    for (std::int64_t i = factor.size - 1; i >= 0; --i) {
        const double* row = factor.data + i * factor.stride;
        x[i] = (x[i] - dot(row + i + 1, x + i + 1, factor.size - i - 1)) / row[i];
    }
}

void remove_column(UpperFactor factor, std::int64_t index) {
    for (std::int64_t r = 0; r < factor.size; ++r) {
        double* row = factor.data + r * factor.stride;
        std::copy(row + std::max(index + 1, r), row + factor.size, row + std::max(index, r - 1));
    }
    // Row r + 1 now has one entry left of its diagonal: rotate it into row r.
    const std::int64_t last = factor.size - 1;
    for (std::int64_t r = index; r < last; ++r) {
        double* upper = factor.data + r * factor.stride;
        double* lower = upper + factor.stride;
        const double length = std::hypot(upper[r], lower[r]);
        const double cosine = upper[r] / length;
        const double sine = lower[r] / length;
        upper[r] = length;
        for (std::int64_t c = r + 1; c < last; ++c) {
            const double above = upper[c];
            const double below = lower[c];
            upper[c] = cosine * above + sine * below;
            lower[c] = cosine * below - sine * above;
        }
    }
}

}  // namespace rankwise
