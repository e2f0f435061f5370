// Average precision of ranked lists with ties.
#pragma once

#include <cstdint>

#include "kernels/query_rows.hpp"

namespace rankwise {

// values[q] = sum over the relevant rows at ranks 1 .. cutoff of the precision there, in expectation over all
// orders of tied rows. The row at position i is relevant (1) or not (0) and tied with the ranks
// first[i] .. end[i] (from 0 within the query). harmonic[k] = 1 + 1/2 + ... + 1/k up to the longest query; if
// null, tied rows are retrieved together, each with the rank of the last, and the cutoff is ignored. O(h) per
// query.
void average_precision(QueryRows rows, const std::int64_t* first, const std::int64_t* end,
                       const double* relevant, std::int64_t cutoff, const double* harmonic, double* values,
                       int n_threads);

}  // namespace rankwise
