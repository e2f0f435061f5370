#include "kernels/nearby_counts.hpp"

#include <algorithm>
#include <vector>

#include "kernels/buffer.hpp"
#include "kernels/parallel.hpp"
#include "kernels/sorting.hpp"

namespace rankwise {
namespace {

// Every chunk of vectors starts with a sort of its own, so that threads can share them.
constexpr std::int64_t kScoresPerChunk = std::int64_t{1} << 20;
// Places that rows may move, per row, before sorting afresh is cheaper.
constexpr std::int64_t kMovesPerRow = 16;

// The rows of a query, as their columns, by descending score, equal scores by descending label; and the pairs
// counted in that order.
class CountedOrder {
  public:
    // level_of[c] is the level of the row in column c.
    CountedOrder(const std::int64_t* column, const std::int64_t* level, const std::int64_t* level_of,
                 std::int64_t n)
        : column_(column), level_(level), level_of_(level_of), n_(n), order_(column, column + n) {}

    // Move to the order of these scores: by insertion from the present order if few rows change places.
    void move_to(const double* score) {
        if (!insert_all(score)) start_at(score);
        tied_scores_ = tied_both_ = 0;
        if (any_tied_) count_tied(score);
    }

    std::int64_t discordant() const { return discordant_; }
    std::int64_t tied_scores() const { return tied_scores_; }
    std::int64_t tied_both() const { return tied_both_; }

  private:
    // Insertion sort that keeps count; false when it gives up. A pair is discordant exactly when it stands
    // against its labels, since tied scores never do.
    bool insert_all(const double* score) {
        any_tied_ = false;
        std::int64_t left = kMovesPerRow * n_;
        double before = score[order_[0]];
        for (std::int64_t i = 1; i < n_; ++i) {
            const double own = score[order_[place(i)]];
            if (own >= before) {
                left -= insert(score, i);
                if (left < 0) return false;
            }
            before = score[order_[place(i)]];
        }
        return true;
    }

    // Move the row at a place forward to where it belongs; by how many places.
    std::int64_t insert(const double* score, std::int64_t start) {
        const std::int64_t row = order_[place(start)];
        const double own = score[row];
        std::int64_t i = start;
        for (; i > 0; --i) {
            const std::int64_t other = order_[place(i - 1)];
            const int against = (level_of_[row] > level_of_[other]) - (level_of_[row] < level_of_[other]);
            const bool tied = score[other] == own;
            any_tied_ |= tied;
            if (score[other] > own || (tied && against >= 0)) break;
            discordant_ += against;
            order_[place(i)] = other;
        }
        order_[place(i)] = row;
        return start - i;
    }

    void start_at(const double* score) {
        double* own = scores_.resize(n_);
        for (std::int64_t i = 0; i < n_; ++i) own[i] = score[column_[i]];
        sort_descending(own, n_, sort_, 1);
        for (std::int64_t i = 0; i < n_; ++i) order_[place(i)] = column_[sort_.order[i]];
        const std::int64_t offsets[] = {0, n_};
        count_pairs({offsets, 1}, level_, own, {&discordant_, &tied_scores_, &tied_both_}, 1);
        any_tied_ = tied_scores_ > 0;
    }

    void count_tied(const double* score) {
        std::int64_t same_score = 0;
        std::int64_t same_level = 0;
        for (std::int64_t i = 1; i < n_; ++i) {
            const std::int64_t row = order_[place(i)];
            const std::int64_t other = order_[place(i - 1)];
            const bool tied = score[row] == score[other];
            const bool both = tied && level_of_[row] == level_of_[other];
            same_score = tied ? same_score + 1 : 0;
            same_level = both ? same_level + 1 : 0;
            tied_scores_ += same_score;
            tied_both_ += same_level;
        }
    }

    static std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

    const std::int64_t* column_;
    const std::int64_t* level_;
    const std::int64_t* level_of_;
    std::int64_t n_;
    std::vector<std::int64_t> order_;
    SortScratch sort_;
    Buffer<double> scores_;
    std::int64_t discordant_ = 0;
    std::int64_t tied_scores_ = 0;
    std::int64_t tied_both_ = 0;
    bool any_tied_ = false;
};

}  // namespace

void count_nearby_pairs(QueryRows rows, const std::int64_t* level, const std::int64_t* column,
                        const double* scores, std::int64_t n_vectors, PairCounts<std::int64_t> out,
                        int n_threads) {
    const std::int64_t n_rows = rows.offsets[rows.n_queries];
    std::vector<std::int64_t> level_of(static_cast<std::size_t>(n_rows));
    for (std::int64_t i = 0; i < n_rows; ++i) level_of[static_cast<std::size_t>(column[i])] = level[i];
    const std::int64_t per_chunk = std::max<std::int64_t>(1, kScoresPerChunk / n_rows);
    const std::int64_t n_chunks = (n_vectors + per_chunk - 1) / per_chunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const std::int64_t last = std::min(n_vectors, (chunk + 1) * per_chunk);
        for (std::int64_t q = 0; q < rows.n_queries; ++q) {
            const std::int64_t first = rows.offsets[q];
            CountedOrder counted(column + first, level + first, level_of.data(), rows.offsets[q + 1] - first);
            for (std::int64_t t = chunk * per_chunk; t < last; ++t) {
                counted.move_to(scores + t * n_rows);
                const std::int64_t cell = t * rows.n_queries + q;
                out.discordant[cell] = counted.discordant();
                out.tied_scores[cell] = counted.tied_scores();
                out.tied_both[cell] = counted.tied_both();
            }
        }
    });
}

}  // namespace rankwise
