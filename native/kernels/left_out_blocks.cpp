#include "kernels/left_out_blocks.hpp"

#include <algorithm>
#include <vector>

#include "kernels/compiler.hpp"
#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

// BLAS needs folds of more rows to be worth calling for every alpha.
constexpr std::int64_t most_small_rows = 16;
// Small folds share their workspace with about as many others.
constexpr std::int64_t chunk_rows = 64;
// Rows of T worked on together: for small folds, and numbers for others, which should stay in the cache.
constexpr std::int64_t unrolled = 4, block_size = 1 << 13;

std::size_t size(std::int64_t n) {
    return static_cast<std::size_t>(n);
}

// T + αI = CCᵀ for all alphas, and the solutions for the right-hand side g: one column, or lane, per alpha.
// `inverse` and `off`, which are C, are there once more with one row per alpha.
struct Factors {
    Factors(const Tridiagonal& T, const double* g, const Alphas& alphas)
        : n(T.n),
          n_alphas(alphas.count),
          right(g),
          shifts(padded_shifts(alphas.values, alphas.count, 8)),
          n_lanes(static_cast<std::int64_t>(shifts.size())),
          inverse(size(n * n_lanes)),
          off(size(n * n_lanes)),
          solutions(size(n * n_lanes)),
          inverse_by_alpha(size(n * n_alphas)),
          off_by_alpha(size(n * n_alphas)) {
        factorize_shifted(T, shifts.data(), n_lanes, inverse.data(), off.data());
        for (std::int64_t j = 0; j < n; ++j) {
            for (std::int64_t a = 0; a < n_alphas; ++a) {
                inverse_by_alpha[size(a * n + j)] = inverse[size(j * n_lanes + a)];
                off_by_alpha[size(a * n + j)] = off[size(j * n_lanes + a)];
            }
        }
        spread_right(solutions.data());
        solve(solutions.data());
    }

    // g in every column.
    void spread_right(double* columns) const {
        for (std::int64_t j = 0; j < n; ++j) std::fill_n(columns + j * n_lanes, n_lanes, right[j]);
    }

    void solve(double* columns) const {
        solve_forward(inverse.data(), off.data(), n, n_lanes, columns);
        solve_backward(inverse.data(), off.data(), n, n_lanes, columns);
    }

    std::int64_t n, n_alphas;
    const double* right;
    std::vector<double> shifts;
    std::int64_t n_lanes;
    std::vector<double> inverse, off, solutions, inverse_by_alpha, off_by_alpha;
};

// products[(i, k), alpha] += Σ over `unrolled` rows of T of block[row, i, alpha] block[row, k, alpha], i ≥ k.
RANKWISE_INLINE void add_products(const double* block, std::int64_t n_rows, std::int64_t n_lanes,
                                  double* products) {
    const std::int64_t step = n_rows * n_lanes;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const double* one = block + i * n_lanes;
        for (std::int64_t k = 0; k <= i; ++k, products += n_lanes) {
            const double* other = block + k * n_lanes;
            for (std::int64_t a = 0; a < n_lanes; ++a) {
                products[a] +=
                    (one[a] * other[a] + one[step + a] * other[step + a]) +
                    (one[2 * step + a] * other[2 * step + a] + one[3 * step + a] * other[3 * step + a]);
            }
        }
    }
}

