#include "kernels/pair_counts.hpp"

#include <algorithm>
#include <vector>

#include "kernels/inversions.hpp"
#include "kernels/query_chunks.hpp"
#include "kernels/sorting.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kEntriesPerChunk = std::int64_t{1} << 17;

template <class E>
struct PairScratch {
    SortScratch sort;
    std::vector<std::uint32_t> filled;  // rows placed so far, at the first rank of each level
    std::vector<E> entries;
    std::vector<E> spare;
};

// Pairs inside a group, from the sum and the sum of squares of its weights.
template <class E>
class Group {
  public:
    void add(const E& entry) {
        sum_ += entry.weight();
        squares_ += static_cast<Sum>(entry.weight()) * static_cast<Sum>(entry.weight());
    }
    typename E::Sum pairs() const { return (sum_ * sum_ - squares_) / 2; }

  private:
    using Sum = typename E::Sum;
    Sum sum_ = 0;
    Sum squares_ = 0;
};

int top_shift(std::int64_t n) {
    int shift = 0;
    while ((n - 1) >> (shift + kInversionBits) > 0) shift += kInversionBits;
    return shift;
}

// count_inversions with the first pass, and then the buckets, shared among threads.
template <class E>
typename E::Sum count_long(std::vector<E>& entries, std::vector<E>& spare, std::int64_t n, int n_threads) {
    const int shift = top_shift(n);
    const std::int64_t n_chunks = (n + kEntriesPerChunk - 1) / kEntriesPerChunk;
    const auto block = [&](std::int64_t chunk) { return std::min(n, chunk * kEntriesPerChunk); };
    std::vector<PerBucket<std::int64_t>> next(static_cast<std::size_t>(n_chunks));
    std::vector<PerBucket<typename E::BlockSum>> greater(static_cast<std::size_t>(n_chunks));
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        auto& count = next[static_cast<std::size_t>(chunk)];
        auto& sums = greater[static_cast<std::size_t>(chunk)];
        count.fill(0);
        sums.fill(0);
        for (std::int64_t i = block(chunk); i < block(chunk + 1); ++i) {
            const E& entry = entries[static_cast<std::size_t>(i)];
            const std::size_t bucket = bucket_of(entry.value, shift);
            ++count[bucket];
            sums[bucket] += entry.weight();
        }
    });
    PerBucket<std::int64_t> start{};
    std::int64_t filled = 0;
    for (std::size_t b = 0; b < kBuckets; ++b) {
        start[b] = filled;
        for (auto& count : next) {
            const std::int64_t size = count[b];
            count[b] = filled;
            filled += size;
        }
    }
    PerBucket<typename E::BlockSum> before{};
    for (auto& sums : greater) {
        PerBucket<typename E::BlockSum> above{};
        for (std::size_t b = kBuckets - 1; b > 0; --b) above[b - 1] = above[b] + before[b];
        for (std::size_t b = 0; b < kBuckets; ++b) before[b] += sums[b];
        sums = above;
    }
    std::vector<typename E::Sum> totals(static_cast<std::size_t>(n_chunks) + kBuckets);
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const auto at = static_cast<std::size_t>(chunk);
        totals[at] = distribute(entries.data() + block(chunk), entries.data() + block(chunk + 1),
                                spare.data(), shift, next[at], greater[at]);
    });
    for_each_chunk(static_cast<std::int64_t>(kBuckets), n_threads, [&](std::int64_t bucket) {
        const auto b = static_cast<std::size_t>(bucket);
        const std::int64_t end = b + 1 < kBuckets ? start[b + 1] : n;
        totals[static_cast<std::size_t>(n_chunks) + b] = count_inversions(
            spare.data() + start[b], entries.data() + start[b], end - start[b], shift - kInversionBits);
    });
    typename E::Sum total = 0;
    for (const auto part : totals) total += part;
    return total;
}

// Entries by descending label, inside a level by descending score, valued by their rank in the scores: the
// pairs out of order are the discordant ones. Returns the pairs with equal scores.
template <class E, class MakeEntry>
typename E::Sum place_entries(const std::int64_t* level, std::int64_t n, PairScratch<E>& scratch,
                              MakeEntry make) {
    scratch.filled.assign(static_cast<std::size_t>(n), 0);
    scratch.entries.resize(static_cast<std::size_t>(n));
    scratch.spare.resize(static_cast<std::size_t>(n));
    const std::uint32_t* order = scratch.sort.order.data();
    const std::uint64_t* keys = scratch.sort.keys.data();
    typename E::Sum tied = 0;
    for (std::int64_t first = 0, end = 0; first < n; first = end) {
        Group<E> run;
        const std::uint64_t key = keys[order[first]];
        for (; end < n && keys[order[end]] == key; ++end) {
            const std::uint32_t row = order[end];
            const auto at = static_cast<std::size_t>(level[row]);
            const E entry = make(static_cast<std::uint32_t>(first), row);
            scratch.entries[at + scratch.filled[at]++] = entry;
            run.add(entry);
        }
        tied += run.pairs();
    }
    return tied;
}

// Entries of a level stand together, and those of equal value among them too.
template <class E>
typename E::Sum count_tied_both(const PairScratch<E>& scratch, std::int64_t n) {
    typename E::Sum tied = 0;
    for (std::int64_t start = 0; start < n;) {
        const std::int64_t end = start + scratch.filled[static_cast<std::size_t>(start)];
        while (start < end) {
            Group<E> run;
            const std::uint32_t value = scratch.entries[static_cast<std::size_t>(start)].value;
            for (; start < end && scratch.entries[static_cast<std::size_t>(start)].value == value; ++start) {
                run.add(scratch.entries[static_cast<std::size_t>(start)]);
            }
            tied += run.pairs();
        }
    }
    return tied;
}

template <class E, class MakeEntry>
void count_all(QueryRows rows, const std::int64_t* level, const double* scores,
               PairCounts<typename E::Sum> out, int n_threads, MakeEntry make) {
    using Scratch = PairScratch<E>;
    for_each_query<Scratch>(rows, n_threads, [&](std::int64_t q, Scratch& scratch, int threads) {
        const std::int64_t start = rows.offsets[q];
        const std::int64_t n = rows.offsets[q + 1] - start;
        scratch.sort.keys.resize(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i) {
            scratch.sort.keys[static_cast<std::size_t>(i)] = descending_key(scores[start + i]);
        }
        stable_argsort(n, scratch.sort, threads);
        out.tied_scores[q] =
            place_entries(level + start, n, scratch,
                          [&](std::uint32_t value, std::int64_t row) { return make(value, start + row); });
        out.tied_both[q] = count_tied_both(scratch, n);
        out.discordant[q] = n > kEntriesPerChunk ? count_long(scratch.entries, scratch.spare, n, threads)
                                                 : count_inversions(scratch.entries.data(),
                                                                    scratch.spare.data(), n, top_shift(n));
    });
}

}  // namespace

void count_pairs(QueryRows rows, const std::int64_t* level, const double* scores,
                 PairCounts<std::int64_t> out, int n_threads) {
    count_all<Entry>(rows, level, scores, out, n_threads,
                     [](std::uint32_t value, std::int64_t) { return Entry{value}; });
}

void count_weighted_pairs(QueryRows rows, const std::int64_t* level, const double* scores,
                          const double* row_weight, PairCounts<double> out, int n_threads) {
    count_all<WeightedEntry>(rows, level, scores, out, n_threads,
                             [row_weight](std::uint32_t value, std::int64_t row) {
                                 return WeightedEntry{value, row_weight[row]};
                             });
}

}  // namespace rankwise
