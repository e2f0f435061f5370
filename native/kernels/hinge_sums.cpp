#include <algorithm>
#include <vector>

#include "kernels/compiler.hpp"
#include "kernels/hinge.hpp"
#include "kernels/parallel.hpp"
#include "kernels/prefix_tree.hpp"
#include "kernels/query_tasks.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kMaxParts = 8;
constexpr std::int64_t kFetchAhead = 16;

// The positions [begin, end) in the score order of one query of n rows.
struct Part {
    std::int64_t n;
    std::int64_t begin;
    std::int64_t end;
    const std::int32_t* lower;
    const std::int32_t* upper;
    const std::int32_t* by_score;
    const double* score;
    const double* values;
    double* above;
    double* below;
};

// Rows as bits, with a tree over 64-bit words. Counts are exact.
class BitCounter {
  public:
    RANKWISE_INLINE void reset(const Part& part) {
        const std::int64_t n_words = part.n / 64 + 1;
        words_.assign(static_cast<std::size_t>(n_words), 0);
        tree_.reset(n_words);
        n_added_ = part.begin;
        if (part.begin == 0) return;
        for (std::int64_t p = 0; p < part.begin; ++p) set(part.by_score[p]);
        for (std::int64_t word = 0; word < n_words; ++word) {
            tree_.put(word, ones(words_[static_cast<std::size_t>(word)]));
        }
        tree_.build();
    }
    RANKWISE_INLINE void add(std::int64_t row) {
        set(row);
        tree_.add(row >> 6, 1);
        ++n_added_;
    }
    // Over the added rows at or after `row`.
    RANKWISE_INLINE double from(std::int64_t row) const {
        return static_cast<double>(n_added_ - before(row));
    }
    // Over the rows before `row` that have not been added yet.
    RANKWISE_INLINE double missing_before(std::int64_t row) const {
        return static_cast<double>(row - before(row));
    }
    RANKWISE_INLINE void fetch_to_add(std::int64_t) const {}
    RANKWISE_INLINE void fetch_to_ask(std::int64_t) const {}

  private:
    RANKWISE_INLINE void set(std::int64_t row) {
        words_[static_cast<std::size_t>(row >> 6)] |= std::uint64_t{1} << (row & 63);
    }
    RANKWISE_INLINE std::int64_t before(std::int64_t row) const {
        const std::uint64_t earlier = (std::uint64_t{1} << (row & 63)) - 1;
        return static_cast<std::int64_t>(tree_.before(row >> 6) +
                                         ones(words_[static_cast<std::size_t>(row >> 6)] & earlier));
    }
    RANKWISE_INLINE static std::uint32_t ones(std::uint64_t word) {
        return static_cast<std::uint32_t>(count_ones(word));
    }

    std::vector<std::uint64_t> words_;
    PrefixTree<std::uint32_t> tree_;
    std::int64_t n_added_ = 0;
};

// Row values, in a tree over the rows.
class ValueCounter {
  public:
    RANKWISE_INLINE void reset(const Part& part) {
        values_ = part.values;
        ahead_.resize(static_cast<std::size_t>(part.n) + 1);
        for (std::int64_t i = 0; i < part.n; ++i) {
            ahead_[static_cast<std::size_t>(i) + 1] = ahead_[static_cast<std::size_t>(i)] + values_[i];
        }
        tree_.reset(part.n);
        sum_added_ = 0.0;
        if (part.begin == 0) return;
        for (std::int64_t p = 0; p < part.begin; ++p) {
            const std::int32_t row = part.by_score[p];
            tree_.put(row, values_[row]);
            sum_added_ += values_[row];
        }
        tree_.build();
    }
    RANKWISE_INLINE void add(std::int64_t row) {
        tree_.add(row, values_[row]);
        sum_added_ += values_[row];
    }
    RANKWISE_INLINE double from(std::int64_t row) const { return sum_added_ - tree_.before(row); }
    RANKWISE_INLINE double missing_before(std::int64_t row) const {
        return ahead_[static_cast<std::size_t>(row)] - tree_.before(row);
    }
    RANKWISE_INLINE void fetch_to_add(std::int64_t row) const {
        fetch_to_read(values_ + row);
        tree_.fetch_to_add(row);
    }
    RANKWISE_INLINE void fetch_to_ask(std::int64_t row) const {
        fetch_to_read(ahead_.data() + row);
        tree_.fetch_to_ask(row);
    }

