// Rows for `kernel_threads.cpp`, and what its kernels wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/query_rows.hpp"
#include "kernels/rows.hpp"

namespace rankwise {

using Doubles = std::vector<double>;
using Ints = std::vector<std::int64_t>;
using Ints32 = std::vector<std::int32_t>;

inline std::size_t size(std::int64_t n) {
    return static_cast<std::size_t>(n);
}

// Everything a kernel wrote, as bytes.
class Written {
  public:
    template <class T>
    Written& operator<<(const std::vector<T>& values) {
        const char* const begin = reinterpret_cast<const char*>(values.data());
        bytes_.insert(bytes_.end(), begin, begin + values.size() * sizeof(T));
        return *this;
    }
    bool operator!=(const Written& other) const { return bytes_ != other.bytes_; }

  private:
    std::vector<char> bytes_;
};

// One query too long for a single thread, and many short ones.
struct Data {
    std::int64_t n_rows = 150000 + 30000;
    std::int64_t n_columns = 6;
    Ints offsets;
    Doubles scores, labels, weights, dense, values;
    Ints32 columns;
    Ints entry_offsets, reference;

    Data() {
        std::mt19937_64 random(0);
        std::uniform_real_distribution<double> uniform(-1.0, 1.0);
        const auto fill = [&](Doubles& to, std::int64_t n) {
            for (std::int64_t i = 0; i < n; ++i) to.push_back(uniform(random));
        };
        for (std::int64_t at = 0; at < 30000; at += 10) offsets.push_back(at);
        offsets.push_back(30000);
        offsets.push_back(n_rows);
        fill(scores, n_rows);
        fill(weights, n_rows);
        fill(dense, n_rows * n_columns);
        for (std::int64_t i = 0; i < n_rows; ++i) {
            scores[size(i)] = i % 7 == 0 ? 0.5 : scores[size(i)];
            labels.push_back(static_cast<double>(random() % 5));
            reference.push_back(i < 30000 ? i / 10 * 10 : 30000);
        }
        for (std::int64_t i = 0; i <= n_rows; ++i) entry_offsets.push_back(2 * i);
        for (std::int64_t i = 0; i < n_rows; ++i) {
            columns.push_back(static_cast<std::int32_t>(i % 3));
            columns.push_back(static_cast<std::int32_t>(3 + i % 3));
        }
        fill(values, 2 * n_rows);
    }
    std::int64_t n_queries() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
    QueryRows queries() const { return {offsets.data(), n_queries()}; }
    Rows dense_rows(bool relative) const {
        return DenseRows<double>{dense.data(), relative ? reference.data() : nullptr, n_rows, n_columns,
                                 false};
    }
    Rows sparse_rows() const {
        return SparseRows<std::int32_t, double>{
            entry_offsets.data(), columns.data(), values.data(), n_rows, n_columns, false};
    }
};

}  // namespace rankwise
