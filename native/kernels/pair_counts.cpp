#include "kernels/pair_counts.hpp"

#include <algorithm>
#include <vector>

#include "kernels/buffer.hpp"
#include "kernels/each_query.hpp"
#include "kernels/inversions.hpp"
#include "kernels/sorting.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kEntriesPerChunk = std::int64_t{1} << 17;

template <class E>
struct PairScratch {
    SortScratch sort;
    Buffer<std::uint8_t> digit;    // of the level of each row, when there are few levels
    Buffer<std::uint32_t> placed;  // rows placed so far, at the first rank of each level
    Buffer<E> entries;
    Buffer<E> spare;
};

int bits_for(std::int64_t n) {
    int bits = 0;
    while ((n - 1) >> bits > 0) ++bits;
    return bits;
}

// The first pass over a long sequence, in chunks that threads can share.
template <class E>
class FirstPass {
  public:
    FirstPass(const E* entries, std::int64_t n, int n_threads)
        : entries_(entries),
          n_(n),
          shift_(shift_of(bits_for(n))),
          n_threads_(n_threads),
          n_chunks_((n + kEntriesPerChunk - 1) / kEntriesPerChunk),
          next_(static_cast<std::size_t>(n_chunks_)),
          above_(static_cast<std::size_t>(n_chunks_)) {
        for_each_chunk(n_chunks_, n_threads_, [this](std::int64_t chunk) { count_digits(chunk); });
        place_buckets();
        sum_above();
    }

    int shift() const { return shift_; }
    const PerBucket<std::int64_t>& starts() const { return starts_; }

    typename E::Sum run(E* target) {
        std::vector<typename E::Sum> parts(static_cast<std::size_t>(n_chunks_));
        for_each_chunk(n_chunks_, n_threads_, [&](std::int64_t chunk) {
            const auto c = static_cast<std::size_t>(chunk);
            parts[c] = distribute(entries_ + begin(chunk), entries_ + begin(chunk + 1), target, shift_,
                                  next_[c], typename E::Earlier(above_[c]));
        });
        typename E::Sum total = 0;
        for (const auto part : parts) total += part;
        return total;
    }

  private:
    std::int64_t begin(std::int64_t chunk) const { return std::min(n_, chunk * kEntriesPerChunk); }

    void count_digits(std::int64_t chunk) {
        auto& counts = next_[static_cast<std::size_t>(chunk)];
        auto& sums = above_[static_cast<std::size_t>(chunk)];
        counts.fill(0);
        sums.fill(0);
        for (std::int64_t i = begin(chunk); i < begin(chunk + 1); ++i) {
            const E& entry = entries_[i];
            const std::size_t digit = digit_of(entry.value, shift_);
            ++counts[digit];
            sums[digit] += entry.weight();
        }
    }

    // From counts per chunk and digit to where each chunk writes its entries of each digit.
    void place_buckets() {
        std::int64_t filled = 0;
        for (std::size_t d = 0; d < kBuckets; ++d) {
            starts_[d] = filled;
            for (auto& counts : next_) {
                const std::int64_t size = counts[d];
                counts[d] = filled;
                filled += size;
            }
        }
    }

    // From sums per chunk and digit to what earlier chunks hold above each digit.
    void sum_above() {
        PerBucket<typename E::Sum> before{};
        for (auto& sums : above_) {
            PerBucket<typename E::Sum> above{};
            for (std::size_t d = kBuckets - 1; d > 0; --d) above[d - 1] = above[d] + before[d];
            for (std::size_t d = 0; d < kBuckets; ++d) before[d] += sums[d];
            sums = above;
        }
    }

    const E* entries_;
    std::int64_t n_;
    int shift_;
    int n_threads_;
    std::int64_t n_chunks_;
    PerBucket<std::int64_t> starts_{};
    std::vector<PerBucket<std::int64_t>> next_;
    std::vector<PerBucket<typename E::Sum>> above_;
};

template <class E>
typename E::Sum count_long(PairScratch<E>& scratch, std::int64_t n, int n_threads) {
    FirstPass<E> pass(scratch.entries.data(), n, n_threads);
    typename E::Sum total = pass.run(scratch.spare.data());
    PerBucket<typename E::Sum> parts{};
    for_each_chunk(static_cast<std::int64_t>(kBuckets), n_threads, [&](std::int64_t digit) {
        const auto d = static_cast<std::size_t>(digit);
        const std::int64_t start = pass.starts()[d];
        const std::int64_t end = d + 1 < kBuckets ? pass.starts()[d + 1] : n;
        parts[d] = count_inversions(scratch.spare.data() + start, scratch.entries.data() + start, end - start,
                                    pass.shift());
    });
    for (const auto part : parts) total += part;
    return total;
}

