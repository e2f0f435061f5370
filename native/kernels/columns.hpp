// The columns of sparse rows: how their entries are distributed, and other numbers for them.
#pragma once

#include <cstdint>

#include "kernels/rows.hpp"

namespace rankwise {

// Of one column: the sum of weight * x, of weight * x * x, and the number of entries. Together in memory,
// since an entry adds to all three.
struct ColumnMoments {
    double total;
    double square;
    double count;
};

// Adds the moments of rows 0, step, 2 * step, ... of a sparse matrix. Of dense rows, there are none.
void column_moments(const Rows& rows, const double* weight, std::int64_t step, ColumnMoments* moments);

// out[k] = number[columns[k]]
template <class Index>
void renumber_columns(const Index* columns, std::int64_t n_entries, const std::int32_t* number,
                      std::int32_t* out, int n_threads);

}  // namespace rankwise
