// Where the regularization path of a ranking SVM goes next: one pass over the pairs that could matter.
#pragma once

#include <cstdint>

namespace rankwise {

// Pair p asks for better[p] above worse[p]. Its side is +1 while its multiplier is zero (its slack
// s = g_better - g_worse - level must not be negative), -1 while it is at the box (the slack must not be
// positive) and 0 while it is free. Only the pairs named by `watched`, in ascending order, are looked at.
struct Pairs {
    const std::int32_t* better;
    const std::int32_t* worse;
    const std::int8_t* side;
    const std::int64_t* watched;
    std::int64_t count;
};

// Pairs at a bound whose slack is zero within `tolerance` or wrong; their numbers go to `near` in ascending
// order (capacity: pairs.count), and the largest amount by which any slack is wrong to `violation`.
std::int64_t near_margin(Pairs pairs, const double* g, double level, double tolerance, std::int64_t* near,
                         double* violation);

// The largest decrease of the level, at most `longest`, before the slack of a pair at a bound turns wrong,
// when g moves by `direction` per unit of decrease; a slack that moves slower than `tolerance` stands still.
double longest_step(Pairs pairs, const double* g, const double* direction, double level, double tolerance,
                    double longest, int n_threads);

// out = the sum over r of weight[r] times row rows[r] of the n x n matrix.
void combine_rows(const double* matrix, std::int64_t n, const std::int64_t* rows, const double* weight,
                  std::int64_t n_rows, double* out, int n_threads);

}  // namespace rankwise