// B (T + αI)⁻¹ Bᵀ for all alphas at once: the lower triangles, row by row, with the alphas innermost. `block`
// is workspace.
RANKWISE_MULTIVERSION_UNALIGNED
void small_products(const Factors& factors, const double* transposed, std::int64_t n_rows,
                    std::vector<double>& block, std::vector<double>& products) {
    const std::int64_t k = factors.n_lanes, width = n_rows * k;
    block.assign(size((unrolled + 1) * width), 0.0);
    products.assign(size(n_rows * (n_rows + 1) / 2 * k), 0.0);
    double *before = block.data(),
           *rows = before + width;  // the last row of the previous block, and this one
    for (std::int64_t first = 0; first < factors.n; first += unrolled) {
        const std::int64_t count = std::min(unrolled, factors.n - first);
        if (count < unrolled) std::fill(rows, rows + unrolled * width, 0.0);
        for (std::int64_t r = 0; r < count; ++r) {
            const std::int64_t j = first + r;
            const double* inverse = factors.inverse.data() + j * k;
            const double* off = factors.off.data() + std::max<std::int64_t>(0, j - 1) * k;
            const double* previous = r == 0 ? before : rows + (r - 1) * width;
            double* here = rows + r * width;
            for (std::int64_t i = 0; i < n_rows; ++i) {
                const double value = transposed[j * n_rows + i];
                for (std::int64_t a = 0; a < k; ++a) {
                    here[i * k + a] = (value - off[a] * previous[i * k + a]) * inverse[a];
                }
            }
        }
        add_products(rows, n_rows, k, products.data());
        std::copy(rows + (unrolled - 1) * width, rows + unrolled * width, before);
    }
}

// One fold at a time.
class LeftOutBlock {
  public:
    LeftOutBlock(const Lapack& lapack, const Factors& factors, double tolerance)
        : lapack_(lapack),
          factors_(factors),
          n_(static_cast<int>(factors.n)),
          n_alphas_(static_cast<int>(factors.n_alphas)),
          n_lanes_(static_cast<int>(factors.n_lanes)),
          tolerance_(tolerance),
          solutions_(size(factors.n * factors.n_lanes)) {}

    // t is null without targets.
    bool solve(const double* B, const double* t, int n_rows) {
        n_rows_ = n_rows;
        transpose(B);
        left_.resize(size(n_rows_ * n_rows_));
        residuals_.resize(size(n_rows_ * n_alphas_));
        right_.resize(size(n_rows_));
        const bool is_small = n_rows <= most_small_rows;
        if (is_small) small_products(factors_, transposed_.data(), n_rows_, block_, products_);
        const double one = 1.0, zero = 0.0, minus = -1.0;
        lapack_.gemm("N", "N", &n_alphas_, &n_rows, &n_, &one, factors_.solutions.data(), &n_lanes_, B, &n_,
                     &zero, residuals_.data(), &n_alphas_);
        for (int a = 0; a < n_alphas_; ++a) {
            is_small ? take_products(a) : multiply(a);
            if (!solve_residuals(a, t)) return false;
        }
        factors_.spread_right(solutions_.data());
        lapack_.gemm("N", "T", &n_alphas_, &n_, &n_rows, &minus, residuals_.data(), &n_alphas_, B, &n_, &one,
                     solutions_.data(), &n_lanes_);
        factors_.solve(solutions_.data());
        return true;
    }

    void score(const double* S, int n_rows, double* scores) const {
        const double one = 1.0, zero = 0.0;
        lapack_.gemm("N", "N", &n_alphas_, &n_rows, &n_, &one, solutions_.data(), &n_lanes_, S, &n_, &zero,
                     scores, &n_alphas_);
    }

  private:
    void transpose(const double* B) {
        transposed_.resize(size(factors_.n * n_rows_));
        for (std::int64_t i = 0; i < n_rows_; ++i) {
            for (std::int64_t j = 0; j < factors_.n; ++j) {
                transposed_[size(j * n_rows_ + i)] = B[i * factors_.n + j];
            }
        }
    }

    // left = B (T + αI)⁻¹ Bᵀ, its lower triangle in column-major order.
    void take_products(int a) {
        const double* product = products_.data() + a;
        for (std::int64_t i = 0; i < n_rows_; ++i) {
            for (std::int64_t k = 0; k <= i; ++k, product += n_lanes_)
                left_[size(k * n_rows_ + i)] = *product;
        }
    }

