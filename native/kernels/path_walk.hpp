// The exact regularization path of a ranking SVM, event by event.
//
// At level λ, a solution of the dual (paper E, equation 8) has multipliers a and g = λ f = K Pᵀ a. With the
// slack of a pair s = (P g) - λ, it has s >= 0 where a = 0, s <= 0 where a is at its upper bound, and s = 0
// in between. g is unique, but a need not be.
//
// As λ decreases by one unit, a changes by da and g by dg = K Pᵀ da. This direction solves another problem of
// the same kind, over the pairs with s = 0 only: minimize ½‖dg‖² + Σ da such that a stays in its box, that is
// da >= 0 at zero and da <= 0 at the upper bound. By its optimality conditions, slacks stay zero where da is
// nonzero and move in the feasible direction elsewhere, so every point of a step of positive length along it
// is optimal. The problem is solved in the manner of Lawson and Hanson's non-negative least squares, starting
// from the previous direction: a pair enters if its slack would become infeasible, and leaves if its da
// would. Every move lowers the objective, so simultaneous events, duplicate rows and dependent pairs, however
// many, are resolved after finitely many moves. A pair that depends on the free ones never needs to enter: if
// its slack is zero, so are theirs, and it stays zero.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/path_elbow.hpp"

namespace rankwise {

enum class WalkState : int { running, reached_floor, settled, violated, stalled, max_events };

struct WalkLimits {
    double floor;             // the level to stop at
    double tolerance;         // the largest violation allowed, in units of λ
    std::int64_t max_events;  // negative: any number
};

// Breakpoint t is at levels[t]; the step from it to the next adds changes[k] to the multiplier of pairs[k]
// for k = offsets[t] .. offsets[t + 1].
struct WalkLog {
    std::vector<double> levels;
    std::vector<double> violations;
    std::vector<std::int64_t> active_sizes;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> pairs;
    std::vector<double> changes;
};

class PathWalk {
  public:
    PathWalk(KernelMatrix kernel, WeightedPairs pairs, int n_threads);

    double level() const { return level_; }
    double violation() const { return violation_; }
    // How far scores λ f would be from zero at level zero; zero if they are certain to get there.
    double remaining() const { return remaining_; }
    const WalkLog& log() const { return log_; }
    std::size_t active_size() const { return elbow_.size(); }

    // Continue for at most this many events.
    WalkState follow(const WalkLimits& limits, std::int64_t n_events);

  private:
    // The state of a pair, as the factor that makes a feasible slack non-negative.
    enum Side : std::int8_t { at_box = -1, free_pair = 0, at_zero = 1 };

    WalkState event(const WalkLimits& limits);
    bool is_settled();
    void look_near();
    void turn();
    void settle();
    bool release(std::int64_t pair);
    bool exchange(std::int64_t pair);
    std::int64_t most_wrong() const;
    void advance(double floor);
    double first_event(double longest);
    double longest_step(const std::vector<std::int64_t>& watched, double longest) const;
    void watch();
    double slack_to_watch() const;
    void refresh();
    void record(const std::vector<std::int64_t>& free);
    void bind(std::size_t position, Side side);
    void set_side(std::int64_t pair, Side side);
    void recompute_scores();
    void combine(const std::vector<double>& row_weight, std::vector<double>& out) const;

    double slack(std::int64_t pair) const { return pairs_.difference(g_.data(), pair) - level_; }
    double bound(std::int64_t pair, Side side) const { return side == at_box ? pairs_.weight[pair] : 0.0; }

    KernelMatrix kernel_;
    WeightedPairs pairs_;
    int n_threads_;
    double level_ = 0.0;
    std::vector<double> a_;
    std::vector<std::int8_t> side_;
    std::int64_t n_at_box_;
    std::vector<double> g_;
    Elbow elbow_;
    std::vector<double> rate_;     // da of the free pairs
    std::vector<double> flow_;     // dg
    double rate_tolerance_ = 0.0;  // slacks that move more slowly count as constant
    std::int64_t n_to_watch_;
    std::int64_t n_looks_ = 0;  // since the watched pairs were chosen
    std::vector<std::int64_t> watched_;
    double slack_left_ = 0.0;  // how far slacks may move before an unwatched pair could matter
    std::vector<std::int64_t> near_;
    std::vector<std::int64_t> refused_;
    std::vector<std::int64_t> moved_;
    double violation_ = 0.0;
    double remaining_ = 0.0;
    std::int64_t stalled_ = 0;
    std::vector<double> recorded_;  // multipliers at the last breakpoint of the log
    WalkLog log_;
};

}  // namespace rankwise
