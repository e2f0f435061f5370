// The part of PathWalk that finds the direction at a breakpoint.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/path_walk.hpp"

namespace rankwise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Slacks that change less than this per unit of the level count as constant.
constexpr double kRateTolerance = 1e-9;
// Multipliers that would change less than this per unit of another's do not limit it.
constexpr double kTradeTolerance = 1e-12;

// Rates this far below the largest are zeros up to rounding. Taken literally, they would move a multiplier
// off its bound by almost nothing, and the next step would have length zero.
constexpr double kZeroRate = 1e-14;

void drop_rounding(std::vector<double>& rates) {
    double largest = 0.0;
    for (const double rate : rates) largest = std::max(largest, std::abs(rate));
    for (double& rate : rates) rate = std::abs(rate) <= kZeroRate * largest ? 0.0 : rate;
}

}  // namespace

// Find the direction at this point.
void PathWalk::turn() {
    refused_.clear();
    settle();
    for (;;) {
        const std::int64_t pair = most_wrong();
        if (pair < 0) return;
        release(pair);
        settle();
        if (side_[static_cast<std::size_t>(pair)] != free_pair) refused_.push_back(pair);
    }
}

// Move the rates to the solution over the free pairs; bind the pairs whose multiplier would leave its box.
void PathWalk::settle() {
    std::vector<double> target;
    std::vector<double> shares;
    for (;;) {
        const auto& free = elbow_.pairs();
        target.assign(free.size(), -1.0);
        elbow_.solve(target);
        drop_rounding(target);
        shares.assign(free.size(), kInfinity);
        double share = kInfinity;
        for (std::size_t b = 0; b < free.size(); ++b) {
            const double a = a_[static_cast<std::size_t>(free[b])];
            const bool leaves =
                (a <= 0.0 && target[b] < 0.0) || (a >= pairs_.weight[free[b]] && target[b] > 0.0);
            if (!leaves) continue;
            shares[b] = std::max(0.0, rate_[b] / (rate_[b] - target[b]));
            share = std::min(share, shares[b]);
        }
        if (share == kInfinity) break;
        for (std::size_t b = 0; b < free.size(); ++b) rate_[b] += share * (target[b] - rate_[b]);
        for (std::size_t b = free.size(); b-- > 0;) {
            if (shares[b] <= share) {
                bind(b, a_[static_cast<std::size_t>(elbow_.pairs()[b])] <= 0.0 ? at_zero : at_box);
            }
        }
    }
    rate_ = target;
    std::vector<double> rows(g_.size(), 0.0);
    const auto& free = elbow_.pairs();
    for (std::size_t b = 0; b < free.size(); ++b) {
        rows[static_cast<std::size_t>(pairs_.better[free[b]])] += rate_[b];
        rows[static_cast<std::size_t>(pairs_.worse[free[b]])] -= rate_[b];
    }
    combine(rows, flow_);
    double error = 0.0;
    for (const std::int64_t p : free) {
        error = std::max(error, std::abs(pairs_.difference(flow_.data(), p) + 1.0));
    }
    rate_tolerance_ = std::max(kRateTolerance, 10.0 * error);
}

// The near pair whose slack would become infeasible fastest, or -1.
std::int64_t PathWalk::most_wrong() const {
    std::int64_t found = -1;
    double worst = rate_tolerance_;
    for (const std::int64_t p : near_) {
        const double wrong = -(pairs_.difference(flow_.data(), p) + 1.0) * side_[static_cast<std::size_t>(p)];
        if (wrong <= worst || std::find(refused_.begin(), refused_.end(), p) != refused_.end()) continue;
        worst = wrong;
        found = p;
    }
    return found;
}

// Let a pair at a bound become free; false if it stays bound.
bool PathWalk::release(std::int64_t pair) {
    if (!elbow_.append(pair) && !exchange(pair)) return false;
    rate_.push_back(0.0);
    set_side(pair, free_pair);
    return true;
}

// Move a dependent pair into its box at the expense of the pairs it depends on, which changes no score. Exact
// arithmetic never gets here, but rounding does when pairs are nearly dependent. The first pair to reach a
// bound stays there: either a free pair, which the new one replaces, or the pair itself.
bool PathWalk::exchange(std::int64_t pair) {
    const auto& free = elbow_.pairs();
    if (free.empty()) return false;
    const Side side = static_cast<Side>(side_[static_cast<std::size_t>(pair)]);
    std::vector<double> trade = elbow_.coordinates(pair);
    std::size_t first = 0;
    double shortest = kInfinity;
    for (std::size_t b = 0; b < free.size(); ++b) {
        trade[b] *= -static_cast<double>(side);
        if (std::abs(trade[b]) <= kTradeTolerance) continue;
        const double a = a_[static_cast<std::size_t>(free[b])];
        const double length = (trade[b] > 0.0 ? pairs_.weight[free[b]] - a : a) / std::abs(trade[b]);
        if (length < shortest) {
            shortest = length;
            first = b;
        }
    }
    const double length = std::min(shortest, pairs_.weight[pair]);
    for (std::size_t b = 0; b < free.size(); ++b) {
        a_[static_cast<std::size_t>(free[b])] += length * trade[b];
        moved_.push_back(free[b]);
    }
    if (length < shortest) {
        const Side opposite = side == at_box ? at_zero : at_box;
        a_[static_cast<std::size_t>(pair)] = bound(pair, opposite);
        set_side(pair, opposite);
        return false;
    }
    a_[static_cast<std::size_t>(pair)] += length * static_cast<double>(side);
    bind(first, trade[first] > 0.0 ? at_box : at_zero);
    if (elbow_.append(pair)) return true;
    a_[static_cast<std::size_t>(pair)] = bound(pair, side);
    return false;
}

}  // namespace rankwise
