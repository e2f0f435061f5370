#include "kernels/path_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Slacks within this share of the level are zero; multipliers within this share of their box are at a bound.
constexpr double kSlackTolerance = 1e-10;
constexpr double kBoundTolerance = 1e-12;
// Slacks that change slower than this per unit of the level stand still.
constexpr double kRateTolerance = 1e-9;
// Pairs looked at on every event: one in so many, but not fewer than a handful, nor a sliver of slack.
constexpr std::int64_t kWatchedShare = 32;
constexpr std::int64_t kMinWatched = 1024;
constexpr double kMinWatchedSlack = 1e-6;
// Scores are recomputed after so many events, and when the violation passes this share of the tolerance.
constexpr std::size_t kRefreshEvery = 256;
constexpr double kRefreshShare = 1e-3;
// So many events in a row without progress mean that rounding has the upper hand.
constexpr std::int64_t kMaxStalled = 10'000;
constexpr std::int64_t kColumnsPerChunk = 1 << 10;

}  // namespace

PathWalk::PathWalk(KernelMatrix kernel, WeightedPairs pairs, int n_threads)
    : kernel_(kernel),
      pairs_(pairs),
      n_threads_(n_threads),
      a_(pairs.weight, pairs.weight + pairs.count),
      side_(static_cast<std::size_t>(pairs.count), at_box),
      n_at_box_(pairs.count),
      g_(static_cast<std::size_t>(kernel.n)),
      elbow_(kernel, pairs),
      flow_(static_cast<std::size_t>(kernel.n), 0.0),
      recorded_(a_) {
    recompute_scores();
    for (std::int64_t p = 0; p < pairs.count; ++p) {
        level_ = std::max(level_, pairs.difference(g_.data(), p));
    }
    watch();
}

WalkState PathWalk::follow(const WalkLimits& limits, std::int64_t n_events) {
    WalkState state = WalkState::running;
    for (std::int64_t k = 0; k < n_events && state == WalkState::running; ++k) state = event(limits);
    return state;
}

WalkState PathWalk::event(const WalkLimits& limits) {
    look_near();
    const std::size_t n_events = log_.levels.size();
    if (violation_ > kRefreshShare * limits.tolerance || n_events % kRefreshEvery == kRefreshEvery - 1) {
        refresh();
        look_near();
    }
    if (!(violation_ <= limits.tolerance)) return WalkState::violated;
    log_.levels.push_back(level_);
    log_.violations.push_back(violation_);
    if (level_ <= limits.floor) return WalkState::reached_floor;
    if (limits.max_events >= 0 && static_cast<std::int64_t>(n_events) >= limits.max_events) {
        return WalkState::max_events;
    }
    turn();
    if (n_at_box_ == 0) return WalkState::all_satisfied;
    const std::vector<std::int64_t> free = elbow_.pairs();
    const double before = level_;
    advance(limits.floor);
    record(free);
    stalled_ = level_ >= before * (1.0 - 1e-15) ? stalled_ + 1 : 0;
    return stalled_ > kMaxStalled ? WalkState::stalled : WalkState::running;
}

// Pairs at a bound whose slack is zero or wrong, and the largest violation of any condition.
void PathWalk::look_near() {
    near_.clear();
    double worst = 0.0;
    const double tolerance = kSlackTolerance * level_;
    for (const std::int64_t p : watched_) {
        const double room = side_[static_cast<std::size_t>(p)] * slack(p);
        if (room > tolerance || side_[static_cast<std::size_t>(p)] == free_pair) continue;
        near_.push_back(p);
        worst = std::max(worst, -room);
    }
    for (const std::int64_t p : elbow_.pairs()) worst = std::max(worst, std::abs(slack(p)));
    violation_ = worst / level_;
}

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

