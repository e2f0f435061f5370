// Average precision of ranked lists with ties.
#pragma once

#include <cstdint>

#include "kernels/query_rows.hpp"

namespace rankwise {

// values[q] = sum over the relevant rows at ranks 1 .. cutoff of the precision there, in expectation over all
// orders of tied rows. At place i stands a row that is relevant (1) or not (0), tied with the ranks
// first[i] .. end[i] (from 0 inside the query). harmonic[k] = 1 + 1/2 + ... + 1/k up to the longest query;
// null retrieves tied rows together instead, each ranked last among them, and ignores the cutoff. O(h) per
// query.
void average_precision(QueryRows rows, const std::int64_t* first, const std::int64_t* end,
                       const double* relevant, std::int64_t cutoff, const double* harmonic, double* values,
                       int n_threads);

}  // namespace rankwise
