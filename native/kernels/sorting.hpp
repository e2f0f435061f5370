// The stable order of doubles: a radix sort for long arrays, a comparison sort for short ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace rankwise {

// Order-preserving image of a double that is not NaN; -0.0 and 0.0 have the same.
inline std::uint64_t ascending_key(double value) {
    value += 0.0;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    return bits & kSign ? ~bits : bits | kSign;
}

inline std::uint64_t descending_key(double value) {
    return ~ascending_key(value);
}

// Memory that sorts of different lengths share. A query may have up to 2^32 rows.
struct SortScratch {
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> order;
    std::vector<std::uint64_t> items;
    std::vector<std::uint64_t> spare;
};

// scratch.order = rows 0 .. n by ascending scratch.keys, equal keys in row order.
void stable_argsort(std::int64_t n, SortScratch& scratch, int n_threads);

}  // namespace rankwise
