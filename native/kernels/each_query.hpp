// Work on every query: many short queries in parallel, each long query by all threads.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/query_rows.hpp"
#include "kernels/query_tasks.hpp"

namespace rankwise {

// Calls body(query, scratch, n_threads) once per query; a scratch is used by one thread at a time. A query
// with more than max_short rows is long.
template <class Scratch, class Body>
void for_each_query(QueryRows rows, int n_threads, Body&& body,
                    std::int64_t max_short = std::int64_t{1} << 17) {
    const std::vector<QueryTask> tasks = query_tasks(rows.offsets, rows.n_queries, 1);
    const auto is_long = [&](const QueryTask& task) {
        return rows.offsets[task.last] - rows.offsets[task.first] > max_short;
    };
    const auto run = [&](const QueryTask& task, Scratch& scratch, int threads) {
        for (std::int64_t q = task.first; q < task.last; ++q) body(q, scratch, threads);
    };
    for_each_chunk(static_cast<std::int64_t>(tasks.size()), n_threads, [&](std::int64_t index) {
        const QueryTask& task = tasks[static_cast<std::size_t>(index)];
        if (is_long(task)) return;
        Scratch scratch;
        run(task, scratch, 1);
    });
    Scratch scratch;
    for (const QueryTask& task : tasks) {
        if (is_long(task)) run(task, scratch, n_threads);
    }
}

}  // namespace rankwise
