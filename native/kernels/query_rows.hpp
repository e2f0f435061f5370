// Rows grouped by query.
#pragma once

#include <cstdint>

namespace rankwise {

// Query q holds rows offsets[q] .. offsets[q + 1].
struct QueryRows {
    const std::int64_t* offsets;
    std::int64_t n_queries;
};

}  // namespace rankwise
