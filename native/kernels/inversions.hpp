// Counts inversions while splitting a sequence of distinct values by their digits.
//
// A pass distributes a block over 8 buckets by one octal digit, keeping the order within each bucket. An
// entry forms an inversion with every earlier entry that has a larger digit; pairs with equal digits are
// compared in their bucket by the next digit. O(n log n), with sequential reads and 8 write streams.
#pragma once

#include <array>
#include <cstdint>

namespace rankwise {

constexpr int kDigit = 3;
constexpr std::size_t kBuckets = std::size_t{1} << kDigit;
template <class T>
using PerBucket = std::array<T, kBuckets>;

// The number of earlier entries with a larger digit. Eight byte-wide counters share one register and are
// flushed to the wide ones before they overflow.
class EarlierCounts {
  public:
    explicit EarlierCounts(const PerBucket<std::int64_t>& above) : settled_(above) {}

    std::int64_t greater_than(std::size_t digit) const {
        return settled_[digit] + static_cast<std::int64_t>(recent_ >> (8 * digit) & 255);
    }
    void add(std::size_t digit) {
        recent_ += kOnes & ((std::uint64_t{1} << (8 * digit)) - 1);
        if (++n_recent_ == 255) settle();
    }

  private:
    static constexpr std::uint64_t kOnes = 0x0101010101010101;

    void settle() {
        for (std::size_t d = 0; d < kBuckets; ++d) settled_[d] = greater_than(d);
        recent_ = 0;
        n_recent_ = 0;
    }

    PerBucket<std::int64_t> settled_;
    std::uint64_t recent_ = 0;
    int n_recent_ = 0;
};

// The total weight of earlier entries with a larger digit.
class EarlierWeights {
  public:
    explicit EarlierWeights(const PerBucket<double>& above) : above_(above) {}
    double greater_than(std::size_t digit) const { return above_[digit]; }
    void add(std::size_t digit, double weight) {
        for (std::size_t d = 0; d < kBuckets; ++d) above_[d] += d < digit ? weight : 0.0;
    }

  private:
    PerBucket<double> above_;
};

// An entry with weight one in every pair.
struct Entry {
    using Sum = std::int64_t;
    using Earlier = EarlierCounts;
    std::uint32_t value;
    Sum weight() const { return 1; }
    void add_to(Earlier& earlier, std::size_t digit) const { earlier.add(digit); }
};

// An entry whose weight is a factor in every pair.
struct WeightedEntry {
    using Sum = double;
    using Earlier = EarlierWeights;
    std::uint32_t value;
    double row_weight;
    Sum weight() const { return row_weight; }
    void add_to(Earlier& earlier, std::size_t digit) const { earlier.add(digit, row_weight); }
};

inline std::int64_t count_bits(std::uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555;
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
    return static_cast<std::int64_t>(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

// Blocks that need no further splitting: 64 values fit in a word of bits, few weighted entries in a double
// loop.
inline bool is_leaf(const Entry*, std::int64_t, int bits) {
    return bits <= 6;
}
inline bool is_leaf(const WeightedEntry*, std::int64_t n, int bits) {
    return n <= 24 || bits == 0;
}

inline std::int64_t count_leaf(const Entry* entries, std::int64_t n) {
    std::int64_t total = 0;
    std::uint64_t seen = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint32_t value = entries[i].value & 63;
        total += count_bits(seen >> value);
        seen |= std::uint64_t{1} << value;
    }
    return total;
}

inline double count_leaf(const WeightedEntry* entries, std::int64_t n) {
    double total = 0.0;
    for (std::int64_t j = 1; j < n; ++j) {
        double greater = 0.0;
        for (std::int64_t i = 0; i < j; ++i) {
            greater += entries[i].value > entries[j].value ? entries[i].row_weight : 0.0;
        }
        total += greater * entries[j].row_weight;
    }
    return total;
}

inline std::size_t digit_of(std::uint32_t value, int shift) {
    return (value >> shift) & (kBuckets - 1);
}
inline int shift_of(int bits) {
    return bits > kDigit ? bits - kDigit : 0;
}

// Distribute [begin, end) over target[next[d]...], after `earlier`. Returns the inversions this adds.
template <class E>
typename E::Sum distribute(const E* begin, const E* end, E* target, int shift, PerBucket<std::int64_t>& next,
                           typename E::Earlier earlier) {
    typename E::Sum total = 0;
    for (const E* entry = begin; entry != end; ++entry) {
        const std::size_t digit = digit_of(entry->value, shift);
        total += entry->weight() * earlier.greater_than(digit);
        entry->add_to(earlier, digit);
        target[next[digit]++] = *entry;
    }
    return total;
}

// Weight of the pairs i < j with values[i] > values[j] among n entries whose values are distinct and agree
// above their lowest `bits`. Overwrites both `entries` and `spare`.
template <class E>
typename E::Sum count_inversions(E* entries, E* spare, std::int64_t n, int bits) {
    if (n < 2) return 0;
    if (is_leaf(entries, n, bits)) return count_leaf(entries, n);
    const int shift = shift_of(bits);
    PerBucket<std::int64_t> start{};
    PerBucket<std::int64_t> next{};
    for (std::int64_t i = 0; i < n; ++i) ++next[digit_of(entries[i].value, shift)];
    std::int64_t filled = 0;
    for (std::size_t d = 0; d < kBuckets; ++d) {
        start[d] = filled;
        filled += next[d];
        next[d] = start[d];
    }
    typename E::Sum total = distribute(entries, entries + n, spare, shift, next, typename E::Earlier({}));
    for (std::size_t d = 0; d < kBuckets; ++d) {
        total += count_inversions(spare + start[d], entries + start[d], next[d] - start[d], shift);
    }
    return total;
}

}  // namespace rankwise
