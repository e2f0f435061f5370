// The cascade model: a reader scans a ranked list and may stop at every row.
#pragma once

#include <cstdint>

#include "kernels/query_rows.hpp"

namespace rankwise {

// values[q] = sum over ranks 1 .. cutoff of P(stop at the rank) / rank, in expectation over all orders of the
// tied rows. The row at position i stops the reader with probability stop[i] and is tied with the ranks
// first[i] .. end[i] (from 0 within the query). O(h) without ties; a run of n ties, p of them with positive
// stop probabilities, costs O(n d), where d <= min(n, cutoff) is the depth that the reader still reaches.
void cascade(QueryRows rows, const std::int64_t* first, const std::int64_t* end, const double* stop,
             std::int64_t cutoff, double* values, int n_threads);

}  // namespace rankwise
