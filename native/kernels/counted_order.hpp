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
    // is as in count_pairs, and level_of[c] is the level of the row in column c. Columns with the same number
    // in twin belong to identical rows; null means that there are none.
    CountedOrder(const std::int64_t* column, const std::int64_t* level, const std::int64_t* level_of,
                 const std::int64_t* twin, std::int64_t n)
        : column_(column),
          level_(level),
          level_of_(level_of),
          twin_(twin),
          n_(n),
          order_(column, column + n) {}

    // Scores no further apart than `rounding` may belong in either order.
    void move_to(const double* score, double rounding);

    std::int64_t discordant() const { return discordant_; }
    std::int64_t tied_scores() const { return tied_scores_; }
    std::int64_t tied_both() const { return tied_both_; }
    // Whether rounding may have decided the order, or a tie, of rows that are not twins.
    bool doubtful() const { return doubtful_; }

  private:
    bool insert_all(const double* score);
    std::int64_t insert(const double* score, std::int64_t start);
    void start_at(const double* score);
    void count_tied(const double* score);
    void look_at(const double* score, std::int64_t above, std::int64_t below);

    static std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

    const std::int64_t* column_;
    const std::int64_t* level_;
    const std::int64_t* level_of_;
    const std::int64_t* twin_;
    std::int64_t n_;
    std::vector<std::int64_t> order_;
    SortScratch sort_;
    Buffer<double> scores_;
    std::int64_t discordant_ = 0;
    std::int64_t tied_scores_ = 0;
    std::int64_t tied_both_ = 0;
    double rounding_ = 0.0;
    bool any_tied_ = false;
    bool doubtful_ = false;
};

}  // namespace rankwise
