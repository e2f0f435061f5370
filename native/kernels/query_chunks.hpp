// Work on every query: many short queries side by side, each long query by all threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/parallel.hpp"
#include "kernels/query_rows.hpp"

namespace rankwise {

// Calls body(query, scratch, n_threads) once per query; a scratch is used by one thread at a time.
template <class Scratch, class Body>
void for_each_query(QueryRows rows, int n_threads, Body&& body) {
    constexpr std::int64_t kLong = std::int64_t{1} << 17;
    constexpr std::int64_t kQueriesPerChunk = 32;
    const auto is_long = [&](std::int64_t q) { return rows.offsets[q + 1] - rows.offsets[q] > kLong; };
    const std::int64_t n_chunks = (rows.n_queries + kQueriesPerChunk - 1) / kQueriesPerChunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        Scratch scratch;
        const std::int64_t last = std::min(rows.n_queries, (chunk + 1) * kQueriesPerChunk);
        for (std::int64_t q = chunk * kQueriesPerChunk; q < last; ++q) {
            if (!is_long(q)) body(q, scratch, 1);
        }
    });
    Scratch scratch;
    for (std::int64_t q = 0; q < rows.n_queries; ++q) {
        if (is_long(q)) body(q, scratch, n_threads);
    }
}

}  // namespace rankwise
