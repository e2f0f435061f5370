#include "kernels/shifted_tridiagonal.hpp"

#include <cmath>

#include "kernels/compiler.hpp"

namespace rankwise {

std::vector<double> padded_shifts(const double* shifts, std::int64_t count, std::int64_t multiple) {
    std::vector<double> padded(shifts, shifts + count);
    while (padded.size() % static_cast<std::size_t>(multiple) != 0) padded.push_back(padded.back());
    return padded;
}

RANKWISE_MULTIVERSION_UNALIGNED
void factorize_shifted(const Tridiagonal& T, const double* shifts, std::int64_t n_lanes, double* inverse,
                       double* off) {
    for (std::int64_t j = 0; j < T.n; ++j) {
        const double diagonal = T.diagonal[j];
        const double next = j + 1 < T.n ? T.off_diagonal[j] : 0.0;
        const double* previous = off - n_lanes;
        for (std::int64_t lane = 0; lane < n_lanes; ++lane) {
            double pivot = diagonal + shifts[lane];
            if (j > 0) pivot -= previous[lane] * previous[lane];
            inverse[lane] = pivot > 0.0 ? 1.0 / std::sqrt(pivot) : 0.0;
            off[lane] = next * inverse[lane];
        }
        inverse += n_lanes;
        off += n_lanes;
    }
}

RANKWISE_MULTIVERSION_UNALIGNED
void solve_forward(const double* inverse, const double* off, std::int64_t n, std::int64_t n_lanes,
                   double* x) {
    for (std::int64_t lane = 0; lane < n_lanes; ++lane) x[lane] *= inverse[lane];
    for (std::int64_t j = 1; j < n; ++j) {
        const double* previous = x;
        x += n_lanes;
        inverse += n_lanes;
        for (std::int64_t lane = 0; lane < n_lanes; ++lane) {
            x[lane] = (x[lane] - off[lane] * previous[lane]) * inverse[lane];
        }
        off += n_lanes;
    }
}

RANKWISE_MULTIVERSION_UNALIGNED
void solve_half(const double* inverse, const double* off, const double* b, std::int64_t n,
                std::int64_t n_lanes, double* x, const double* before) {
    for (std::int64_t j = 0; j < n; ++j) {
        const double scale = inverse[j];
        if (before == nullptr) {
            for (std::int64_t lane = 0; lane < n_lanes; ++lane) x[lane] = b[lane] * scale;
        } else {
            const double factor = off[j - 1];
            for (std::int64_t lane = 0; lane < n_lanes; ++lane) {
                x[lane] = (b[lane] - factor * before[lane]) * scale;
            }
        }
        before = x;
        b += n_lanes;
        x += n_lanes;
    }
}

RANKWISE_MULTIVERSION_UNALIGNED
void solve_backward(const double* inverse, const double* off, std::int64_t n, std::int64_t n_lanes,
                    double* x) {
    for (std::int64_t j = n - 1; j >= 0; --j) {
        double* current = x + j * n_lanes;
        const double* next = current + n_lanes;
        for (std::int64_t lane = 0; lane < n_lanes; ++lane) {
            double value = current[lane];
            if (j + 1 < n) value -= off[j * n_lanes + lane] * next[lane];
            current[lane] = value * inverse[j * n_lanes + lane];
        }
    }
}

bool is_positive_definite(const Tridiagonal& T, double shift) {
    double removed = 0.0;
    for (std::int64_t j = 0; j < T.n; ++j) {
        const double pivot = T.diagonal[j] + shift - removed;
        if (!(pivot > 0.0)) return false;
        if (j + 1 < T.n) removed = T.off_diagonal[j] * T.off_diagonal[j] / pivot;
    }
    return true;
}

}  // namespace rankwise
