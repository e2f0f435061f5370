// Two adjacent entries of a sparse row at a time. Products with sparse rows are bound by the number of loads;
// this takes one load for two values and one for two 32-bit columns.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/compiler.hpp"

namespace rankwise {

inline Double2 load2(const double* values) {
    Double2 both;
    std::memcpy(&both, values, sizeof both);
    return both;
}

inline Double2 load2(const float* values) {
    Float2 both;
    std::memcpy(&both, values, sizeof both);
    return widened(both);
}

struct Columns2 {
    std::uint64_t first, second;

    explicit Columns2(const std::int64_t* columns)
        : first(static_cast<std::uint64_t>(columns[0])), second(static_cast<std::uint64_t>(columns[1])) {}

    explicit Columns2(const std::int32_t* columns) {
        std::uint64_t both;
        std::memcpy(&both, columns, sizeof both);
        first = both & 0xffffffffu;
        second = both >> 32;
    }
};

}  // namespace rankwise
