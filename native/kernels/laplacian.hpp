// The Laplacian of the pairs inside queries, applied to one vector in O(m).
#pragma once

#include <cstdint>

namespace rankwise {

// Rows grouped by query: query q holds rows offsets[q] .. offsets[q + 1].
struct QueryRows {
    const std::int64_t* offsets;
    std::int64_t n_queries;
};

// out[i] = c_q * s_i * (S_q v_i - sum_j s_j v_j) for the rows of each query, with s the row weights (null
// means ones) and S_q their sum: the Laplacian of the complete graph with pair weights c_q s_i s_j.
void complete_laplacian(QueryRows rows, const double* row_weight, const double* query_weight, const double* v,
                        double* out, int n_threads);

}  // namespace rankwise
