// Pairs out of order, counted while a sequence is split by the digits of its values.
//
// A pass distributes a block over 16 buckets by one digit, keeping the order inside each bucket. An entry is
// out of order with every earlier entry of a greater digit; pairs with equal digits meet again in their
// bucket, one digit further down. O(n log n), sequential reads and 16 write streams.
#pragma once

#include <array>
#include <cstdint>

namespace rankwise {

// What to count for: one per pair of entries, or the product of their weights.
struct Entry {
    using Sum = std::int64_t;
    using BlockSum = std::uint32_t;  // a query has fewer than 2^32 rows
    std::uint32_t value;
    BlockSum weight() const { return 1; }
};

struct WeightedEntry {
    using Sum = double;
    using BlockSum = double;
    std::uint32_t value;
    double row_weight;
    BlockSum weight() const { return row_weight; }
};

constexpr int kInversionBits = 4;
constexpr std::size_t kBuckets = std::size_t{1} << kInversionBits;
template <class T>
using PerBucket = std::array<T, kBuckets>;

inline std::size_t bucket_of(std::uint32_t value, int shift) {
    return (value >> shift) & (kBuckets - 1);
}

template <class E>
typename E::Sum count_directly(const E* entries, std::int64_t n) {
    typename E::Sum total = 0;
    for (std::int64_t j = 1; j < n; ++j) {
        typename E::BlockSum greater = 0;
        for (std::int64_t i = 0; i < j; ++i) {
            greater += entries[i].value > entries[j].value ? entries[i].weight() : 0;
        }
        total += static_cast<typename E::Sum>(greater) * static_cast<typename E::Sum>(entries[j].weight());
    }
    return total;
}

// Distribute [begin, end) over target[next[b]...]; `greater` holds what earlier blocks put into the buckets
// above each one. Returns the pairs out of order that this block adds.
template <class E>
typename E::Sum distribute(const E* begin, const E* end, E* target, int shift, PerBucket<std::int64_t>& next,
                           PerBucket<typename E::BlockSum>& greater) {
    typename E::Sum total = 0;
    for (const E* entry = begin; entry != end; ++entry) {
        const std::size_t bucket = bucket_of(entry->value, shift);
        const typename E::BlockSum weight = entry->weight();
        total += static_cast<typename E::Sum>(weight) * static_cast<typename E::Sum>(greater[bucket]);
        for (std::size_t b = 0; b < kBuckets; ++b) greater[b] += b < bucket ? weight : 0;
        target[next[bucket]++] = *entry;
    }
    return total;
}

// Weight of the pairs i < j with values[i] > values[j] among n entries that agree above bit `shift` + 4.
// `entries` and `spare` are both overwritten.
template <class E>
typename E::Sum count_inversions(E* entries, E* spare, std::int64_t n, int shift) {
    if (n <= 24) return count_directly(entries, n);
    PerBucket<std::int64_t> start{};
    PerBucket<std::int64_t> next{};
    for (std::int64_t i = 0; i < n; ++i) ++next[bucket_of(entries[i].value, shift)];
    std::int64_t filled = 0;
    for (std::size_t b = 0; b < kBuckets; ++b) {
        start[b] = filled;
        filled += next[b];
        next[b] = start[b];
    }
    PerBucket<typename E::BlockSum> greater{};
    typename E::Sum total = distribute(entries, entries + n, spare, shift, next, greater);
    if (shift == 0) return total;
    for (std::size_t b = 0; b < kBuckets; ++b) {
        total += count_inversions(spare + start[b], entries + start[b], next[b] - start[b],
                                  shift > kInversionBits ? shift - kInversionBits : 0);
    }
    return total;
}

}  // namespace rankwise
