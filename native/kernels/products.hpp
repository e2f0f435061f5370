// Products of a feature matrix X with vectors. All are bit-identical for any number of threads.
#pragma once

#include <cstdint>

#include "kernels/query_rows.hpp"
#include "kernels/rows.hpp"

namespace rankwise {

// The pairs that count within queries; see preferences/differences.py for their Laplacian L.
// Grouped row g is row order[g] of X (g itself when order is null). Null level_offsets keep tied pairs;
// otherwise level l holds grouped rows level_offsets[l] .. level_offsets[l + 1], no level crosses a query,
// and pairs inside a level are dropped.
struct QueryPairs {
    QueryRows queries;
    const std::int64_t* order;
    const std::int64_t* level_offsets;
    std::int64_t n_levels;
    const double* row_weight;
    const double* query_weight;
};

// out = X w
void scores(const Rows& rows, const double* weights, double* out, int n_threads);

// out = X' u
void adjoint(const Rows& rows, const double* u, double* out, int n_threads);

// out = X' L X w in one pass: a query is scored, centred and added back while it is in cache.
void query_normal_product(const Rows& rows, const QueryPairs& pairs, const double* weights, double* out,
                          int n_threads);

// out = X' (scale * (X w) - shift), elementwise inside the parentheses, in one pass.
void row_normal_product(const Rows& rows, const double* scale, const double* shift, const double* weights,
                        double* out, int n_threads);

}  // namespace rankwise
