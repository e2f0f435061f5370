#include "kernels/counted_order.hpp"

#include "kernels/pair_counts.hpp"

namespace rankwise {
namespace {

// Mean number of positions that a row may move before sorting from scratch is cheaper.
constexpr std::int64_t kMovesPerRow = 16;

}  // namespace

// Uses insertion sort from the current order if few rows change places.
void CountedOrder::move_to(const double* score, double rounding) {
    rounding_ = rounding;
    if (!insert_all(score)) start_at(score);
    tied_scores_ = tied_both_ = 0;
    if (any_tied_) count_tied(score);
}

// Insertion sort that updates the counts; false if it gives up. A pair is discordant exactly when its order
// contradicts the labels, which tied scores never do.
bool CountedOrder::insert_all(const double* score) {
    any_tied_ = doubtful_ = false;
    std::int64_t left = kMovesPerRow * n_;
    const std::int64_t* order = order_.data();
    double before = score[order[0]];
    for (std::int64_t i = 1; i < n_; ++i) {
        const double own = score[order[i]];
        if (before - own > rounding_) {
            before = own;
            continue;
        }
        if (own < before) {
            doubtful_ = true;
            before = own;
            continue;
        }
        left -= insert(score, i);
        if (left < 0) return false;
        before = score[order[i]];
    }
    return true;
}

// Move a row forward to its position; returns the number of positions moved.
std::int64_t CountedOrder::insert(const double* score, std::int64_t start) {
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
    // Of any two rows that end up side by side, the one placed last has the other beside it.
    if (i > 0) look_at(score, order_[place(i - 1)], row);
    if (i < start) look_at(score, row, order_[place(i + 1)]);
    return start - i;
}

// Whether rounding may have decided between two neighbours.
void CountedOrder::look_at(const double* score, std::int64_t above, std::int64_t below) {
    const double gap = score[above] - score[below];
    const bool twins = gap == 0.0 && twin_ != nullptr && twin_[above] == twin_[below];
    doubtful_ |= gap <= rounding_ && !twins;
}

void CountedOrder::start_at(const double* score) {
    double* own = scores_.resize(n_);
    for (std::int64_t i = 0; i < n_; ++i) own[i] = score[column_[i]];
    sort_descending(own, n_, sort_, 1);
    for (std::int64_t i = 0; i < n_; ++i) order_[place(i)] = column_[sort_.order[i]];
    const std::int64_t offsets[] = {0, n_};
    count_pairs({offsets, 1}, level_, own, {&discordant_, &tied_scores_, &tied_both_}, 1);
    any_tied_ = tied_scores_ > 0;
    doubtful_ = false;
    for (std::int64_t i = 1; i < n_; ++i) look_at(score, order_[place(i - 1)], order_[place(i)]);
}

void CountedOrder::count_tied(const double* score) {
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

}  // namespace rankwise
