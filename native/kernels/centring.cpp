#include "kernels/centring.hpp"

#include <algorithm>
#include <vector>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kRowsPerChunk = 512;

template <class T>
void mean_of_rows(const GatheredRows<T>& rows, std::int64_t first, std::int64_t last, const double* weight,
                  std::vector<double>& mean) {
    std::fill(mean.begin(), mean.end(), 0.0);
    double total = 0.0;
    for (std::int64_t i = first; i < last; ++i) {
        const T* x = rows.values + rows.row[i] * rows.n_columns;
        const double s = weight[i];
        total += s;
        for (std::int64_t k = 0; k < rows.n_columns; ++k) {
            mean[static_cast<std::size_t>(k)] += s * static_cast<double>(x[k]);
        }
    }
    if (total > 0.0) {
        for (double& value : mean) value /= total;
    }
}

template <class T>
void write_rows(const GatheredRows<T>& rows, std::int64_t first, std::int64_t last, const double* scale,
                const double* mean, double* out) {
    for (std::int64_t i = first; i < last; ++i) {
        const T* x = rows.values + rows.row[i] * rows.n_columns;
        double* z = out + i * rows.n_columns;
        const double s = scale[i];
        for (std::int64_t k = 0; k < rows.n_columns; ++k) z[k] = s * (static_cast<double>(x[k]) - mean[k]);
    }
}

}  // namespace

template <class T>
void centred_rows(const GatheredRows<T>& rows, const double* weight, const double* scale, const double* mean,
                  double* out, int n_threads) {
    const std::int64_t n_rows = rows.offsets[rows.n_queries];
    if (mean) {
        const std::int64_t n_chunks = (n_rows + kRowsPerChunk - 1) / kRowsPerChunk;
        for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
            const std::int64_t last = std::min(n_rows, (chunk + 1) * kRowsPerChunk);
            write_rows(rows, chunk * kRowsPerChunk, last, scale, mean, out);
        });
        return;
    }
    // As many queries per chunk as have about kRowsPerChunk rows on average.
    const std::int64_t per_chunk =
        std::max<std::int64_t>(1, rows.n_queries * kRowsPerChunk / std::max(n_rows, kRowsPerChunk));
    const std::int64_t n_chunks = (rows.n_queries + per_chunk - 1) / per_chunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        std::vector<double> own(static_cast<std::size_t>(rows.n_columns));
        const std::int64_t last = std::min(rows.n_queries, (chunk + 1) * per_chunk);
        for (std::int64_t q = chunk * per_chunk; q < last; ++q) {
            mean_of_rows(rows, rows.offsets[q], rows.offsets[q + 1], weight, own);
            write_rows(rows, rows.offsets[q], rows.offsets[q + 1], scale, own.data(), out);
        }
    });
}

template void centred_rows<double>(const GatheredRows<double>&, const double*, const double*, const double*,
                                   double*, int);
template void centred_rows<float>(const GatheredRows<float>&, const double*, const double*, const double*,
                                  double*, int);

}  // namespace rankwise
