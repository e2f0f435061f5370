// Runs every threaded kernel with one thread and with several, for ThreadSanitizer (`make sanitize`), and
// compares the results, which must agree bit for bit. Sizes are such that each has several chunks.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/average_precision.hpp"
#include "kernels/cascade.hpp"
#include "kernels/centring.hpp"
#include "kernels/column_ranges.hpp"
#include "kernels/columns.hpp"
#include "kernels/hinge.hpp"
#include "kernels/left_out_blocks.hpp"
#include "kernels/left_out_systems.hpp"
#include "kernels/letor.hpp"
#include "kernels/letor_writer.hpp"
#include "kernels/parallel.hpp"
#include "kernels/path_counts.hpp"
#include "kernels/path_walk.hpp"
#include "kernels/products.hpp"
#include "kernels/ranking.hpp"
#include "kernels/shifts.hpp"
#include "many_rows.hpp"
#include "plain_lapack.hpp"

namespace {

using namespace rankwise;

constexpr int kThreads = 4;

using Kernel = std::function<Written(int n_threads)>;

Written products(const Data& data, const Rows& rows, int n_threads) {
    Written written;
    Doubles by_row(size(data.n_rows)), by_column(size(data.n_columns)), spread(size(data.n_columns));
    Doubles query_weight(size(data.n_queries()), 0.5);
    scores(rows, data.weights.data(), by_row.data(), n_threads);
    written << by_row;
    adjoint(rows, data.scores.data(), by_column.data(), n_threads);
    written << by_column;
    column_ranges(rows, by_column.data(), spread.data(), n_threads);
    written << by_column << spread;
    row_normal_product(rows, data.weights.data(), data.scores.data(), data.weights.data(), by_column.data(),
                       n_threads);
    written << by_column;
    const Doubles ones(size(data.n_rows), 1.0);
    const QueryPairs pairs{data.queries(), nullptr, nullptr, -1, ones.data(), query_weight.data()};
    query_normal_product(rows, pairs, data.weights.data(), by_column.data(), n_threads);
    return written << by_column;
}

Written centring(const Data& data, int n_threads) {
    Ints row;
    for (std::int64_t i = 0; i < data.n_rows; ++i) row.push_back(i);
    const GatheredRows<double> rows{data.dense.data(), data.n_columns, row.data(), data.offsets.data(),
                                    data.n_queries()};
    const Doubles ones(size(data.n_rows), 1.0), mean(size(data.n_columns), 0.25);
    Doubles own(data.dense.size()), given(data.dense.size());
    centred_rows(rows, ones.data(), data.scores.data(), nullptr, own.data(), n_threads);
    centred_rows(rows, ones.data(), data.scores.data(), mean.data(), given.data(), n_threads);
    return Written() << own << given;
}

Written shifts(const Data& data, int n_threads) {
    const Ints active{0, 2, 3};
    const Doubles step{0.5, 0.25, 2.0, 1.0}, zeta{1.0, 0.5, 0.25, 2.0}, beta{0.1, 0.2, 0.3, 0.4};
    const std::int64_t n = 30000;
    Doubles solutions(data.dense.begin(), data.dense.begin() + 4 * n), directions(solutions);
    shifted_update(active.data(), 3, n, {step.data(), zeta.data(), beta.data()}, data.scores.data(),
                   solutions.data(), directions.data(), n_threads);
    return Written() << solutions << directions;
}

Written measures(const Data& data, int n_threads) {
    Written written;
    const std::size_t m = size(data.n_rows), q = size(data.n_queries());
    Ints row(m), first(m), end(m), level(m), column(m);
    Doubles n_pairs(q), values(q), relevant(m), stop(m), harmonic(m + 1, 0.0), by_label(m);
    rank_rows(data.queries(), data.scores.data(), {row.data(), first.data(), end.data()}, n_threads);
    written << row << first << end;
    for (std::size_t i = 0; i < m; ++i) {
        relevant[i] = data.labels[size(row[i])] > 2.0 ? 1.0 : 0.0;
        stop[i] = i % 3 == 0 ? 0.5 : 0.0;
        harmonic[i + 1] = harmonic[i] + 1.0 / static_cast<double>(i + 1);
        column[i] = static_cast<std::int64_t>(i);
    }
    average_precision(data.queries(), first.data(), end.data(), relevant.data(), data.n_rows, harmonic.data(),
                      values.data(), n_threads);
    written << values;
    cascade(data.queries(), first.data(), end.data(), stop.data(), 10, values.data(), n_threads);
    written << values;
    order_by_label(data.queries(), data.labels.data(), {row.data(), level.data(), n_pairs.data()}, n_threads);
    written << row << level << n_pairs;
    for (std::size_t i = 0; i < m; ++i) by_label[i] = data.scores[size(row[i])];
    Ints wrong(q), tied(q), both(q);
    count_pairs(data.queries(), level.data(), by_label.data(), {wrong.data(), tied.data(), both.data()},
                n_threads);
    written << wrong << tied << both;
    Doubles wrong_sum(q), tied_sum(q), both_sum(q);
    const Doubles weight(m, 2.0);
    count_weighted_pairs(data.queries(), level.data(), by_label.data(), weight.data(),
                         {wrong_sum.data(), tied_sum.data(), both_sum.data()}, n_threads);
    written << wrong_sum << tied_sum << both_sum;
    const std::int64_t n_vectors = 12;
    Doubles vectors;
    for (std::int64_t t = 0; t < n_vectors; ++t) {
        for (std::size_t i = 0; i < m; ++i) {
            vectors.push_back(by_label[i] + 1e-6 * static_cast<double>(t) * data.weights[i]);
        }
    }
    Ints wrongs(q * size(n_vectors)), ties(wrongs), boths(wrongs);
    count_nearby_pairs({data.queries(), level.data(), column.data()}, vectors.data(), n_vectors,
                       {wrongs.data(), ties.data(), boths.data()}, n_threads);
    return written << wrongs << ties << boths;
}

Written hinge(const Data& data, int n_threads) {
    const std::size_t m = size(data.n_rows);
    Ints32 lower(m), upper(m), row(m);
    for (std::int64_t q = 0; q < data.n_queries(); ++q) {
        const std::int64_t start = data.offsets[size(q)], n = data.offsets[size(q) + 1] - start;
        for (std::int64_t i = 0; i < n; ++i) {  // two levels
            lower[size(start + i)] = static_cast<std::int32_t>(i < n / 2 ? 0 : n / 2);
            upper[size(start + i)] = static_cast<std::int32_t>(i < n / 2 ? n / 2 : n);
        }
    }
    Doubles score(m), above(m), below(m), above_sum(m), below_sum(m);
    order_scores(data.offsets.data(), data.n_queries(), data.scores.data(), {row.data(), score.data()},
                 n_threads);
    const LabelledQueries rows{data.offsets.data(), data.n_queries(), lower.data(), upper.data()};
    sum_active(rows, {row.data(), score.data()}, nullptr, above.data(), below.data(), n_threads);
    sum_active(rows, {row.data(), score.data()}, data.weights.data(), above_sum.data(), below_sum.data(),
               n_threads);
    return Written() << row << score << above << below << above_sum << below_sum;
}

Written text(const Data& data, int n_threads) {
    const std::int64_t n_rows = 20000;
    const Ints columns(data.columns.begin(), data.columns.begin() + 2 * n_rows);
    const EntryText entries =
        format_entries(data.entry_offsets.data(), n_rows, columns.data(), data.values.data(), 1, n_threads);
    std::string lines;
    for (std::int64_t i = 0, at = 0; i < n_rows; at = entries.ends[size(i++)]) {
        const std::string line = entries.text.substr(size(at), size(entries.ends[size(i)] - at));
        lines += "1 qid:q" + std::to_string(i / 10) + line + " # d" + std::to_string(i) + "\n";
    }
    LetorReader reader({1, 100, 1e300}, false);
    if (reader.feed(lines.data(), static_cast<std::int64_t>(lines.size()), n_threads)) {
        throw std::runtime_error("the text was not read");
    }
    LetorRows rows = reader.take();
    const double* const values = std::get<GrowingArray<double>>(rows.values).data();
    const std::int64_t* const queries = rows.queries.data();
    return Written() << Doubles(values, values + 2 * n_rows) << Ints(queries, queries + n_rows);
}

Written path(const Data& data, int n_threads) {
    const std::int64_t n = 2100, n_pairs = n - 1, n_other = 1200;
    Doubles kernel(size(n * n)), other(size(n * n_other)), weight(size(n_pairs), 0.01);
    for (std::int64_t i = 0; i < n; ++i) {
        const auto dot = [&](std::int64_t j) {
            return data.scores[size(i)] * data.scores[size(j)] +
                   data.weights[size(i)] * data.weights[size(j)];
        };
        for (std::int64_t j = 0; j < n; ++j) kernel[size(i * n + j)] = dot(j) + (i == j ? 1.0 : 0.0);
        for (std::int64_t j = 0; j < n_other; ++j) other[size(i * n_other + j)] = dot(n + j);
    }
    Ints32 better, worse;
    for (std::int32_t p = 0; p < n_pairs; ++p) {
        better.push_back(p);
        worse.push_back(p + 1);
    }
    const WeightedPairs pairs{better.data(), worse.data(), weight.data(), n_pairs};
    PathWalk walk({kernel.data(), n}, pairs, n_threads);
    walk.follow({0.0, 1e-6, 300}, 300);
    const WalkLog& log = walk.log();
    const auto n_points = static_cast<std::int64_t>(log.levels.size());
    if (n_points < 250) throw std::runtime_error("the path is too short to be counted in several chunks");
    const ScoredPath scored{
        {log.pairs.data(), log.changes.data(), log.offsets.data()}, pairs, {other.data(), n, n_other}};
    Doubles scores(size(n_points * n_other));
    scores_along_path(scored, 0, n_points - 1, scores.data(), n_threads);
    const Ints offsets{0, n_other / 2, n_other};
    Ints level(size(n_other)), column, twin;
    for (std::int64_t i = 0; i < n_other; ++i) {
        level[size(i)] = i % (n_other / 2) / 100 * 100;
        column.push_back(i);
        twin.push_back(i);
    }
    const Doubles rounding(size(n_points), 1e-12);
    Ints wrong(size(2 * n_points)), tied(wrong), both(wrong);
    // Not std::vector<bool>, whose elements share bytes.
    const std::unique_ptr<bool[]> found(new bool[size(n_points)]());
    count_pairs_along_path(scored, 0, n_points, {{offsets.data(), 2}, level.data(), column.data()},
                           {rounding.data(), twin.data(), found.get()},
                           {wrong.data(), tied.data(), both.data()}, n_threads);
    return Written() << log.levels << log.changes << scores << wrong << tied << both;
}

Written left_out(const Data& data, int n_threads) {
    const std::int64_t n = 20, n_folds = 40, n_alphas = 3;
    Doubles matrix(size(n * n), 0.0), diagonal(size(n), 9.0), off_diagonal(size(n - 1), 0.5);
    for (std::int64_t i = 0; i < n; ++i) matrix[size(i * (n + 1))] = 50.0;
    Doubles rows;
    for (std::int64_t k = 0; k < 5 * n_folds * n; ++k) rows.push_back(0.1 * data.scores[size(k)]);
    Ints offsets;
    for (std::int64_t f = 0; f <= n_folds; ++f) offsets.push_back(5 * f);
    const FoldRows five{rows.data(), offsets.data()};
    const LeftOutRows folds{five, data.labels.data(), five, n_folds};
    const Doubles alphas{0.1, 1.0, 10.0};
    Doubles systems(size(5 * n_folds * n_alphas)), blocks(systems);
    const std::unique_ptr<bool[]> resolved(new bool[size(2 * n_folds)]());
    left_out_systems(plain_lapack, {matrix.data(), data.weights.data(), n}, folds, {alphas.data(), n_alphas},
                     {0.0, 1e-9}, systems.data(), resolved.get(), n_threads);
    left_out_blocks(plain_lapack, {diagonal.data(), off_diagonal.data(), n}, data.weights.data(), folds,
                    {alphas.data(), n_alphas}, 1e-9, blocks.data(), resolved.get() + n_folds, n_threads);
    for (std::int64_t f = 0; f < 2 * n_folds; ++f) {
        if (!resolved[size(f)]) throw std::runtime_error("a fold was not resolved");
    }
    return Written() << systems << blocks;
}

Written columns(const Data& data, int n_threads) {
    const Ints32 number{5, 4, 3, 2, 1, 0};
    Ints32 columns, out;
    for (int copy = 0; copy < 2; ++copy) {
        columns.insert(columns.end(), data.columns.begin(), data.columns.end());
    }
    out.resize(columns.size());
    renumber_columns(columns.data(), static_cast<std::int64_t>(columns.size()), number.data(), out.data(),
                     n_threads);
    return Written() << out;
}

// An exception in one chunk reaches the caller once all threads have ended.
Written failure(int n_threads) {
    bool caught = false;
    try {
        for_each_chunk(1000, n_threads, [](std::int64_t chunk) {
            if (chunk % 3 == 1) throw std::runtime_error("chunk");
        });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    if (!caught) throw std::runtime_error("the exception of a chunk was lost");
    return Written();
}

}  // namespace

int main() {
    const Data data;
    const std::vector<std::pair<const char*, Kernel>> kernels{
        {"failure", failure},
        {"dense products", [&](int n) { return products(data, data.dense_rows(false), n); }},
        {"relative products", [&](int n) { return products(data, data.dense_rows(true), n); }},
        {"sparse products", [&](int n) { return products(data, data.sparse_rows(), n); }},
        {"centring", [&](int n) { return centring(data, n); }},
        {"shifts", [&](int n) { return shifts(data, n); }},
        {"measures", [&](int n) { return measures(data, n); }},
        {"hinge", [&](int n) { return hinge(data, n); }},
        {"text", [&](int n) { return text(data, n); }},
        {"left out", [&](int n) { return left_out(data, n); }},
        {"columns", [&](int n) { return columns(data, n); }},
        {"path", [&](int n) { return path(data, n); }},
    };
    int n_different = 0;
    for (const auto& [name, kernel] : kernels) {
        const bool same = !(kernel(1) != kernel(kThreads));
        std::printf("%-18s %s\n", name, same ? "same bits with 1 and 4 threads" : "DIFFERENT BITS");
        std::fflush(stdout);
        n_different += !same;
    }
    return n_different;
}
