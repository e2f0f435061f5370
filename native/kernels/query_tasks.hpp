// Tasks over queries of very different sizes: each task has many small queries, or a part of a large one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rankwise {

struct QueryTask {
    std::int64_t first;
    std::int64_t last;
    std::int64_t part;
    std::int64_t n_parts;
};

// The tasks depend only on the sizes, never on the number of threads. A query with many rows is split into at
// most `max_parts` parts.
inline std::vector<QueryTask> query_tasks(const std::int64_t* offsets, std::int64_t n_queries,
                                          std::int64_t max_parts) {
    constexpr std::int64_t kRowsPerTask = 8192;
    constexpr std::int64_t kRowsPerPart = 32768;
    std::vector<QueryTask> tasks;
    for (std::int64_t q = 0; q < n_queries;) {
        std::int64_t last = q + 1;
        while (last < n_queries && offsets[last + 1] - offsets[q] <= kRowsPerTask) ++last;
        const std::int64_t n_rows = offsets[last] - offsets[q];
        const std::int64_t n_parts = std::clamp<std::int64_t>(n_rows / kRowsPerPart, 1, max_parts);
        for (std::int64_t part = 0; part < n_parts; ++part) tasks.push_back({q, last, part, n_parts});
        q = last;
    }
    return tasks;
}

}  // namespace rankwise
