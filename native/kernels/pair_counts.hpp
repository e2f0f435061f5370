// How a score vector orders the pairs of rows of each query.
#pragma once

#include <cstdint>

#include "kernels/query_rows.hpp"

namespace rankwise {

// Per query: pairs that labels and scores order oppositely, pairs with equal scores, and pairs with equal
// scores and equal labels. With row weights s, a pair counts as s_i s_j.
template <class Sum>
struct PairCounts {
    Sum* discordant;
    Sum* tied_scores;
    Sum* tied_both;
};

// The rows of a query are sorted by descending label; level[i] is the rank, from 0 within the query, of the
// first row with the label of row i. O(h log h) for a query of h rows.
void count_pairs(QueryRows rows, const std::int64_t* level, const double* scores,
                 PairCounts<std::int64_t> out, int n_threads);
void count_weighted_pairs(QueryRows rows, const std::int64_t* level, const double* scores,
                          const double* row_weight, PairCounts<double> out, int n_threads);

}  // namespace rankwise
