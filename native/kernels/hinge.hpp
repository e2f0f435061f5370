// Counting the pairs inside the margin without ever listing them (paper D, Algorithm 1), in O(m log m).
//
// Rows are grouped by query and ascend by label inside it. A pair (i, j) with y_i > y_j is active when
// f_i - f_j < 1. Add the rows in order of score: the active partners above row j by label are all in when the
// first score of f_j + 1 or more comes up, and those below row i are the ones not yet in when the first score
// above f_i - 1 does.
#pragma once

#include <cstdint>

namespace rankwise {

// Query q holds the rows offsets[q] .. offsets[q + 1]. Of these, lower[i] have a smaller label than row i
// and upper[i] a label that is not larger; both count from the start of the query.
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
// that i is preferred to. Null values mean ones, and the counts are exact.
void sum_active(LabelledQueries rows, ScoreOrder order, const double* values, double* above, double* below,
                int n_threads);

}  // namespace rankwise
