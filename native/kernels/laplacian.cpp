#include "kernels/laplacian.hpp"

#include <algorithm>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kQueriesPerChunk = 256;

}  // namespace

void complete_laplacian(QueryRows rows, const double* row_weight, const double* query_weight, const double* v,
                        double* out, int n_threads) {
    const std::int64_t n_chunks = (rows.n_queries + kQueriesPerChunk - 1) / kQueriesPerChunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const std::int64_t last = std::min(rows.n_queries, (chunk + 1) * kQueriesPerChunk);
        for (std::int64_t q = chunk * kQueriesPerChunk; q < last; ++q) {
            double weight_sum = 0.0;
            double weighted_sum = 0.0;
            for (std::int64_t i = rows.offsets[q]; i < rows.offsets[q + 1]; ++i) {
                const double s = row_weight ? row_weight[i] : 1.0;
                weight_sum += s;
                weighted_sum += s * v[i];
            }
            const double mean = weight_sum > 0.0 ? weighted_sum / weight_sum : 0.0;
            const double scale = query_weight[q] * weight_sum;
            for (std::int64_t i = rows.offsets[q]; i < rows.offsets[q + 1]; ++i) {
                out[i] = scale * (row_weight ? row_weight[i] : 1.0) * (v[i] - mean);
            }
        }
    });
}

}  // namespace rankwise
