#include "kernels/distances.hpp"

#include "kernels/compiler.hpp"

namespace rankwise {

void move_rows(const double* rows, std::int64_t n_rows, std::int64_t n_columns, const double* centre,
               double scale, double* moved, double* half_squares) {
    for (std::int64_t i = 0; i < n_rows; ++i, rows += n_columns, moved += n_columns) {
        double square = 0.0;
        for (std::int64_t j = 0; j < n_columns; ++j) {
            moved[j] = (rows[j] - centre[j]) * scale;
            square += moved[j] * moved[j];
        }
        half_squares[i] = 0.5 * square;
    }
}

RANKWISE_MULTIVERSION_UNALIGNED
void negative_half_distances(double* __restrict values, const double* half_a, std::int64_t n_a,
                             const double* __restrict half_b, std::int64_t n_b) {
    for (std::int64_t i = 0; i < n_a; ++i) {
        double* row = values + i * n_b;
        const double own = half_a[i];
        for (std::int64_t j = 0; j < n_b; ++j) {
            const double value = row[j] - own - half_b[j];
            row[j] = value > 0.0 ? 0.0 : value;
        }
    }
}

}  // namespace rankwise
