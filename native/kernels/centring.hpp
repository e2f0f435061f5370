// Rows of a dense matrix, centred within their query and scaled, from which BLAS computes X'LX.
#pragma once

#include <cstdint>

namespace rankwise {

// Some rows of a dense row-major matrix, grouped by query.
template <class T>
struct GatheredRows {
    const T* values;
    std::int64_t n_columns;
    const std::int64_t* row;      // of the matrix, for each gathered row
    const std::int64_t* offsets;  // query q holds gathered rows offsets[q] .. offsets[q + 1]
    std::int64_t n_queries;
};

// out[i] = scale[i] * (x[row[i]] - mean), with the weighted mean of the query or, if mean is not null, the
// given one for all rows. Rows with a total weight of zero have mean 0.
template <class T>
void centred_rows(const GatheredRows<T>& rows, const double* weight, const double* scale, const double* mean,
                  double* out, int n_threads);

}  // namespace rankwise
