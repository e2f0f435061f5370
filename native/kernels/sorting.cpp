#include "kernels/sorting.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kShort = 512;
constexpr std::int64_t kRowsPerChunk = std::int64_t{1} << 17;
constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
using Histogram = std::array<std::uint32_t, kDigits>;

std::int64_t n_chunks_of(std::int64_t n) {
    return (n + kRowsPerChunk - 1) / kRowsPerChunk;
}
std::int64_t chunk_end(std::int64_t chunk, std::int64_t n) {
    return std::min(n, (chunk + 1) * kRowsPerChunk);
}

// Keys ascend as values descend; -0.0 and 0.0 have the same key.
std::uint64_t descending_key(double value) {
    value += 0.0;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    constexpr std::uint64_t kBelowSign = ~(std::uint64_t{1} << 63);
    return bits ^ (((bits >> 63) - 1) & kBelowSign);
}

struct KeyedRow {
    std::uint64_t key;
    std::uint32_t row;
    bool operator<(const KeyedRow& other) const {
        return key != other.key ? key < other.key : row < other.row;
    }
};

void sort_short(const double* values, std::int64_t n, SortScratch& scratch) {
    std::array<KeyedRow, kShort> rows;
    for (std::int64_t i = 0; i < n; ++i) {
        rows[static_cast<std::size_t>(i)] = {descending_key(values[i]), static_cast<std::uint32_t>(i)};
    }
    std::sort(rows.begin(), rows.begin() + n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        scratch.order.data()[i] = rows[i].row;
        scratch.tied.data()[i] = i > 0 && rows[i].key == rows[i - 1].key;
    }
}

// One stable pass over the digit at `shift` of items from `source` to `target`.
void radix_pass(const std::uint64_t* source, std::uint64_t* target, std::int64_t n, int shift,
                int n_threads) {
    std::vector<Histogram> place(static_cast<std::size_t>(n_chunks_of(n)));
    const auto digit = [shift](std::uint64_t item) { return (item >> shift) & (kDigits - 1); };
    for_each_chunk(n_chunks_of(n), n_threads, [&](std::int64_t chunk) {
        Histogram& count = place[static_cast<std::size_t>(chunk)];
        count.fill(0);
        for (std::int64_t i = chunk * kRowsPerChunk; i < chunk_end(chunk, n); ++i) ++count[digit(source[i])];
    });
    std::uint32_t start = 0;
    for (std::size_t d = 0; d < kDigits; ++d) {
        for (Histogram& count : place) {
            const std::uint32_t size = count[d];
            count[d] = start;
            start += size;
        }
    }
    for_each_chunk(n_chunks_of(n), n_threads, [&](std::int64_t chunk) {
        Histogram& next = place[static_cast<std::size_t>(chunk)];
        for (std::int64_t i = chunk * kRowsPerChunk; i < chunk_end(chunk, n); ++i) {
            target[next[digit(source[i])]++] = source[i];
        }
    });
}

// Given items sorted by the leading bits of their keys, sort the runs that agree in those by the full keys.
void settle_runs(const std::uint64_t* items, const double* values, std::int64_t n, SortScratch& scratch,
                 int n_threads) {
    const auto head = [items](std::int64_t i) { return items[i] >> 32; };
    std::uint32_t* order = scratch.order.data();
    const auto less = [values](std::uint32_t a, std::uint32_t b) {
        return values[a] != values[b] ? values[a] > values[b] : a < b;
    };
    for_each_chunk(n_chunks_of(n), n_threads, [&](std::int64_t chunk) {
        // A run belongs to the chunk in which it starts.
        std::int64_t begin = chunk * kRowsPerChunk;
        while (begin > 0 && begin < n && head(begin) == head(begin - 1)) ++begin;
        while (begin < chunk_end(chunk, n)) {
            std::int64_t end = begin;
            for (; end < n && head(end) == head(begin); ++end) {
                order[end] = static_cast<std::uint32_t>(items[end]);
            }
            scratch.tied[begin] = 0;
            if (end - begin > 1) {
                if (!std::is_sorted(order + begin, order + end, less)) {
                    std::sort(order + begin, order + end, less);
                }
                for (std::int64_t i = begin + 1; i < end; ++i) {
                    scratch.tied[i] = values[order[i]] == values[order[i - 1]];
                }
            }
            begin = end;
        }
    });
}

void sort_long(const double* values, std::int64_t n, SortScratch& scratch, int n_threads) {
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        least = std::min(least, descending_key(values[i]));
        most = std::max(most, descending_key(values[i]));
    }
    // An item holds the 32 leading bits in which keys differ, above the row: half the traffic of full keys.
    int n_bits = 0;
    while (n_bits < 64 && (most - least) >> n_bits > 0) ++n_bits;
    const int dropped = std::max(0, n_bits - 32);
    std::uint64_t* source = scratch.items.resize(n);
    std::uint64_t* target = scratch.spare.resize(n);
    for (std::int64_t i = 0; i < n; ++i) {
        source[i] = ((descending_key(values[i]) - least) >> dropped) << 32 | static_cast<std::uint64_t>(i);
    }
    for (int shift = 32; shift < 32 + n_bits - dropped; shift += kDigitBits) {
        radix_pass(source, target, n, shift, n_threads);
        std::swap(source, target);
    }
    settle_runs(source, values, n, scratch, n_threads);
}

}  // namespace

void sort_descending(const double* values, std::int64_t n, SortScratch& scratch, int n_threads) {
    scratch.order.resize(n);
    scratch.tied.resize(n);
    if (n <= kShort) {
        sort_short(values, n, scratch);
    } else {
        sort_long(values, n, scratch, n_threads);
    }
}

}  // namespace rankwise
