// Rows of each query by descending score.
#pragma once

#include <cstdint>

#include "kernels/query_rows.hpp"

namespace rankwise {

struct RankedRows {
    std::int64_t* row;    // the row (of all) at each position, best first, query by query
    std::int64_t* first;  // rank, from 0 within the query, of the first row with the same score
    std::int64_t* end;    // rank after the last row with the same score
};

// Rows with equal scores keep their order. O(h log h) for a query of h rows.
void rank_rows(QueryRows rows, const double* scores, RankedRows out, int n_threads);

struct LabelledOrder {
    std::int64_t* row;    // the row (of all) at each position, highest label first, query by query
    std::int64_t* level;  // rank, from 0 within the query, of the first row with the same label
    double* n_pairs;      // per query: pairs of rows with different labels
};

// Rows with equal labels keep their order. O(h log h) for a query of h rows.
void order_by_label(QueryRows rows, const double* labels, LabelledOrder out, int n_threads);

}  // namespace rankwise