// Move the rates to the solution over the free pairs; bind those whose rate would leave the box.
void PathWalk::settle() {
    std::vector<double> target;
    std::vector<double> shares;
    for (;;) {
        const auto& free = elbow_.pairs();
        target.assign(free.size(), -1.0);
        elbow_.solve(target);
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

// The near pair whose slack would turn wrong fastest, or -1.
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

// Move a dependent pair into its box at the cost of those it depends on, which changes no score. Exact
// arithmetic never comes here; rounding does, when pairs are nearly dependent. The first to arrive at a bound
// is bound there: a free pair, whose place the new one takes, or the pair itself.
bool PathWalk::exchange(std::int64_t pair) {
    const auto& free = elbow_.pairs();
    if (free.empty()) return false;
    const Side side = static_cast<Side>(side_[static_cast<std::size_t>(pair)]);
    std::vector<double> trade = elbow_.coordinates(pair);
    std::size_t first = 0;
    double shortest = kInfinity;
    for (std::size_t b = 0; b < free.size(); ++b) {
        trade[b] *= -static_cast<double>(side);
        if (std::abs(trade[b]) <= 1e-12) continue;
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

// Lower the level to the next event, or to the floor.
void PathWalk::advance(double floor) {
    const auto& free = elbow_.pairs();
    std::vector<double> lengths(free.size(), kInfinity);
    double longest = level_ - floor;
    for (std::size_t b = 0; b < free.size(); ++b) {
        if (rate_[b] == 0.0) continue;
        const double a = a_[static_cast<std::size_t>(free[b])];
        const double room = rate_[b] > 0.0 ? pairs_.weight[free[b]] - a : a;
        lengths[b] = room / std::abs(rate_[b]);
        longest = std::min(longest, lengths[b]);
    }
    const double step = first_event(longest);
    for (std::size_t i = 0; i < g_.size(); ++i) g_[i] += step * flow_[i];
    level_ = step >= level_ - floor ? floor : level_ - step;
    for (std::size_t b = free.size(); b-- > 0;) {
        const std::int64_t p = elbow_.pairs()[b];
        a_[static_cast<std::size_t>(p)] += step * rate_[b];
        const double left = (lengths[b] - step) * std::abs(rate_[b]);
        if (lengths[b] < kInfinity && left <= kBoundTolerance * pairs_.weight[p]) {
            bind(b, rate_[b] > 0.0 ? at_box : at_zero);
        }
    }
    if (slack_left_ <= 0.0) watch();
}

// The largest step, at most `longest`, before the slack of a pair at a bound turns wrong.
double PathWalk::first_event(double longest) {
    const auto [lowest, highest] = std::minmax_element(flow_.begin(), flow_.end());
    const double fastest = 1.0 + (*highest - *lowest);
    double step = longest_step(watched_, longest);
    if (step * fastest > slack_left_) {
        std::vector<std::int64_t> everyone(static_cast<std::size_t>(pairs_.count));
        std::iota(everyone.begin(), everyone.end(), 0);
        step = longest_step(everyone, longest);
    }
    slack_left_ -= step * fastest;
    return step;
}

double PathWalk::longest_step(const std::vector<std::int64_t>& watched, double longest) const {
    double best = longest;
    for (const std::int64_t p : watched) {
        const double side = side_[static_cast<std::size_t>(p)];
        const double rate = -side * (pairs_.difference(flow_.data(), p) + 1.0);
        if (rate <= rate_tolerance_) continue;
        const double room = side * slack(p);
        if (room < best * rate) best = std::max(room, 0.0) / rate;
    }
    return best;
}

// Choose the pairs of least slack to look at until any other could have come to zero. Every slack moves by at
// most (1 + max dg - min dg) times the step, so the others need no look before such moves sum up to the least
// of their slacks: an event costs O(watched), not O(pairs).
void PathWalk::watch() {
    const std::int64_t target = std::max(kMinWatched, pairs_.count / kWatchedShare);
    double bound = kInfinity;
    if (target < pairs_.count) {
        std::vector<double> rooms(static_cast<std::size_t>(pairs_.count));
        for (std::int64_t p = 0; p < pairs_.count; ++p) {
            rooms[static_cast<std::size_t>(p)] = side_[static_cast<std::size_t>(p)] * slack(p);
        }
        std::nth_element(rooms.begin(), rooms.begin() + target, rooms.end());
        bound = std::max(rooms[static_cast<std::size_t>(target)], kMinWatchedSlack * level_);
    }
    watched_.clear();
    for (std::int64_t p = 0; p < pairs_.count; ++p) {
        if (side_[static_cast<std::size_t>(p)] * slack(p) <= bound) watched_.push_back(p);
    }
    slack_left_ = bound;
}

// Recompute the scores, and bring the slacks of the free pairs back to zero.
void PathWalk::refresh() {
    recompute_scores();
    if (elbow_.size() == 0) return;
    elbow_.refactor();
    const auto& free = elbow_.pairs();
    std::vector<double> wrong(free.size());
    for (std::size_t b = 0; b < free.size(); ++b) wrong[b] = slack(free[b]);
    elbow_.solve(wrong);
    for (std::size_t b = 0; b < free.size(); ++b) {
        double& a = a_[static_cast<std::size_t>(free[b])];
        a = std::clamp(a - wrong[b], 0.0, pairs_.weight[free[b]]);
    }
    recompute_scores();
}

// Write down what the step from the last breakpoint has changed.
void PathWalk::record(const std::vector<std::int64_t>& free) {
    moved_.insert(moved_.end(), free.begin(), free.end());
    std::sort(moved_.begin(), moved_.end());
    moved_.erase(std::unique(moved_.begin(), moved_.end()), moved_.end());
    for (const std::int64_t p : moved_) {
        const auto at = static_cast<std::size_t>(p);
        log_.pairs.push_back(static_cast<std::int32_t>(p));
        log_.changes.push_back(a_[at] - recorded_[at]);
        recorded_[at] = a_[at];
    }
    moved_.clear();
    log_.active_sizes.push_back(static_cast<std::int64_t>(free.size()));
    log_.offsets.push_back(static_cast<std::int64_t>(log_.pairs.size()));
}

void PathWalk::bind(std::size_t position, Side side) {
    const std::int64_t pair = elbow_.pairs()[position];
    a_[static_cast<std::size_t>(pair)] = bound(pair, side);
    elbow_.remove(position);
    rate_.erase(rate_.begin() + static_cast<std::ptrdiff_t>(position));
    set_side(pair, side);
}

void PathWalk::set_side(std::int64_t pair, Side side) {
    std::int8_t& current = side_[static_cast<std::size_t>(pair)];
    n_at_box_ += (side == at_box ? 1 : 0) - (current == at_box ? 1 : 0);
    current = side;
    moved_.push_back(pair);
}

// g = K Pᵀ a.
void PathWalk::recompute_scores() {
    std::vector<double> rows(g_.size(), 0.0);
    for (std::int64_t p = 0; p < pairs_.count; ++p) {
        rows[static_cast<std::size_t>(pairs_.better[p])] += a_[static_cast<std::size_t>(p)];
        rows[static_cast<std::size_t>(pairs_.worse[p])] -= a_[static_cast<std::size_t>(p)];
    }
    combine(rows, g_);
}

// out = K times the rows' weights; rows of weight zero cost nothing.
void PathWalk::combine(const std::vector<double>& row_weight, std::vector<double>& out) const {
    const std::int64_t n_chunks = (kernel_.n + kColumnsPerChunk - 1) / kColumnsPerChunk;
    for_each_chunk(n_chunks, n_threads_, [&](std::int64_t chunk) {
        const std::int64_t first = chunk * kColumnsPerChunk;
        const std::int64_t last = std::min(kernel_.n, first + kColumnsPerChunk);
        std::fill(out.begin() + first, out.begin() + last, 0.0);
        for (std::int64_t r = 0; r < kernel_.n; ++r) {
            const double scale = row_weight[static_cast<std::size_t>(r)];
            if (scale == 0.0) continue;
            const double* values = kernel_.row(r);
            double* sums = out.data();
            for (std::int64_t c = first; c < last; ++c) sums[c] += scale * values[c];
        }
    });
}

}  // namespace rankwise
