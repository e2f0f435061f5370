// Distances between rows of two matrices, from their products.
#pragma once

#include <cstdint>

namespace rankwise {

// Rows minus a centre, times a factor, and half their squared lengths.
void move_rows(const double* rows, std::int64_t n_rows, std::int64_t n_columns, const double* centre,
               double scale, double* moved, double* half_squares);

// values[i, j] = a_i·b_j becomes -½‖a_i - b_j‖², given ½‖a_i‖² and ½‖b_j‖². Results are capped at 0, since
// rounding leaves a small value of either sign for equal rows. NaN is preserved.
void negative_half_distances(double* values, const double* half_a, std::int64_t n_a, const double* half_b,
                             std::int64_t n_b);

}  // namespace rankwise