// Weights of rows, and the weights of the pairs among them.
template <class Sum>
struct Group {
    Sum sum = 0;
    Sum pairs = 0;
    void add(Sum weight) {
        pairs += weight * sum;
        sum += weight;
    }
};

template <class Sum>
struct TiedPairs {
    Sum scores = 0;
    Sum both = 0;
};

// Rows come by descending score, tied rows by descending label.
template <class E, class MakeEntry>
TiedPairs<typename E::Sum> count_tied(const std::int64_t* level, std::int64_t n, const SortScratch& sort,
                                      MakeEntry make) {
    TiedPairs<typename E::Sum> tied;
    for (std::int64_t first = 0, end = 0; first < n; first = end) {
        ++end;
        if (end == n || !sort.tied[end]) continue;
        Group<typename E::Sum> run;
        Group<typename E::Sum> level_run;
        std::int64_t current = -1;
        for (std::int64_t i = first; i == first || (i < n && sort.tied[i]); ++i) {
            const std::uint32_t row = sort.order[i];
            if (level[row] != current) {
                tied.both += level_run.pairs;
                level_run = {};
                current = level[row];
            }
            const auto weight = make(0, row).weight();
            run.add(weight);
            level_run.add(weight);
            end = i + 1;
        }
        tied.scores += run.pairs;
        tied.both += level_run.pairs;
    }
    return tied;
}

// Entries by descending label and, within a level, by descending score, with their score rank as value: the
// inversions are the discordant pairs.
template <class E, class MakeEntry>
void place_entries(const std::int64_t* level, std::int64_t n, PairScratch<E>& scratch, MakeEntry make) {
    E* entries = scratch.entries.resize(n);
    scratch.spare.resize(n);
    const std::uint32_t* order = scratch.sort.order.data();
    bool distinct = true;
    for (std::int64_t i = 0; i < n; ++i) distinct &= level[i] == i;
    if (distinct) {
        for (std::int64_t rank = 0; rank < n; ++rank) {
            entries[order[rank]] = make(static_cast<std::uint32_t>(rank), order[rank]);
        }
        return;
    }
    std::uint32_t* placed = scratch.placed.resize(n);
    std::fill(placed, placed + n, 0);
    for (std::int64_t rank = 0; rank < n; ++rank) {
        const std::int64_t at = level[order[rank]];
        entries[at + placed[at]++] = make(static_cast<std::uint32_t>(rank), order[rank]);
    }
}

// Number the levels of a query by descending label; false if there are too many for one digit.
bool number_levels(const std::int64_t* level, std::int64_t n, Buffer<std::uint8_t>& digits) {
    std::uint8_t* digit = digits.resize(n);
    std::size_t n_levels = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (level[i] == i && ++n_levels > kBuckets) return false;
        digit[i] = static_cast<std::uint8_t>(n_levels - 1);
    }
    return true;
}

// Discordant pairs for few levels: each row, by descending score, with the earlier rows of lower labels.
template <class E, class MakeEntry>
typename E::Sum count_few_levels(std::int64_t n, const PairScratch<E>& scratch, MakeEntry make) {
    typename E::Earlier earlier({});
    typename E::Sum total = 0;
    for (std::int64_t rank = 0; rank < n; ++rank) {
        const std::uint32_t row = scratch.sort.order[rank];
        const std::size_t digit = scratch.digit[row];
        const E entry = make(0, row);
        total += entry.weight() * earlier.greater_than(digit);
        entry.add_to(earlier, digit);
    }
    return total;
}

template <class E, class MakeEntry>
typename E::Sum count_discordant(const std::int64_t* level, std::int64_t n, PairScratch<E>& scratch,
                                 int n_threads, MakeEntry make) {
    if (number_levels(level, n, scratch.digit)) return count_few_levels(n, scratch, make);
    place_entries(level, n, scratch, make);
    if (n > kEntriesPerChunk) return count_long(scratch, n, n_threads);
    return count_inversions(scratch.entries.data(), scratch.spare.data(), n, bits_for(n));
}

template <class E, class MakeEntry>
void count_all(QueryRows rows, const std::int64_t* level, const double* scores,
               PairCounts<typename E::Sum> out, int n_threads, MakeEntry make_entry) {
    using Scratch = PairScratch<E>;
    for_each_query<Scratch>(rows, n_threads, [&](std::int64_t q, Scratch& scratch, int threads) {
        const std::int64_t start = rows.offsets[q];
        const std::int64_t n = rows.offsets[q + 1] - start;
        const auto make = [&](std::uint32_t value, std::uint32_t row) {
            return make_entry(value, start + row);
        };
        sort_descending(scores + start, n, scratch.sort, threads);
        const auto tied = count_tied<E>(level + start, n, scratch.sort, make);
        out.tied_scores[q] = tied.scores;
        out.tied_both[q] = tied.both;
        out.discordant[q] = count_discordant(level + start, n, scratch, threads, make);
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
