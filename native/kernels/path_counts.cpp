#include "kernels/path_counts.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/buffer.hpp"
#include "kernels/parallel.hpp"
#include "kernels/row_sums.hpp"

namespace rankwise {
namespace {

// Scores computed from one starting point, so that threads can share the path.
constexpr std::int64_t kScoresPerChunk = std::int64_t{1} << 18;
// Scores held at a time: few enough to stay in cache, but enough breakpoints that the kernel's columns are
// reused before they leave it.
constexpr std::int64_t kScoresAtOnce = std::int64_t{1} << 13;
constexpr std::int64_t kMinBreakpoints = 32;

// λ β, the coefficients of the training rows, at every n-th breakpoint from `first` on.
std::vector<double> coefficients_every(const ScoredPath& path, std::int64_t first, std::int64_t every,
                                       std::int64_t n_starts) {
    std::vector<double> own(static_cast<std::size_t>(path.kernel.n_rows), 0.0);
    const auto add = [&](std::int64_t pair, double value) {
        own[static_cast<std::size_t>(path.pairs.better[pair])] += value;
        own[static_cast<std::size_t>(path.pairs.worse[pair])] -= value;
    };
    for (std::int64_t p = 0; p < path.pairs.count; ++p) add(p, path.pairs.weight[p]);
    std::vector<double> starts;
    starts.reserve(own.size() * static_cast<std::size_t>(n_starts));
    std::int64_t k = path.changes.offsets[0];
    for (std::int64_t start = 0; start < n_starts; ++start) {
        const std::int64_t end = path.changes.offsets[first + start * every];
        for (; k < end; ++k) add(path.changes.pairs[k], path.changes.changes[k]);
        starts.insert(starts.end(), own.begin(), own.end());
    }
    return starts;
}

// The scores for these coefficients of all training rows.
void score(const KernelColumns& kernel, const double* coefficients, double* scores) {
    std::vector<std::int32_t> rows(static_cast<std::size_t>(kernel.n_rows));
    std::iota(rows.begin(), rows.end(), 0);
    std::fill_n(scores, kernel.n_columns, 0.0);
    add_rows({kernel.values, kernel.n_columns, rows.data(), coefficients, kernel.n_rows}, kernel.n_columns,
             scores);
}

}  // namespace

void count_pairs_along_path(const ScoredPath& path, std::int64_t first, std::int64_t n, LabelledRows rows,
                            const Doubts& doubts, PairCounts<std::int64_t> out, int n_threads) {
    const std::int64_t n_rows = path.kernel.n_columns;
    const std::int64_t at_once = std::max(kMinBreakpoints, kScoresAtOnce / n_rows);
    const std::int64_t per_chunk = std::max(at_once, kScoresPerChunk / n_rows);
    const std::int64_t n_chunks = (n + per_chunk - 1) / per_chunk;
    const std::vector<double> starts = coefficients_every(path, first, per_chunk, n_chunks);
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const std::int64_t end = std::min(n, (chunk + 1) * per_chunk);
        NearbyCounts counts(rows, &doubts);
        Buffer<double> buffer;
        double* scores = buffer.resize((at_once + 1) * n_rows);
        score(path.kernel, starts.data() + chunk * path.kernel.n_rows, scores);
        for (std::int64_t t = chunk * per_chunk; t < end; t += at_once) {
            const std::int64_t n_counted = std::min(at_once, end - t);
            // One step further than counted: the start of the next scores.
            const std::int64_t n_steps = std::min(at_once, end - t - 1);
            scores_along_path(path, first + t, n_steps, scores, 1);
            counts.count(scores, t, n_counted, out);
            std::copy_n(scores + n_steps * n_rows, n_rows, scores);
        }
    });
}

}  // namespace rankwise
