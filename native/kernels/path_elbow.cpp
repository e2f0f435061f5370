#include "kernels/path_elbow.hpp"

#include <algorithm>
#include <cmath>

namespace rankwise {
namespace {

// A pair whose squared distance from the span of the free pairs is below this share of its squared length
// counts as dependent on them.
constexpr double kIndependence = 1e-13;

// Four partial sums let the compiler use vector registers without reordering a sum behind our back.
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

}  // namespace

std::vector<double> Elbow::gram_column(std::int64_t pair) const {
    const double* above = kernel_.row(all_.better[pair]);
    const double* below = kernel_.row(all_.worse[pair]);
    std::vector<double> column(size());
    for (std::size_t b = 0; b < size(); ++b) {
        column[b] = all_.difference(above, free_[b]) - all_.difference(below, free_[b]);
    }
    return column;
}

double Elbow::squared_length(std::int64_t pair) const {
    return all_.difference(kernel_.row(all_.better[pair]), pair) -
           all_.difference(kernel_.row(all_.worse[pair]), pair);
}

bool Elbow::append(std::int64_t pair) {
    std::vector<double> column = gram_column(pair);
    solve_transposed(column);
    const double square = squared_length(pair);
    const double rest = square - dot(column.data(), column.data(), column.size());
    if (!(rest > kIndependence * square)) return false;
    const std::size_t last = size();
    reserve(last + 1);
    for (std::size_t r = 0; r < last; ++r) row(r)[last] = column[r];
    row(last)[last] = std::sqrt(rest);
    free_.push_back(pair);
    return true;
}

void Elbow::remove(std::size_t position) {
    const std::size_t last = size() - 1;
    for (std::size_t r = 0; r <= last; ++r) {
        double* values = row(r);
        const std::size_t from = std::max(position + 1, r);
        std::copy(values + from, values + last + 1, values + from - 1);
    }
    // Row r + 1 now has one entry left of its diagonal: rotate it into row r.
    for (std::size_t r = position; r < last; ++r) {
        double* upper = row(r);
        double* lower = row(r + 1);
        const double length = std::hypot(upper[r], lower[r]);
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
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(position));
}

void Elbow::solve_transposed(std::vector<double>& x) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double* values = row(i);
        x[i] /= values[i];
        const double xi = x[i];
        for (std::size_t j = i + 1; j < x.size(); ++j) x[j] -= values[j] * xi;
    }
}

void Elbow::solve(std::vector<double>& x) const {
    solve_transposed(x);
    for (std::size_t i = x.size(); i-- > 0;) {
        const double* values = row(i);
        x[i] = (x[i] - dot(values + i + 1, x.data() + i + 1, x.size() - i - 1)) / values[i];
    }
}

std::vector<double> Elbow::coordinates(std::int64_t pair) const {
    std::vector<double> x = gram_column(pair);
    solve(x);
    return x;
}

void Elbow::refactor() {
    Elbow fresh(kernel_, all_);
    fresh.reserve(size());
    for (const std::int64_t pair : free_) {
        if (!fresh.append(pair)) return;  // nearly dependent: the updated factor is as good as any
    }
    *this = std::move(fresh);
}

void Elbow::reserve(std::size_t size) {
    if (size <= capacity_) return;
    const std::size_t capacity = std::max<std::size_t>({64, size, 2 * capacity_});
    std::vector<double> factor(capacity * capacity, 0.0);
    for (std::size_t r = 0; r < free_.size(); ++r) {
        std::copy(row(r) + r, row(r) + free_.size(), factor.data() + r * capacity + r);
    }
    factor_ = std::move(factor);
    capacity_ = capacity;
}

}  // namespace rankwise
