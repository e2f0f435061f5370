#include "kernels/nearby_counts.hpp"

#include <algorithm>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

// Every chunk of vectors starts with its own sort, so that threads can share the chunks.
constexpr std::int64_t kScoresPerChunk = std::int64_t{1} << 20;

}  // namespace

NearbyCounts::NearbyCounts(LabelledRows rows, const Doubts* doubts)
    : n_rows_(rows.count()), doubts_(doubts), level_of_(static_cast<std::size_t>(n_rows_)) {
    for (std::int64_t i = 0; i < n_rows_; ++i) {
        level_of_[static_cast<std::size_t>(rows.column[i])] = rows.level[i];
    }
    orders_.reserve(static_cast<std::size_t>(rows.queries.n_queries));
    for (std::int64_t q = 0; q < rows.queries.n_queries; ++q) {
        const std::int64_t first = rows.queries.offsets[q];
        orders_.emplace_back(rows.column + first, rows.level + first, level_of_.data(),
                             doubts ? doubts->twin : nullptr, rows.queries.offsets[q + 1] - first);
    }
}

void NearbyCounts::count(const double* scores, std::int64_t first, std::int64_t n,
                         PairCounts<std::int64_t> out) {
    const auto n_queries = static_cast<std::int64_t>(orders_.size());
    for (std::int64_t q = 0; q < n_queries; ++q) {
        CountedOrder& order = orders_[static_cast<std::size_t>(q)];
        for (std::int64_t t = 0; t < n; ++t) {
            order.move_to(scores + t * n_rows_, doubts_ ? doubts_->rounding[first + t] : 0.0);
            if (doubts_ && order.doubtful()) doubts_->found[first + t] = true;
            const std::int64_t cell = (first + t) * n_queries + q;
            out.discordant[cell] = order.discordant();
            out.tied_scores[cell] = order.tied_scores();
            out.tied_both[cell] = order.tied_both();
        }
    }
}

void count_nearby_pairs(LabelledRows rows, const double* scores, std::int64_t n_vectors,
                        PairCounts<std::int64_t> out, int n_threads) {
    const std::int64_t per_chunk = std::max<std::int64_t>(1, kScoresPerChunk / rows.count());
    const std::int64_t n_chunks = (n_vectors + per_chunk - 1) / per_chunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const std::int64_t first = chunk * per_chunk;
        const std::int64_t n = std::min(per_chunk, n_vectors - first);
        NearbyCounts(rows, nullptr).count(scores + first * rows.count(), first, n, out);
    });
}

}  // namespace rankwise