    void multiply(int a) {
        const double one = 1.0;
        const double *inverse = factors_.inverse_by_alpha.data() + a * factors_.n,
                     *off = factors_.off_by_alpha.data() + a * factors_.n;
        const std::int64_t step = std::max<std::int64_t>(1, block_size / n_rows_);
        block_.resize(size((step + 1) * n_rows_));
        std::fill(left_.begin(), left_.end(), 0.0);
        for (std::int64_t first = 0; first < factors_.n; first += step) {
            const std::int64_t count = std::min(step, factors_.n - first);
            double* rows = block_.data() + n_rows_;  // after the last row of the previous block
            solve_half(inverse + first, off + first, transposed_.data() + first * n_rows_, count, n_rows_,
                       rows, first == 0 ? nullptr : block_.data());
            const int n_columns = static_cast<int>(count);
            lapack_.syrk("L", "N", &n_rows_, &n_columns, &one, rows, &n_rows_, &one, left_.data(), &n_rows_);
            std::copy_n(rows + (count - 1) * n_rows_, n_rows_, block_.data());
        }
    }

    // Column a of the residuals = e.
    bool solve_residuals(int a, const double* t) {
        double scale = t == nullptr ? 0.0 : 1.0;
        for (std::int64_t i = 0; i < n_rows_; ++i) {
            const double solved = residuals_[size(i * n_alphas_ + a)];
            right_[size(i)] = t == nullptr ? solved : t[i] - solved;
            if (t == nullptr) {
                scale = std::max(scale, left_[size(i * (n_rows_ + 1))]);
                continue;
            }
            for (std::int64_t r = i; r < n_rows_; ++r) left_[size(i * n_rows_ + r)] *= -1.0;
            left_[size(i * (n_rows_ + 1))] += 1.0;
        }
        const int one = 1;
        int info = 0;
        lapack_.potrf("L", &n_rows_, left_.data(), &n_rows_, &info);
        if (info != 0) return false;
        for (std::int64_t i = 0; i < n_rows_; ++i) {
            const double root = left_[size(i * (n_rows_ + 1))];
            if (!(root * root > tolerance_ * scale)) return false;
        }
        lapack_.potrs("L", &n_rows_, &one, left_.data(), &n_rows_, right_.data(), &n_rows_, &info);
        for (std::int64_t i = 0; i < n_rows_; ++i) residuals_[size(i * n_alphas_ + a)] = right_[size(i)];
        return true;
    }

    const Lapack& lapack_;
    const Factors& factors_;
    int n_, n_alphas_, n_lanes_, n_rows_ = 0;
    double tolerance_;
    std::vector<double> solutions_;  // n × n_lanes
    std::vector<double> residuals_;  // n_rows × n_alphas
    std::vector<double> transposed_, block_, products_, left_, right_;
};

}  // namespace

void left_out_blocks(const Lapack& lapack, const Tridiagonal& T, const double* g, const LeftOutRows& folds,
                     const Alphas& alphas, double tolerance, double* scores, bool* resolved, int n_threads) {
    const Factors factors(T, g, alphas);
    const FoldRows &B = folds.differences, &S = folds.scored;
    const std::int64_t n_rows = B.offsets[folds.n_folds] - B.offsets[0];
    const std::int64_t per_chunk = std::max<std::int64_t>(1, chunk_rows * folds.n_folds / (n_rows + 1));
    for_each_chunk((folds.n_folds + per_chunk - 1) / per_chunk, n_threads, [&](std::int64_t chunk) {
        LeftOutBlock block(lapack, factors, tolerance);
        const std::int64_t end = std::min(folds.n_folds, (chunk + 1) * per_chunk);
        for (std::int64_t f = chunk * per_chunk; f < end; ++f) {
            const double* target = folds.target == nullptr ? nullptr : folds.target + B.offsets[f];
            resolved[f] = block.solve(B.values + B.offsets[f] * T.n, target, static_cast<int>(B.count(f)));
            if (!resolved[f]) continue;
            block.score(S.values + S.offsets[f] * T.n, static_cast<int>(S.count(f)),
                        scores + S.offsets[f] * alphas.count);
        }
    });
}

}  // namespace rankwise
