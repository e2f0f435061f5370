// A feature matrix by rows, sparse or dense: each row can be scored and added to a vector. Values may be
// floats; every sum is in double. A mapped matrix is a file that may be larger than memory.
#pragma once

#include <cstdint>
#include <variant>

#include "kernels/dense_row.hpp"
#include "kernels/double2.hpp"
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

    // An entry needs its column's weight and sum wherever they are: side by side, they are one cache line.
    static constexpr bool kScattered = true;

    std::int64_t n_entries() const { return offsets[n_rows] - offsets[0]; }

    std::int64_t n_bytes(std::int64_t first, std::int64_t last) const {
        return (offsets[last] - offsets[first]) * static_cast<std::int64_t>(sizeof(Index) + sizeof(Value));
    }

    void give_back(std::int64_t first, std::int64_t last) const {
        give_back_pages(columns + offsets[first], columns + offsets[last]);
        give_back_pages(values + offsets[first], values + offsets[last]);
    }

    // Four sums, in a fixed order, hide the latency of the additions. The weight of column j is
    // weights[Stride * j].
    template <int Stride = 1>
    double score(std::int64_t row, const double* weights) const {
        const std::int64_t end = offsets[row + 1];
        std::int64_t k = offsets[row];
        Double2 sum01 = {0.0, 0.0}, sum23 = {0.0, 0.0};
        for (; k + 4 <= end; k += 4) {
            const Columns2 c01(columns + k), c23(columns + k + 2);
            sum01 += load2(values + k) * Double2{weights[Stride * c01.first], weights[Stride * c01.second]};
            sum23 +=
                load2(values + k + 2) * Double2{weights[Stride * c23.first], weights[Stride * c23.second]};
        }
        for (; k < end; ++k) sum01[0] += static_cast<double>(values[k]) * weights[Stride * columns[k]];
        return (sum01[0] + sum01[1]) + (sum23[0] + sum23[1]);
    }

    template <int Stride = 1>
    void add(std::int64_t row, double scale, double* out) const {
        const std::int64_t end = offsets[row + 1];
        std::int64_t k = offsets[row];
        const Double2 scales = {scale, scale};
        for (; k + 4 <= end; k += 4) {
            const Columns2 c01(columns + k), c23(columns + k + 2);
            const Double2 x01 = load2(values + k) * scales, x23 = load2(values + k + 2) * scales;
            out[Stride * c01.first] += x01[0];
            out[Stride * c01.second] += x01[1];
            out[Stride * c23.first] += x23[0];
            out[Stride * c23.second] += x23[1];
        }
        for (; k < end; ++k) out[Stride * columns[k]] += scale * static_cast<double>(values[k]);
    }
};

// Row i less row reference[i]; row i itself if reference is null.
template <class Value>
struct DenseRows {
    const Value* values;
    const std::int64_t* reference;
    std::int64_t n_rows;
    std::int64_t n_columns;
    bool mapped;

    static constexpr bool kScattered = false;

    std::int64_t n_entries() const { return n_rows * n_columns; }

    std::int64_t n_bytes(std::int64_t first, std::int64_t last) const {
        return (last - first) * n_columns * static_cast<std::int64_t>(sizeof(Value));
    }

    void give_back(std::int64_t first, std::int64_t last) const {
        give_back_pages(values + first * n_columns, values + last * n_columns);
    }

    template <int Stride = 1>
    double score(std::int64_t row, const double* weights) const {
        static_assert(Stride == 1);
        if (!reference) return dense_score(at(row), weights, n_columns);
        return dense_score(at(row), at(reference[row]), weights, n_columns);
    }

    template <int Stride = 1>
    void add(std::int64_t row, double scale, double* out) const {
        static_assert(Stride == 1);
        if (!reference) return dense_add(at(row), scale, out, n_columns);
        dense_add(at(row), at(reference[row]), scale, out, n_columns);
    }

    const Value* at(std::int64_t row) const { return values + row * n_columns; }
};

using Rows = std::variant<DenseRows<double>, DenseRows<float>, SparseRows<std::int32_t, double>,
                          SparseRows<std::int32_t, float>, SparseRows<std::int64_t, double>,
                          SparseRows<std::int64_t, float>>;

}  // namespace rankwise
