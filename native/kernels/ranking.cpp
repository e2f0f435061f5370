#include "kernels/ranking.hpp"

#include "kernels/each_query.hpp"
#include "kernels/sorting.hpp"

namespace rankwise {

void rank_rows(QueryRows rows, const double* scores, RankedRows out, int n_threads) {
    for_each_query<SortScratch>(rows, n_threads, [&](std::int64_t q, SortScratch& scratch, int threads) {
        const std::int64_t start = rows.offsets[q];
        const std::int64_t n = rows.offsets[q + 1] - start;
        sort_descending(scores + start, n, scratch, threads);
        for (std::int64_t first = 0, end = 0; first < n; first = end) {
            for (++end; end < n && scratch.tied[end];) ++end;
            for (std::int64_t i = first; i < end; ++i) {
                out.row[start + i] = start + scratch.order[i];
                out.first[start + i] = first;
                out.end[start + i] = end;
            }
        }
    });
}

void order_by_label(QueryRows rows, const double* labels, LabelledOrder out, int n_threads) {
    for_each_query<SortScratch>(rows, n_threads, [&](std::int64_t q, SortScratch& scratch, int threads) {
        const std::int64_t start = rows.offsets[q];
        const std::int64_t n = rows.offsets[q + 1] - start;
        sort_descending(labels + start, n, scratch, threads);
        // Every row forms a pair with each row above its level.
        std::int64_t n_pairs = 0;
        for (std::int64_t i = 0, level = 0; i < n; ++i) {
            if (i > 0 && !scratch.tied[i]) level = i;
            out.row[start + i] = start + scratch.order[i];
            out.level[start + i] = level;
            n_pairs += level;
        }
        out.n_pairs[q] = static_cast<double>(n_pairs);
    });
}

}  // namespace rankwise
