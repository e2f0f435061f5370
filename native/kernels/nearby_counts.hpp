// Pair counts of many score vectors of the same rows, each in an order close to that of the one before.
#pragma once

#include <cstdint>

#include "kernels/pair_counts.hpp"

namespace rankwise {

// What count_pairs gives for each of n_vectors score vectors (rows of `scores`, whose column column[i] is row
// i), one row of each output a vector. O(h + the pairs that change places) for a query of h rows, and never
// more than a constant times count_pairs.
void count_nearby_pairs(QueryRows rows, const std::int64_t* level, const std::int64_t* column,
                        const double* scores, std::int64_t n_vectors, PairCounts<std::int64_t> out,
                        int n_threads);

}  // namespace rankwise
