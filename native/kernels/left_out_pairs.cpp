#include "kernels/left_out_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/compiler.hpp"
#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

// Products of so many rows with so many others stay in the cache.
constexpr std::int64_t block_rows = 128, block_others = 64;

// One of two rows, the one that all others of a column are paired with.
struct Other {
    double weight, root, inverse, free, residual, label;
};

// wrong[i] += s_j where row j is above row i, for the rows `first` .. `last`, whose products with j are N.
// The formulas are derived in `leave_pair_out.py`.
RANKWISE_MULTIVERSION_UNALIGNED
void count_column(const PairRidge& ridge, const Other& j, std::int64_t first, std::int64_t last,
                  const double* __restrict N, double* __restrict wrong) {
    const double *__restrict s = ridge.weight, *__restrict root = ridge.root,
                             *__restrict inverse = ridge.inverse, *__restrict free = ridge.free,
                             *__restrict residual = ridge.residual, *__restrict y = ridge.label;
    const double offset = ridge.offset, sign = ridge.sign, level = ridge.level, size = ridge.size;
    for (std::int64_t i = first; i < last; ++i) {
        const double between = offset + sign * N[i - first];
        const double N_i = between * s[i], N_j = between * j.weight;
        const double determinant = free[i] * j.free - N_i * N_j;
        const double held_i = j.free * residual[i] + N_j * j.residual;
        const double held_j = free[i] * j.residual + N_i * residual[i];
        const double u = inverse[i] * std::fabs(j.free - N_i) + j.inverse * std::fabs(free[i] - N_j);
        const double labels =
            (root[i] * std::fabs(held_i) + j.root * std::fabs(held_j)) / std::fabs(determinant) + size;
        const double difference = (y[i] - j.label) - (held_i - held_j) / determinant;
        const double tied = std::fabs(difference * determinant) <= level * (labels * u) ? 1.0 : 0.0;
        const double above = difference < 0.0 ? 1.0 : 0.0, under = difference > 0.0 ? 1.0 : 0.0;
        wrong[i] += j.weight * (0.5 + (1.0 - tied) * 0.5 * (above - under));
    }
}

}  // namespace

void misordered_pairs(const Lapack& lapack, const PairRidge& ridge, double* wrong, int n_threads) {
    const std::int64_t m = ridge.n_rows;
    std::fill_n(wrong, m, 0.0);
    for_each_chunk((m + block_rows - 1) / block_rows, n_threads, [&](std::int64_t chunk) {
        const std::int64_t first = chunk * block_rows, last = std::min(m, first + block_rows);
        std::vector<double> products(static_cast<std::size_t>(block_rows * block_others));
        const int n_rows = static_cast<int>(last - first), leading = static_cast<int>(m),
                  n_columns = static_cast<int>(ridge.n_columns);
        const double one = 1.0, zero = 0.0;
        for (std::int64_t start = 0; start < ridge.below[last - 1]; start += block_others) {
            const std::int64_t stop = std::min(ridge.below[last - 1], start + block_others);
            const int n_others = static_cast<int>(stop - start);
            lapack.gemm("N", "T", &n_rows, &n_others, &n_columns, &one, ridge.rows + first, &leading,
                        ridge.rows + start, &leading, &zero, products.data(), &n_rows);
            std::int64_t above = first;  // the first row with a larger label than j
            for (std::int64_t j = start; j < stop; ++j) {
                while (ridge.below[above] <= j) ++above;
                const Other other{ridge.weight[j], ridge.root[j],     ridge.inverse[j],
                                  ridge.free[j],   ridge.residual[j], ridge.label[j]};
                count_column(ridge, other, above, last,
                             products.data() + (j - start) * n_rows + (above - first), wrong);
            }
        }
    });
}

}  // namespace rankwise
