// Stable sorting of doubles: a radix sort for long arrays, a comparison sort for short ones.
#pragma once

#include <cstdint>

#include "kernels/buffer.hpp"

namespace rankwise {

// The result of a sort, and memory shared by sorts of different lengths.
struct SortScratch {
    Buffer<std::uint32_t> order;  // the index of the value at each position
    Buffer<std::uint8_t> tied;    // whether it equals the previous one
    Buffer<std::uint64_t> items;
    Buffer<std::uint64_t> spare;
};

// Sort n < 2^32 values, none of them NaN, in descending order; equal values keep their order.
void sort_descending(const double* values, std::int64_t n, SortScratch& scratch, int n_threads);

}  // namespace rankwise
