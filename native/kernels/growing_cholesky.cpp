#include "kernels/growing_cholesky.hpp"

#include <algorithm>
#include <cmath>

namespace rankwise {
namespace {

// Four partial sums let the compiler vectorize without reordering a sum.
double dot(const double* a, const double* b, std::size_t n) {
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    }
    double rest = 0.0;
    for (; i < n; ++i) rest += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest;
}

// The square root of a² + b² for any b other than 0. A program that calls std::hypot needs the glibc with
// which it was built, from 2.35 on, which is more than anything else here needs.
double hypotenuse(double a, double b) {
    const double longer = std::max(std::abs(a), std::abs(b));
    const double ratio = std::min(std::abs(a), std::abs(b)) / longer;
    return longer * std::sqrt(1.0 + ratio * ratio);
}

}  // namespace

bool GrowingCholesky::append(std::vector<double>& column, double square, double independence) {
    solve_transposed(column);
    const double rest = square - dot(column.data(), column.data(), column.size());
    if (!(rest > independence * square)) return false;
    reserve(size_ + 1);
    for (std::size_t r = 0; r < size_; ++r) row(r)[size_] = column[r];
    row(size_)[size_] = std::sqrt(rest);
    ++size_;
    return true;
}

void GrowingCholesky::remove(std::size_t position) {
    const std::size_t last = size_ - 1;
    for (std::size_t r = 0; r <= last; ++r) {
        double* values = row(r);
        const std::size_t from = std::max(position + 1, r);
        std::copy(values + from, values + last + 1, values + from - 1);
    }
    // Row r + 1 now has one entry to the left of its diagonal: rotate it into row r.
    for (std::size_t r = position; r < last; ++r) {
        double* upper = row(r);
        double* lower = row(r + 1);
        const double length = hypotenuse(upper[r], lower[r]);
        const double cosine = upper[r] / length;
        const double sine = lower[r] / length;
        upper[r] = length;
        for (std::size_t c = r + 1; c < last; ++c) {
            const double above = upper[c];
            const double below = lower[c];
            upper[c] = cosine * above + sine * below;
            lower[c] = cosine * below - sine * above;
        }
    }
    size_ = last;
}

void GrowingCholesky::solve_transposed(std::vector<double>& x) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double* values = row(i);
        x[i] /= values[i];
        const double xi = x[i];
        for (std::size_t j = i + 1; j < x.size(); ++j) x[j] -= values[j] * xi;
    }
}

void GrowingCholesky::solve(std::vector<double>& x) const {
    solve_transposed(x);
    for (std::size_t i = x.size(); i-- > 0;) {
        const double* values = row(i);
        x[i] = (x[i] - dot(values + i + 1, x.data() + i + 1, x.size() - i - 1)) / values[i];
    }
}

void GrowingCholesky::reserve(std::size_t size) {
    if (size <= capacity_) return;
    const std::size_t capacity = std::max<std::size_t>({64, size, 2 * capacity_});
    std::vector<double> factor(capacity * capacity, 0.0);
    for (std::size_t r = 0; r < size_; ++r) {
        std::copy(row(r) + r, row(r) + size_, factor.data() + r * capacity + r);
    }
    factor_ = std::move(factor);
    capacity_ = capacity;
}

}  // namespace rankwise