  private:
    const double* values_ = nullptr;
    std::vector<double> ahead_{0.0};
    PrefixTree<double> tree_;
    double sum_added_ = 0.0;
};

// Rows are visited in order of score, so accesses by row are random: prefetch some rows ahead.
template <class Counter>
RANKWISE_INLINE void fetch(const Part& part, const Counter& counter, std::int64_t position,
                           const std::int32_t* bound, const double* out) {
    const std::int64_t last = part.n - 1;
    fetch_to_read(bound + part.by_score[std::min(position + 2 * kFetchAhead, last)]);
    const std::int32_t row = part.by_score[std::min(position + kFetchAhead, last)];
    fetch_to_write(out + row);
    counter.fetch_to_ask(bound[row]);
}

// Whether scores this far apart are inside the margin; decided only here.
RANKWISE_INLINE bool is_active(double upper_score, double lower_score) {
    return upper_score - lower_score < 1.0;
}

// Rows are added in order of score, and each makes two queries between additions.
template <class Counter>
RANKWISE_INLINE void sweep(const Part part, Counter& counter) {
    counter.reset(part);
    const double* score = part.score;
    std::int64_t up = 0;    // the next row to query for rows with higher labels
    std::int64_t down = 0;  // and for rows with lower labels
    if (part.begin > 0) {   // queries due before the first addition belong to the previous part
        const double at = score[part.begin];
        up =
            std::partition_point(score, score + part.n, [at](double f) { return !is_active(at, f); }) - score;
        down =
            std::partition_point(score, score + part.n, [at](double f) { return is_active(f, at); }) - score;
    }
    for (std::int64_t p = part.begin;; ++p) {
        for (; down < part.n && (p == part.n || is_active(score[down], score[p])); ++down) {
            fetch(part, counter, down, part.lower, part.below);
            const std::int32_t row = part.by_score[down];
            part.below[row] = counter.missing_before(part.lower[row]);
        }
        for (; up < part.n && (p == part.n || !is_active(score[p], score[up])); ++up) {
            fetch(part, counter, up, part.upper, part.above);
            const std::int32_t row = part.by_score[up];
            part.above[row] = counter.from(part.upper[row]);
        }
        if (p == part.end) return;
        counter.fetch_to_add(part.by_score[std::min(p + kFetchAhead, part.n - 1)]);
        counter.add(part.by_score[p]);
    }
}

RANKWISE_MULTIVERSION
void count_part(const Part& part, BitCounter& counter) {
    sweep(part, counter);
}

RANKWISE_MULTIVERSION
void sum_part(const Part& part, ValueCounter& counter) {
    sweep(part, counter);
}

}  // namespace

void sum_active(LabelledQueries rows, ScoreOrder order, const double* values, double* above, double* below,
                int n_threads) {
    const std::vector<QueryTask> tasks = query_tasks(rows.offsets, rows.n_queries, kMaxParts);
    for_each_chunk(static_cast<std::int64_t>(tasks.size()), n_threads, [&](std::int64_t index) {
        BitCounter bits;
        ValueCounter sums;
        const QueryTask& task = tasks[static_cast<std::size_t>(index)];
        for (std::int64_t q = task.first; q < task.last; ++q) {
            const std::int64_t start = rows.offsets[q];
            const std::int64_t n = rows.offsets[q + 1] - start;
            const Part part{n,
                            n * task.part / task.n_parts,
                            n * (task.part + 1) / task.n_parts,
                            rows.lower + start,
                            rows.upper + start,
                            order.row + start,
                            order.score + start,
                            values ? values + start : nullptr,
                            above + start,
                            below + start};
            if (values) {
                sum_part(part, sums);
            } else {
                count_part(part, bits);
            }
        }
    });
}

}  // namespace rankwise
