// The rows of a query ordered by a score vector, and its pair counts, both updated as the scores change.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/buffer.hpp"
#include "kernels/sorting.hpp"

namespace rankwise {

// Rows by descending score, equal scores by descending label. Updating to other scores takes O(h + pairs that
// change order) for h rows, and never more than a constant times count_pairs.
class CountedOrder {
  public:
    // Rows are given by descending label. Score vectors hold the score of row i in column column[i]; level[i]
    // is as in count_pairs, and level_of[c] is the level of the row in column c.
    CountedOrder(const std::int64_t* column, const std::int64_t* level, const std::int64_t* level_of,
                 std::int64_t n)
        : column_(column), level_(level), level_of_(level_of), n_(n), order_(column, column + n) {}

    void move_to(const double* score);

    std::int64_t discordant() const { return discordant_; }
    std::int64_t tied_scores() const { return tied_scores_; }
    std::int64_t tied_both() const { return tied_both_; }

  private:
    bool insert_all(const double* score);
    std::int64_t insert(const double* score, std::int64_t start);
    void start_at(const double* score);
    void count_tied(const double* score);

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

}  // namespace rankwise
