// A feature matrix by rows, sparse or dense: each row can be scored and can be added to a vector.
// Values may be floats; every sum is in double. A mapped matrix is a file that may be larger than memory.
#pragma once

#include <cstdint>
#include <variant>

#include "kernels/paging.hpp"

namespace rankwise {

// Compressed sparse rows: row i holds entries offsets[i] .. offsets[i + 1].
template <class Index, class Value>
struct SparseRows {
    const std::int64_t* offsets;
    const Index* columns;
    const Value* values;
    std::int64_t n_rows;
    std::int64_t n_columns;
    bool mapped;

    std::int64_t n_entries() const { return offsets[n_rows] - offsets[0]; }

    std::int64_t n_bytes(std::int64_t first, std::int64_t last) const {
        return (offsets[last] - offsets[first]) * static_cast<std::int64_t>(sizeof(Index) + sizeof(Value));
    }

    void give_back(std::int64_t first, std::int64_t last) const {
        give_back_pages(columns + offsets[first], columns + offsets[last]);
        give_back_pages(values + offsets[first], values + offsets[last]);
    }

    // Four sums hide the latency of the additions; their order is fixed.
    double score(std::int64_t row, const double* weights) const {
        const std::int64_t end = offsets[row + 1];
        std::int64_t k = offsets[row];
        double sum0 = 0.0, sum1 = 0.0, sum2 = 0.0, sum3 = 0.0;
        for (; k + 4 <= end; k += 4) {
            sum0 += static_cast<double>(values[k]) * weights[columns[k]];
            sum1 += static_cast<double>(values[k + 1]) * weights[columns[k + 1]];
            sum2 += static_cast<double>(values[k + 2]) * weights[columns[k + 2]];
            sum3 += static_cast<double>(values[k + 3]) * weights[columns[k + 3]];
        }
        for (; k < end; ++k) sum0 += static_cast<double>(values[k]) * weights[columns[k]];
        return (sum0 + sum1) + (sum2 + sum3);
    }

    void add(std::int64_t row, double scale, double* out) const {
        const std::int64_t end = offsets[row + 1];
        for (std::int64_t k = offsets[row]; k < end; ++k) {
            out[columns[k]] += scale * static_cast<double>(values[k]);
        }
    }
};

template <class Value>
struct DenseRows {
    const Value* values;
    std::int64_t n_rows;
    std::int64_t n_columns;
    bool mapped;

    std::int64_t n_entries() const { return n_rows * n_columns; }

    std::int64_t n_bytes(std::int64_t first, std::int64_t last) const {
        return (last - first) * n_columns * static_cast<std::int64_t>(sizeof(Value));
    }

    void give_back(std::int64_t first, std::int64_t last) const {
        give_back_pages(values + first * n_columns, values + last * n_columns);
    }

    // Eight sums, so that the compiler can use vectors without reordering anything.
    double score(std::int64_t row, const double* weights) const {
        const Value* x = values + row * n_columns;
        double sums[8] = {};
        std::int64_t j = 0;
        for (; j + 8 <= n_columns; j += 8) {
            for (int lane = 0; lane < 8; ++lane)
                sums[lane] += static_cast<double>(x[j + lane]) * weights[j + lane];
        }
        for (; j < n_columns; ++j) sums[0] += static_cast<double>(x[j]) * weights[j];
        return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }

    void add(std::int64_t row, double scale, double* out) const {
        const Value* x = values + row * n_columns;
        for (std::int64_t j = 0; j < n_columns; ++j) out[j] += scale * static_cast<double>(x[j]);
    }
};

using Rows = std::variant<DenseRows<double>, DenseRows<float>, SparseRows<std::int32_t, double>,
                          SparseRows<std::int32_t, float>, SparseRows<std::int64_t, double>,
                          SparseRows<std::int64_t, float>>;

}  // namespace rankwise
