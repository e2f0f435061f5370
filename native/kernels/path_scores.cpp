#include "kernels/path_scores.hpp"

#include <algorithm>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kRowsPerChunk = 256;

}  // namespace

void scores_along_path(PathChanges path, WeightedPairs pairs, const double* kernel, std::int64_t n_rows,
                       double* scores, int n_threads) {
    const std::int64_t n_chunks = (n_rows + kRowsPerChunk - 1) / kRowsPerChunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const std::int64_t first = chunk * kRowsPerChunk;
        const std::int64_t width = std::min(kRowsPerChunk, n_rows - first);
        for (std::int64_t t = 0; t < path.n_steps; ++t) {
            double* next = scores + (t + 1) * n_rows + first;
            std::copy(next - n_rows, next - n_rows + width, next);
            for (std::int64_t k = path.offsets[t]; k < path.offsets[t + 1]; ++k) {
                const std::int64_t p = path.pairs[k];
                const double* above = kernel + pairs.better[p] * n_rows + first;
                const double* below = kernel + pairs.worse[p] * n_rows + first;
                const double change = path.changes[k];
                for (std::int64_t i = 0; i < width; ++i) next[i] += change * (above[i] - below[i]);
            }
        }
    });
}

}  // namespace rankwise
