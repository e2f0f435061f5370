#include "kernels/ranking.hpp"

#include "kernels/query_chunks.hpp"
#include "kernels/sorting.hpp"

namespace rankwise {

void rank_rows(QueryRows rows, const double* scores, RankedRows out, int n_threads) {
    for_each_query<SortScratch>(rows, n_threads, [&](std::int64_t q, SortScratch& scratch, int threads) {
        const std::int64_t start = rows.offsets[q];
        const std::int64_t n = rows.offsets[q + 1] - start;
        scratch.keys.resize(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i) {
            scratch.keys[static_cast<std::size_t>(i)] = descending_key(scores[start + i]);
        }
        stable_argsort(n, scratch, threads);
        const std::uint32_t* order = scratch.order.data();
        const std::uint64_t* keys = scratch.keys.data();
        for (std::int64_t first = 0, end = 0; first < n; first = end) {
            const std::uint64_t key = keys[order[first]];
            while (end < n && keys[order[end]] == key) ++end;
            for (std::int64_t i = first; i < end; ++i) {
                out.row[start + i] = start + order[i];
                out.first[start + i] = first;
                out.end[start + i] = end;
            }
        }
    });
}

}  // namespace rankwise
