#include "kernels/column_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "kernels/paging.hpp"
#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kRowsPerChunk = 4096;

template <class T>
void widen(const T* x, const T* origin, std::int64_t n, double* offset, double* spread) {
    for (std::int64_t k = 0; k < n; ++k) {
        const double from = static_cast<double>(origin[k]);
        offset[k] = std::max(offset[k], std::abs(from));
        spread[k] = std::max(spread[k], std::abs(static_cast<double>(x[k]) - from));
    }
}

template <class T>
void ranges_of(const DenseRows<T>& rows, double* offset, double* spread, int n_threads) {
    if (!rows.reference) return;
    const auto width = static_cast<std::size_t>(rows.n_columns);
    const std::int64_t n_chunks = (rows.n_rows + kRowsPerChunk - 1) / kRowsPerChunk;
    std::mutex lock;
    for_each_chunk(n_chunks, threads_worth(rows.n_entries(), n_threads), [&](std::int64_t chunk) {
        PageSweep sweep(rows);
        std::vector<double> own(2 * width, 0.0);
        const std::int64_t last = std::min(rows.n_rows, (chunk + 1) * kRowsPerChunk);
        for (std::int64_t i = chunk * kRowsPerChunk; i < last; ++i) {
            const std::int64_t from = rows.reference[i];
            widen(rows.at(i), rows.at(from), rows.n_columns, own.data(), own.data() + width);
            sweep.passed(i, i + 1);
            // It may have been read again after its pages were given back.
            if (i + 1 == last || rows.reference[i + 1] != from) sweep.passed(from, from + 1);
        }
        const std::lock_guard<std::mutex> hold(lock);
        for (std::size_t k = 0; k < width; ++k) {
            offset[k] = std::max(offset[k], own[k]);
            spread[k] = std::max(spread[k], own[width + k]);
        }
    });
}

template <class Index, class T>
void ranges_of(const SparseRows<Index, T>&, double*, double*, int) {}

}  // namespace

void column_ranges(const Rows& rows, double* offset, double* spread, int n_threads) {
    std::visit(
        [&](const auto& x) {
            std::fill(offset, offset + x.n_columns, 0.0);
            std::fill(spread, spread + x.n_columns, 0.0);
            ranges_of(x, offset, spread, n_threads);
        },
        rows);
}

}  // namespace rankwise
