#include "kernels/sorting.hpp"

#include <algorithm>
#include <array>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kShort = 1024;
constexpr std::int64_t kRowsPerChunk = std::int64_t{1} << 17;
constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
using Histogram = std::array<std::uint32_t, kDigits>;

std::int64_t chunk_end(std::int64_t chunk, std::int64_t n) {
    return std::min(n, (chunk + 1) * kRowsPerChunk);
}

int bit_length(std::uint64_t value) {
    int bits = 0;
    for (; value; value >>= 1) ++bits;
    return bits;
}

struct KeyedRow {
    std::uint64_t key;
    std::uint32_t row;
    bool operator<(const KeyedRow& other) const {
        return key != other.key ? key < other.key : row < other.row;
    }
};

void sort_short(std::int64_t n, SortScratch& scratch) {
    std::array<KeyedRow, kShort> rows;
    for (std::int64_t i = 0; i < n; ++i) {
        rows[static_cast<std::size_t>(i)] = {scratch.keys[static_cast<std::size_t>(i)],
                                             static_cast<std::uint32_t>(i)};
    }
    std::sort(rows.begin(), rows.begin() + n);
    for (std::int64_t i = 0; i < n; ++i) {
        scratch.order[static_cast<std::size_t>(i)] = rows[static_cast<std::size_t>(i)].row;
    }
}

// One stable pass over the digit at `shift` of items from `source` to `target`.
void radix_pass(const std::uint64_t* source, std::uint64_t* target, std::int64_t n, int shift,
                int n_threads) {
    const std::int64_t n_chunks = (n + kRowsPerChunk - 1) / kRowsPerChunk;
    std::vector<Histogram> place(static_cast<std::size_t>(n_chunks));
    const auto digit = [shift](std::uint64_t item) { return (item >> shift) & (kDigits - 1); };
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
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
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        Histogram& next = place[static_cast<std::size_t>(chunk)];
        for (std::int64_t i = chunk * kRowsPerChunk; i < chunk_end(chunk, n); ++i) {
            target[next[digit(source[i])]++] = source[i];
        }
    });
}

// Items sorted by the leading bits of their keys: settle the runs that agree in those by the whole keys.
void settle_runs(const std::uint64_t* items, const std::uint64_t* keys, std::uint32_t* order, std::int64_t n,
                 int n_threads) {
    const auto head = [items](std::int64_t i) { return items[i] >> 32; };
    const std::int64_t n_chunks = (n + kRowsPerChunk - 1) / kRowsPerChunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        // A run belongs to the chunk that it starts in.
        std::int64_t begin = chunk * kRowsPerChunk;
        while (begin > 0 && begin < n && head(begin) == head(begin - 1)) ++begin;
        const auto less = [keys](std::uint32_t a, std::uint32_t b) {
            return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
        };
        while (begin < chunk_end(chunk, n)) {
            std::int64_t end = begin + 1;
            while (end < n && head(end) == head(begin)) ++end;
            if (end - begin > 1 && !std::is_sorted(order + begin, order + end, less)) {
                std::sort(order + begin, order + end, less);
            }
            begin = end;
        }
    });
}

void sort_long(std::int64_t n, SortScratch& scratch, int n_threads) {
    scratch.items.resize(static_cast<std::size_t>(n));
    scratch.spare.resize(static_cast<std::size_t>(n));
    const std::uint64_t* keys = scratch.keys.data();
    const auto [low, high] = std::minmax_element(keys, keys + n);
    const std::uint64_t least = *low;
    const int bits = bit_length(*high - least);
    const int dropped = std::max(0, bits - 32);
    std::uint64_t* source = scratch.items.data();
    std::uint64_t* target = scratch.spare.data();
    // An item is 32 leading bits of the key above the row, half the memory traffic of the whole key.
    for (std::int64_t i = 0; i < n; ++i) {
        source[i] = ((keys[i] - least) >> dropped) << 32 | static_cast<std::uint64_t>(i);
    }
    for (int shift = 32; shift < 32 + bits - dropped; shift += kDigitBits) {
        radix_pass(source, target, n, shift, n_threads);
        std::swap(source, target);
    }
    std::uint32_t* order = scratch.order.data();
    for (std::int64_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(source[i]);
    if (dropped > 0) settle_runs(source, keys, order, n, n_threads);
}

}  // namespace

void stable_argsort(std::int64_t n, SortScratch& scratch, int n_threads) {
    scratch.order.resize(static_cast<std::size_t>(n));
    n <= kShort ? sort_short(n, scratch) : sort_long(n, scratch, n_threads);
}

}  // namespace rankwise
