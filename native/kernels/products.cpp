#include "kernels/products.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/ordered_sum.hpp"
#include "kernels/paging.hpp"
#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kRowsPerScoreChunk = 4096;
constexpr std::int64_t kMaxSums = 16;
constexpr std::int64_t kEntriesPerColumn = 4;

// The number of partial sums of X': each costs a pass over a vector of n_columns, so a chunk must hold
// several entries per column to be worthwhile; four, as such a pass takes about as long as adding one. A
// power of two, which threads mostly share evenly; it depends only on the data, never on the number of
// threads.
template <class M>
std::int64_t count_sums(const M& rows) {
    std::int64_t n_sums = 1;
    while (n_sums < kMaxSums && 2 * n_sums * kEntriesPerColumn * rows.n_columns <= rows.n_entries())
        n_sums *= 2;
    return n_sums;
}

// Runs body(chunk, n_chunks, buffer) over chunks that each add to a buffer of `total`.
template <class M, class Body>
void sum_over_chunks(const M& rows, OrderedSum& total, int n_threads, Body&& body) {
    const std::int64_t n_chunks = count_sums(rows);
    for_each_chunk(n_chunks, threads_worth(rows.n_entries(), n_threads), [&](std::int64_t chunk) {
        std::vector<double> buffer = total.take();
        body(chunk, n_chunks, buffer.data());
        total.give(chunk, std::move(buffer));
    });
}

// The same with vectors of n_columns; a single chunk adds to `out` directly.
template <class M, class Body>
void sum_over_chunks(const M& rows, double* out, int n_threads, Body&& body) {
    if (count_sums(rows) == 1) {
        std::fill_n(out, rows.n_columns, 0.0);
        return body(0, 1, out);
    }
    OrderedSum total(out, rows.n_columns);
    sum_over_chunks(rows, total, n_threads, body);
}

// Scores each row of a chunk and adds it back; the weight and the sum of column j are at Stride * j.
template <int Stride, class M>
void score_and_add(const M& rows, std::int64_t chunk, std::int64_t n_chunks, const double* scale,
                   const double* shift, const double* weights, double* sums) {
    PageSweep sweep(rows);
    const std::int64_t last = rows.n_rows * (chunk + 1) / n_chunks;
    for (std::int64_t i = rows.n_rows * chunk / n_chunks; i < last; ++i) {
        const double residual = scale[i] * rows.template score<Stride>(i, weights) - shift[i];
        rows.template add<Stride>(i, residual, sums);
        sweep.passed(i, i + 1);
    }
}

// Each weight followed by a sum that starts at 0.
std::vector<double> weights_and_sums(const double* weights, std::int64_t n_columns) {
    std::vector<double> both(static_cast<std::size_t>(2 * n_columns), 0.0);
    for (std::int64_t j = 0; j < n_columns; ++j) both[static_cast<std::size_t>(2 * j)] = weights[j];
    return both;
}

// Residuals of one query: scores become L times scores.
class Centering {
  public:
    explicit Centering(const QueryPairs& pairs) : pairs_(pairs) {}

    // v holds the scores of grouped rows begin .. end, which form query q.
    void apply(std::int64_t q, double* v) const {
        const std::int64_t begin = pairs_.queries.offsets[q];
        const std::int64_t end = pairs_.queries.offsets[q + 1];
        double weight = 0.0;
        const double mean = weighted_mean(begin, end, v, begin, &weight);
        const double c = pairs_.query_weight[q];
        if (!pairs_.level_offsets) {
            for (std::int64_t g = begin; g < end; ++g)
                v[g - begin] = c * weight * pairs_.row_weight[g] * (v[g - begin] - mean);
            return;
        }
        const std::int64_t* level =
            std::lower_bound(pairs_.level_offsets, pairs_.level_offsets + pairs_.n_levels, begin);
        for (; *level < end; ++level) {
            double level_weight = 0.0;
            const double level_mean = weighted_mean(level[0], level[1], v, begin, &level_weight);
            const double within = c * (weight - level_weight);
            const double between = c * weight * (level_mean - mean);
            for (std::int64_t g = level[0]; g < level[1]; ++g) {
                v[g - begin] = pairs_.row_weight[g] * (within * (v[g - begin] - level_mean) + between);
            }
        }
    }

    // Whether no pair of the query counts: one row, one level when tied pairs are dropped, or weight 0.
    bool is_void(std::int64_t q) const {
        const std::int64_t begin = pairs_.queries.offsets[q];
        const std::int64_t end = pairs_.queries.offsets[q + 1];
        if (end - begin < 2 || pairs_.query_weight[q] == 0.0) return true;
        if (!pairs_.level_offsets) return false;
        return *std::upper_bound(pairs_.level_offsets, pairs_.level_offsets + pairs_.n_levels, begin) == end;
    }

