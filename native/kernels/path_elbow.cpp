#include "kernels/path_elbow.hpp"

namespace rankwise {
namespace {

// A pair whose squared distance from the span of the free pairs is below this share of its squared length
// counts as dependent on them.
constexpr double kIndependence = 1e-13;

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
    if (!factor_.append(column, squared_length(pair), kIndependence)) return false;
    free_.push_back(pair);
    return true;
}

void Elbow::remove(std::size_t position) {
    factor_.remove(position);
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(position));
}

std::vector<double> Elbow::coordinates(std::int64_t pair) const {
    std::vector<double> x = gram_column(pair);
    solve(x);
    return x;
}

void Elbow::refactor() {
    Elbow fresh(kernel_, all_);
    fresh.factor_.reserve(size());
    for (const std::int64_t pair : free_) {
        if (!fresh.append(pair)) return;  // nearly dependent: keep the updated factor
    }
    *this = std::move(fresh);
}

}  // namespace rankwise
