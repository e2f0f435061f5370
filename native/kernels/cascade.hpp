// A reader who goes down a ranked list and may stop at every row.
#pragma once

#include <cstdint>

#include "kernels/query_rows.hpp"

namespace rankwise {

// values[q] = sum over ranks 1 .. cutoff of P(stop at the rank) / rank, in expectation over all orders of the
// tied rows. At place i stands a row that stops the reader with probability stop[i], tied with the ranks
// first[i] .. end[i] (from 0 inside the query). O(h) without ties; a run of n ties of which p have stop
// probabilities above 0 costs O(n d), where d <= min(n, cutoff) is how deep the reader still gets.
void cascade(QueryRows rows, const std::int64_t* first, const std::int64_t* end, const double* stop,
             std::int64_t cutoff, double* values, int n_threads);

}  // namespace rankwise
