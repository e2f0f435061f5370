#include "kernels/columns.hpp"

#include <algorithm>

#include "kernels/paging.hpp"
#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

template <class Index, class Value>
void add_moments(const SparseRows<Index, Value>& rows, const double* weight, std::int64_t step,
                 ColumnMoments* moments) {
    PageSweep sweep(rows);
    for (std::int64_t i = 0; i < rows.n_rows; i += step) {
        for (std::int64_t k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
            const auto x = static_cast<double>(rows.values[k]);
            ColumnMoments& column = moments[rows.columns[k]];
            column.total += weight[i] * x;
            column.square += weight[i] * (x * x);
            column.count += 1.0;
        }
        sweep.passed(i, i + 1);
    }
}

template <class Value>
void add_moments(const DenseRows<Value>&, const double*, std::int64_t, ColumnMoments*) {}

constexpr std::int64_t kEntriesPerChunk = std::int64_t{1} << 18;

}  // namespace

void column_moments(const Rows& rows, const double* weight, std::int64_t step, ColumnMoments* moments) {
    std::visit([&](const auto& x) { add_moments(x, weight, step, moments); }, rows);
}

template <class Index>
void renumber_columns(const Index* columns, std::int64_t n_entries, const std::int32_t* number,
                      std::int32_t* out, int n_threads) {
    const std::int64_t n_chunks = (n_entries + kEntriesPerChunk - 1) / kEntriesPerChunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const std::int64_t last = std::min(n_entries, (chunk + 1) * kEntriesPerChunk);
        for (std::int64_t k = chunk * kEntriesPerChunk; k < last; ++k) out[k] = number[columns[k]];
    });
}

template void renumber_columns(const std::int32_t*, std::int64_t, const std::int32_t*, std::int32_t*, int);
template void renumber_columns(const std::int64_t*, std::int64_t, const std::int32_t*, std::int32_t*, int);

}  // namespace rankwise
