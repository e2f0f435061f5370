// Sums of values by key, where values are added one by one and prefix sums are queried in between.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/compiler.hpp"

namespace rankwise {

// A tree of fan-out 32 that stores, for every child, the sum of its preceding siblings: adding touches one
// node per level (a handful of vector instructions), and a prefix sum reads one number per level.
template <class Value>
class PrefixTree {
  public:
    // Reset to keys 0 .. n, all zero.
    void reset(std::int64_t n) {
        starts_.assign(1, 0);
        std::int64_t total = 0;
        for (std::int64_t nodes = n + 1;; nodes = (nodes + kFan - 1) / kFan) {
            total += (nodes + kFan - 1) / kFan * kFan;
            if (nodes <= kFan) break;
            starts_.push_back(total);
        }
        sums_.assign(static_cast<std::size_t>(total), Value{});
    }

    // Initialize with many values at once: `put` them at different keys, then `build`.
    void put(std::int64_t key, Value value) { sums_[static_cast<std::size_t>(key)] = value; }
    void build() {
        for (std::size_t level = 0; level < starts_.size(); ++level) {
            const std::int64_t end =
                level + 1 < starts_.size() ? starts_[level + 1] : static_cast<std::int64_t>(sums_.size());
            for (std::int64_t node = starts_[level]; node < end; node += kFan) {
                Value sum{};
                for (std::int64_t k = node; k < node + kFan; ++k) {
                    const Value value = sums_[static_cast<std::size_t>(k)];
                    sums_[static_cast<std::size_t>(k)] = sum;
                    sum += value;
                }
                if (end < static_cast<std::int64_t>(sums_.size())) {
                    sums_[static_cast<std::size_t>(end + (node - starts_[level]) / kFan)] = sum;
                }
            }
        }
    }

    RANKWISE_INLINE void add(std::int64_t key, Value value) {
        for (const std::int64_t start : starts_) {
            Value* node = sums_.data() + start + (key & ~(kFan - 1));
            const auto child = static_cast<std::int32_t>(key & (kFan - 1));
            for (std::int32_t k = 0; k < kFan; ++k) node[k] += k > child ? value : Value{};
            key /= kFan;
        }
    }

    // The sum of the values whose key is smaller than `key`.
    RANKWISE_INLINE Value before(std::int64_t key) const {
        Value sum{};
        for (const std::int64_t start : starts_) {
            sum += sums_[static_cast<std::size_t>(start + key)];
            key /= kFan;
        }
        return sum;
    }

    // Prefetch what `add` and `before` will access in the lowest level, the one that may not be in cache.
    RANKWISE_INLINE void fetch_to_add(std::int64_t key) const {
        const Value* node = sums_.data() + (key & ~(kFan - 1));
        for (std::int64_t k = 0; k < kFan; k += kLine) fetch_to_write(node + k);
    }
    RANKWISE_INLINE void fetch_to_ask(std::int64_t key) const { fetch_to_read(sums_.data() + key); }

  private:
    static constexpr std::int64_t kFan = 32;
    static constexpr std::int64_t kLine = 64 / sizeof(Value);
    std::vector<std::int64_t> starts_;
    std::vector<Value> sums_;
};

}  // namespace rankwise
