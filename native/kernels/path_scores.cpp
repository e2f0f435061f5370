#include "kernels/path_scores.hpp"

#include <algorithm>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kRowsPerChunk = 256;

struct Sorted {
    bool moved;
    bool tied;
};

// Insertion sort, linear in the number of rows when few of them are out of place.
Sorted sort_rows(const double* score, std::int64_t* rows, std::int64_t n_rows) {
    Sorted seen{false, false};
    for (std::int64_t i = 1; i < n_rows; ++i) {
        const std::int64_t row = rows[i];
        std::int64_t place = i;
        for (; place > 0 && score[rows[place - 1]] > score[row]; --place) rows[place] = rows[place - 1];
        rows[place] = row;
        seen.moved |= place != i;
        seen.tied |= place > 0 && score[rows[place - 1]] == score[row];
    }
    return seen;
}

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

void mark_new_orders(const std::int64_t* offsets, std::int64_t n_queries, const double* scores,
                     std::int64_t n_steps, std::int64_t* order, std::uint8_t* changed) {
    const std::int64_t n_rows = offsets[n_queries];
    bool tied_before = true;
    for (std::int64_t t = 0; t < n_steps; ++t) {
        const double* score = scores + t * n_rows;
        Sorted any{false, false};
        for (std::int64_t q = 0; q < n_queries; ++q) {
            const Sorted seen = sort_rows(score, order + offsets[q], offsets[q + 1] - offsets[q]);
            any.moved |= seen.moved;
            any.tied |= seen.tied;
        }
        changed[t] = any.moved || any.tied || tied_before;
        tied_before = any.tied;
    }
}

}  // namespace rankwise
