// Counts the pairs inside the margin without enumerating them (paper D, Algorithm 1), in O(m log m).
//
// Rows are grouped by query and sorted by ascending label within it. A pair (i, j) with y_i > y_j is active
// if f_i - f_j < 1. Rows are added in order of score: when the first score of at least f_j + 1 comes up, all
// active partners of row j with higher labels have been added; when the first score above f_i - 1 comes up,
// the active partners of row i with lower labels are those not yet added.
#pragma once

#include <cstdint>

namespace rankwise {

// Query q holds the rows offsets[q] .. offsets[q + 1]. Of these, lower[i] have a smaller label than row i and
// upper[i] a label that is not larger; both count from the start of the query.
struct LabelledQueries {
    const std::int64_t* offsets;
    std::int64_t n_queries;
    const std::int32_t* lower;
    const std::int32_t* upper;
};

// The rows of each query (counted from its start) in ascending order of score, and these scores.
struct ScoreOrder {
    std::int32_t* row;
    double* score;
};

// Scores must be finite.
void order_scores(const std::int64_t* offsets, std::int64_t n_queries, const double* scores, ScoreOrder out,
                  int n_threads);

// above[i] = sum of values[j] over the active partners j preferred to row i, below[i] = the same over those
// to which i is preferred. Null values mean ones, and the counts are exact.
void sum_active(LabelledQueries rows, ScoreOrder order, const double* values, double* above, double* below,
                int n_threads);

}  // namespace rankwise
