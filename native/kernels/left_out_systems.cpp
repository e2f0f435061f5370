#include "kernels/left_out_systems.hpp"

#include <algorithm>
#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/reflectors.hpp"
#include "kernels/shifted_tridiagonal.hpp"
#include "kernels/tridiagonalize.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t folds_per_chunk = 4;

std::size_t size(std::int64_t n) {
    return static_cast<std::size_t>(n);
}

// One fold at a time.
class LeftOutSystem {
  public:
    LeftOutSystem(const Lapack& lapack, const RidgeEquations& all, const Alphas& alphas)
        : lapack_(lapack),
          all_(all),
          shifts_(padded_shifts(alphas.values, alphas.count, reflected_lanes)),
          n_(static_cast<int>(all.n)),
          n_alphas_(static_cast<int>(alphas.count)),
          n_lanes_(static_cast<int>(shifts_.size())),
          matrix_(size(all.n * all.n)),
          right_(size(all.n)),
          diagonal_(size(all.n)),
          off_diagonal_(size(all.n)),
          scales_(size(all.n)),
          inverse_(size(all.n * n_lanes_)),
          off_(size(all.n * n_lanes_)),
          weights_(size(all.n * n_lanes_)),
          work_(size(3 * all.n)) {
        smallest_alpha_ = *std::min_element(shifts_.begin(), shifts_.end());
    }

    // Returns false beyond the limits.
    bool solve(const double* Z, const double* t, int n_rows, const Limits& limits) {
        subtract(Z, t, n_rows);
        if (!leaves_enough(limits.least_share)) return false;
        tridiagonalize(matrix_.data(), all_.n, diagonal_.data(), off_diagonal_.data(), scales_.data(),
                       work_.data());
        const Tridiagonal T{diagonal_.data(), off_diagonal_.data(), all_.n};
        if (!is_positive_definite(T, -limits.least_eigenvalue)) return false;
        const Reflectors Q{matrix_.data(), scales_.data(), all_.n};
        reflect_transposed(Q, right_.data());
        for (std::int64_t j = 0; j < all_.n; ++j) {
            std::fill_n(weights_.data() + j * n_lanes_, n_lanes_, right_[size(j)]);
        }
        factorize_shifted(T, shifts_.data(), n_lanes_, inverse_.data(), off_.data());
        solve_forward(inverse_.data(), off_.data(), all_.n, n_lanes_, weights_.data());
        solve_backward(inverse_.data(), off_.data(), all_.n, n_lanes_, weights_.data());
        reflect(Q, weights_.data(), n_lanes_);
        return true;
    }

    void score(const double* X, int n_rows, double* scores) const {
        const double one = 1.0, zero = 0.0;
        lapack_.gemm("N", "N", &n_alphas_, &n_rows, &n_, &one, weights_.data(), &n_lanes_, X, &n_, &zero,
                     scores, &n_alphas_);
    }

  private:
    void subtract(const double* Z, const double* t, int n_rows) {
        const double one = 1.0, minus = -1.0;
        const int step = 1;
        std::copy(all_.matrix, all_.matrix + all_.n * all_.n, matrix_.begin());
        std::copy(all_.right, all_.right + all_.n, right_.begin());
        lapack_.syrk("L", "N", &n_, &n_rows, &minus, Z, &n_, &one, matrix_.data(), &n_);
        lapack_.gemv("N", &n_, &n_rows, &minus, Z, &n_, t, &step, &one, right_.data(), &step);
    }

    bool leaves_enough(double least_share) const {
        for (std::int64_t j = 0; j < all_.n; ++j) {
            const std::size_t here = size(j * (all_.n + 1));
            const double rest = std::max(matrix_[here], 0.0) + smallest_alpha_;
            if (rest < least_share * all_.matrix[here]) return false;
        }
        return true;
    }

    const Lapack& lapack_;
    RidgeEquations all_;
    std::vector<double> shifts_;
    double smallest_alpha_;
    int n_, n_alphas_, n_lanes_;
    std::vector<double> matrix_, right_, diagonal_, off_diagonal_, scales_;
    // n × n_lanes each: C of the shifted systems, and the solutions.
    std::vector<double> inverse_, off_, weights_;
    std::vector<double> work_;
};

}  // namespace

void left_out_systems(const Lapack& lapack, const RidgeEquations& all, const LeftOutRows& folds,
                      const Alphas& alphas, const Limits& limits, double* scores, bool* resolved,
                      int n_threads) {
    const FoldRows &Z = folds.differences, &X = folds.scored;
    const std::int64_t n_chunks = (folds.n_folds + folds_per_chunk - 1) / folds_per_chunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        LeftOutSystem system(lapack, all, alphas);
        const std::int64_t end = std::min(folds.n_folds, (chunk + 1) * folds_per_chunk);
        for (std::int64_t f = chunk * folds_per_chunk; f < end; ++f) {
            resolved[f] = system.solve(Z.values + Z.offsets[f] * all.n, folds.target + Z.offsets[f],
                                       static_cast<int>(Z.count(f)), limits);
            if (!resolved[f]) continue;
            system.score(X.values + X.offsets[f] * all.n, static_cast<int>(X.count(f)),
                         scores + X.offsets[f] * alphas.count);
        }
    });
}

}  // namespace rankwise
