// Sums of a few rows of a dense matrix.
#pragma once

#include <cstdint>

namespace rankwise {

// The sum over k of scales[k] times row rows[k]; row r starts at values + r * stride.
struct RowSum {
    const double* values;
    std::int64_t stride;
    const std::int32_t* rows;
    const double* scales;
    std::int64_t n;
};

// Add the first `width` columns of the sum to `out`, eight rows per pass.
void add_rows(const RowSum& sum, std::int64_t width, double* out);

}  // namespace rankwise
