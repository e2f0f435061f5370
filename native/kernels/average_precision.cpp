#include "kernels/average_precision.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/each_query.hpp"

namespace rankwise {
namespace {

// A run of n tied rows, r of them relevant, after `before` rows, R of them relevant. The row at rank
// before + j + 1 is relevant with probability r/n, in which case an expected j (r - 1)/(n - 1) of the j rows
// before it in the run are relevant.
double expected_run(std::int64_t before, std::int64_t n, double r, double R, std::int64_t cutoff,
                    const double* harmonic) {
    const std::int64_t counted = std::clamp(cutoff - before, std::int64_t{0}, n);
    const double reciprocals = harmonic[before + counted] - harmonic[before];
    const double inside = static_cast<double>(counted) - static_cast<double>(before + 1) * reciprocals;
    return r / static_cast<double>(n) *
           ((R + 1.0) * reciprocals + (r - 1.0) / static_cast<double>(n - 1) * inside);
}

}  // namespace

void average_precision(QueryRows rows, const std::int64_t* first, const std::int64_t* end,
                       const double* relevant, std::int64_t cutoff, const double* harmonic, double* values,
                       int n_threads) {
    struct Nothing {};
    for_each_query<Nothing>(rows, n_threads, [&](std::int64_t q, Nothing&, int) {
        double value = 0.0;
        double before = 0.0;
        for (std::int64_t i = rows.offsets[q]; i < rows.offsets[q + 1];) {
            const std::int64_t n = end[i] - first[i];
            const double r = std::accumulate(relevant + i, relevant + i + n, 0.0);
            if (harmonic && r == static_cast<double>(n)) {
                // Every order is the same, and the sum of these fractions is never above their number.
                for (std::int64_t rank = first[i] + 1; rank <= std::min(end[i], cutoff); ++rank) {
                    value += (before + static_cast<double>(rank - first[i])) / static_cast<double>(rank);
                }
            } else if (r > 0.0) {
                value += harmonic ? expected_run(first[i], n, r, before, cutoff, harmonic)
                                  : r * (before + r) / static_cast<double>(end[i]);
            }
            before += r;
            i += n;
        }
        values[q] = value;
    });
}

}  // namespace rankwise
