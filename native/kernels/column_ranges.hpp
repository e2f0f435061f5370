// How far the columns of a dense matrix are from zero, and how far its rows from their reference rows.
#pragma once

#include <cstdint>

#include "kernels/rows.hpp"

namespace rankwise {

// For each column, the largest absolute value in the reference rows (offset) and of the rows less their
// reference rows (spread): where offsets are large and spreads small, products of the rows themselves lose
// digits. Rows without a reference, and sparse ones, have offset 0.
void column_ranges(const Rows& rows, double* offset, double* spread, int n_threads);

}  // namespace rankwise
