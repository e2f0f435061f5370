// Pair counts of many score vectors of the same rows, each in an order close to the previous one.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/counted_order.hpp"
#include "kernels/pair_counts.hpp"

namespace rankwise {

// Rows by query and, within a query, by descending label, and their columns in the score vectors.
struct LabelledRows {
    QueryRows queries;
    const std::int64_t* level;   // as in count_pairs
    const std::int64_t* column;  // column[i] of a vector is the score of row i

    std::int64_t count() const { return queries.offsets[queries.n_queries]; }
};

// What rounding may have decided. Differences of scores in vector t are exact to within rounding[t]. Columns
// with the same number in twin belong to identical rows, which rounding does not tell apart.
struct Doubts {
    const double* rounding;    // per vector
    const std::int64_t* twin;  // per column
    bool* found;               // per vector: set if its counts are in doubt
};

// Counts each vector starting from the order of the previous one.
class NearbyCounts {
  public:
    // `doubts` may be null.
    NearbyCounts(LabelledRows rows, const Doubts* doubts);

    // The result of count_pairs for the vectors first .. first + n (rows of `scores`), one row of each output
    // per vector.
    void count(const double* scores, std::int64_t first, std::int64_t n, PairCounts<std::int64_t> out);

  private:
    std::int64_t n_rows_;
    const Doubts* doubts_;
    std::vector<std::int64_t> level_of_;
    std::vector<CountedOrder> orders_;  // one per query
};

// The result of count_pairs for each of n_vectors score vectors, the rows of `scores`.
void count_nearby_pairs(LabelledRows rows, const double* scores, std::int64_t n_vectors,
                        PairCounts<std::int64_t> out, int n_threads);

}  // namespace rankwise
