#include "kernels/path_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/parallel.hpp"
#include "kernels/row_sums.hpp"

namespace rankwise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Slacks within this share of the level are zero; multipliers within this share of their box are at a bound.
constexpr double kSlackTolerance = 1e-10;
constexpr double kBoundTolerance = 1e-12;
// Scores and multipliers that would be off by at most this share at level zero count as settled.
constexpr double kSettledTolerance = 1e-9;
// Lower bounds on the number of watched pairs, and on the slack up to which pairs are watched.
constexpr std::int64_t kMinWatched = 1024;
constexpr double kMinWatchedSlack = 1e-6;
// The number of pairs sampled to decide which slacks to watch, and a prime stride that spreads them over the
// graph.
constexpr std::int64_t kSampled = 1 << 12;
constexpr std::int64_t kSampleStride = 2'147'483'647;
// Scores are recomputed after this many events, and when the violation exceeds this share of the tolerance.
constexpr std::size_t kRefreshEvery = 256;
constexpr double kRefreshShare = 1e-3;
// After this many consecutive events without progress, rounding errors are considered to dominate.
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
      n_to_watch_(kMinWatched),
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
    if (is_settled()) return WalkState::settled;
    const std::vector<std::int64_t> free = elbow_.pairs();
    const double before = level_;
    advance(limits.floor);
    record(free);
    stalled_ = level_ >= before * (1.0 - 1e-15) ? stalled_ + 1 : 0;
    return stalled_ > kMaxStalled ? WalkState::stalled : WalkState::running;
}

// Whether f = g / λ stays constant down to level zero: g shrinks in proportion to the level, so no slack
// changes sign, and no multiplier leaves its box on the way.
bool PathWalk::is_settled() {
    remaining_ = 0.0;
    if (n_at_box_ == 0) return true;
    double lowest = kInfinity, highest = -kInfinity;
    for (std::size_t i = 0; i < g_.size(); ++i) {
        const double at_zero_level = g_[i] + level_ * flow_[i];
        lowest = std::min(lowest, at_zero_level);
        highest = std::max(highest, at_zero_level);
    }
    remaining_ = highest - lowest;
    if (remaining_ > kSettledTolerance * level_) return false;
    const auto& free = elbow_.pairs();
    for (std::size_t b = 0; b < free.size(); ++b) {
        const double share =
            (a_[static_cast<std::size_t>(free[b])] + level_ * rate_[b]) / pairs_.weight[free[b]];
        if (share < -kSettledTolerance || share > 1.0 + kSettledTolerance) return false;
    }
    return true;
}

// Find the pairs at a bound whose slack is zero or infeasible, and the largest violation of any condition.
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

// The largest step, at most `longest`, before the slack of a pair at a bound becomes infeasible.
double PathWalk::first_event(double longest) {
    const auto [lowest, highest] = std::minmax_element(flow_.begin(), flow_.end());
    const double fastest = 1.0 + (*highest - *lowest);
    ++n_looks_;
    double step = longest_step(watched_, longest);
    if (step * fastest > slack_left_) {
        watch();
        step = longest_step(watched_, longest);
    }
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

// Choose the pairs with the least slack to examine until any other could reach zero. Every slack moves by at
// most (1 + max dg - min dg) times the step, so the others can be ignored until such moves add up to the
// least of their slacks: an event costs O(watched), not O(pairs).
void PathWalk::watch() {
    // Examining the watched pairs should take about as long as choosing them.
    const std::int64_t looks = n_looks_ * static_cast<std::int64_t>(watched_.size());
    if (looks < pairs_.count) n_to_watch_ = std::min(pairs_.count, 2 * n_to_watch_);
    if (looks > 4 * pairs_.count) n_to_watch_ = std::max(kMinWatched, n_to_watch_ / 2);
    n_looks_ = 0;
    const double bound = slack_to_watch();
    watched_.clear();
    for (std::int64_t p = 0; p < pairs_.count; ++p) {
        if (side_[static_cast<std::size_t>(p)] * slack(p) <= bound) watched_.push_back(p);
    }
    slack_left_ = bound;
}

// The slack below which about as many pairs lie as should be watched, estimated from a sample.
double PathWalk::slack_to_watch() const {
    if (n_to_watch_ >= pairs_.count) return kInfinity;
    const std::int64_t n = std::min(kSampled, pairs_.count);
    std::vector<double> rooms(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t p = k * kSampleStride % pairs_.count;
        rooms[static_cast<std::size_t>(k)] = side_[static_cast<std::size_t>(p)] * slack(p);
    }
    const auto place = rooms.begin() + n_to_watch_ * n / pairs_.count;
    std::nth_element(rooms.begin(), place, rooms.end());
    return std::max(*place, kMinWatchedSlack * level_);
}

// Recompute the scores and reset the slacks of the free pairs to zero.
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

// Log the changes since the last breakpoint.
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

// out = K times the row weights; rows of weight zero cost nothing.
void PathWalk::combine(const std::vector<double>& row_weight, std::vector<double>& out) const {
    std::vector<std::int32_t> rows;
    std::vector<double> scales;
    for (std::size_t r = 0; r < row_weight.size(); ++r) {
        if (row_weight[r] == 0.0) continue;
        rows.push_back(static_cast<std::int32_t>(r));
        scales.push_back(row_weight[r]);
    }
    const std::int64_t n_chunks = (kernel_.n + kColumnsPerChunk - 1) / kColumnsPerChunk;
    for_each_chunk(n_chunks, n_threads_, [&](std::int64_t chunk) {
        const std::int64_t first = chunk * kColumnsPerChunk;
        const std::int64_t width = std::min(kernel_.n - first, kColumnsPerChunk);
        std::fill_n(out.begin() + first, width, 0.0);
        add_rows({kernel_.row(0) + first, kernel_.n, rows.data(), scales.data(),
                  static_cast<std::int64_t>(rows.size())},
                 width, out.data() + first);
    });
}

}  // namespace rankwise