  private:
    double weighted_mean(std::int64_t begin, std::int64_t end, const double* v, std::int64_t v_begin,
                         double* weight) const {
        double sum = 0.0;
        double weight_sum = 0.0;
        for (std::int64_t g = begin; g < end; ++g) {
            sum += pairs_.row_weight[g] * v[g - v_begin];
            weight_sum += pairs_.row_weight[g];
        }
        *weight = weight_sum;
        return weight_sum > 0.0 ? sum / weight_sum : 0.0;
    }

    const QueryPairs& pairs_;
};

// The first query that starts at or after `part` of `n_parts` equal parts of the rows.
std::int64_t query_at(const QueryPairs& pairs, std::int64_t part, std::int64_t n_parts) {
    const std::int64_t row = pairs.queries.offsets[pairs.queries.n_queries] / n_parts * part;
    if (part == n_parts) return pairs.queries.n_queries;
    return std::lower_bound(pairs.queries.offsets, pairs.queries.offsets + pairs.queries.n_queries, row) -
           pairs.queries.offsets;
}

}  // namespace

void scores(const Rows& rows, const double* weights, double* out, int n_threads) {
    std::visit(
        [&](const auto& x) {
            const std::int64_t n_chunks = (x.n_rows + kRowsPerScoreChunk - 1) / kRowsPerScoreChunk;
            for_each_chunk(n_chunks, threads_worth(x.n_entries(), n_threads), [&](std::int64_t chunk) {
                PageSweep sweep(x);
                const std::int64_t last = std::min(x.n_rows, (chunk + 1) * kRowsPerScoreChunk);
                for (std::int64_t i = chunk * kRowsPerScoreChunk; i < last; ++i) {
                    out[i] = x.score(i, weights);
                    sweep.passed(i, i + 1);
                }
            });
        },
        rows);
}

void adjoint(const Rows& rows, const double* u, double* out, int n_threads) {
    std::visit(
        [&](const auto& x) {
            sum_over_chunks(x, out, n_threads, [&](std::int64_t chunk, std::int64_t n_chunks, double* sum) {
                PageSweep sweep(x);
                const std::int64_t last = x.n_rows * (chunk + 1) / n_chunks;
                for (std::int64_t i = x.n_rows * chunk / n_chunks; i < last; ++i) {
                    if (u[i] != 0.0) x.add(i, u[i], sum);
                    sweep.passed(i, i + 1);
                }
            });
        },
        rows);
}

void query_normal_product(const Rows& rows, const QueryPairs& pairs, const double* weights, double* out,
                          int n_threads) {
    const Centering centering(pairs);
    const auto row_of = [&](std::int64_t g) { return pairs.order ? pairs.order[g] : g; };
    std::visit(
        [&](const auto& x) {
            sum_over_chunks(x, out, n_threads, [&](std::int64_t chunk, std::int64_t n_chunks, double* sum) {
                PageSweep sweep(x);
                std::vector<double> v;
                const std::int64_t last = query_at(pairs, chunk + 1, n_chunks);
                for (std::int64_t q = query_at(pairs, chunk, n_chunks); q < last; ++q) {
                    if (centering.is_void(q)) continue;
                    const std::int64_t begin = pairs.queries.offsets[q];
                    const auto size = static_cast<std::size_t>(pairs.queries.offsets[q + 1] - begin);
                    v.resize(size);
                    for (std::size_t i = 0; i < size; ++i) {
                        v[i] = x.score(row_of(begin + static_cast<std::int64_t>(i)), weights);
                    }
                    centering.apply(q, v.data());
                    // Backwards: the rows scored last are still in the first cache.
                    for (std::size_t i = size; i-- > 0;) {
                        const std::int64_t row = row_of(begin + static_cast<std::int64_t>(i));
                        x.add(row, v[i], sum);
                        sweep.passed(row, row + 1);
                    }
                }
            });
        },
        rows);
}

void row_normal_product(const Rows& rows, const double* scale, const double* shift, const double* weights,
                        double* out, int n_threads) {
    std::visit(
        [&](const auto& x) {
            if constexpr (std::decay_t<decltype(x)>::kScattered) {
                // Side by side takes a pass over the columns per thread, repaid by several entries per
                // column.
                if (x.n_entries() >= kEntriesPerColumn * x.n_columns) {
                    OrderedSum total(out, x.n_columns, weights_and_sums(weights, x.n_columns));
                    return sum_over_chunks(x, total, n_threads, [&](auto chunk, auto n_chunks, double* both) {
                        score_and_add<2>(x, chunk, n_chunks, scale, shift, both, both + 1);
                    });
                }
            }
            sum_over_chunks(x, out, n_threads, [&](auto chunk, auto n_chunks, double* sums) {
                score_and_add<1>(x, chunk, n_chunks, scale, shift, weights, sums);
            });
        },
        rows);
}

}  // namespace rankwise
