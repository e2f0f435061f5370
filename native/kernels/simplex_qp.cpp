#include "kernels/simplex_qp.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/growing_cholesky.hpp"

namespace rankwise {
namespace {

// A column counts as dependent on the others if the share of it outside them is less than this.
constexpr double kIndependence = 1e-12;
constexpr double kRounding = 1e-13;
constexpr double kNever = std::numeric_limits<double>::infinity();

// A primal active-set method. The support is kept affinely independent, so its equations have a unique
// solution.
class SimplexSearch {
  public:
    SimplexSearch(QuadraticProgram program, double* x)
        : program_(program), x_(x), inside_(static_cast<std::size_t>(program.n), 0) {
        // Adding a constant to H changes nothing where Σx = 1, and makes it nonsingular on the support.
        double steepest = std::numeric_limits<double>::min();
        for (std::int64_t i = 0; i < program_.n; ++i) {
            shift_ += x_[i] * program_.row(i)[i];
            steepest = std::max(steepest, program_.row(i)[i]);
        }
        shift_ = std::max(shift_, 1e-6 * steepest);
        for (std::int64_t i = 0; i < program_.n; ++i) {
            if (x_[i] > 0.0 && !append(i)) x_[i] = 0.0;
        }
        normalize();
    }

    void run() {
        double lowest = kNever;
        for (std::int64_t step = 0; step < 20 + 4 * program_.n; ++step) {
            settle();
            differentiate();
            double level = 0.0;
            double linear = 0.0;
            for (const std::int64_t i : support_) {
                level += gradient_[static_cast<std::size_t>(i)] * x_[i];
                linear += program_.b[i] * x_[i];
            }
            const double objective = 0.5 * (level - linear);
            const std::int64_t entering = lowest_outside();
            if (entering < 0 || objective >= lowest) return;
            const double enough = kRounding * (std::abs(linear) + std::abs(level));
            if (gradient_[static_cast<std::size_t>(entering)] >= level - enough) return;
            lowest = objective;
            if (!append(entering)) exchange(entering);
        }
    }

  private:
    // Move x to the minimum over its support, dropping coordinates that reach 0 on the way.
    void settle() {
        std::vector<double> target;
        std::vector<double> ones;
        while (support_.size() > 1) {
            target.clear();
            for (const std::int64_t i : support_) target.push_back(program_.b[i]);
            ones.assign(support_.size(), 1.0);
            factor_.solve(target);
            factor_.solve(ones);
            const double level = (1.0 - sum(target)) / sum(ones);
            for (std::size_t s = 0; s < target.size(); ++s) {
                target[s] += level * ones[s] - x_[support_[s]];
            }
            const Leaving first = first_to_leave(target);
            move(target, std::min(1.0, first.length));
            if (first.length >= 1.0) break;
            remove(first.position);
        }
        normalize();
    }

    // Let a coordinate that depends on the support enter: move along the line where H has no curvature until
    // another coordinate leaves.
    void exchange(std::int64_t entering) {
        std::vector<double> line = column(entering);
        factor_.solve(line);
        const double total = sum(line);
        for (double& part : line) part /= -total;
        const Leaving first = first_to_leave(line);
        if (first.length == kNever) return;
        move(line, first.length);
        remove(first.position);
        if (append(entering)) x_[entering] = first.length;
        normalize();
    }

    struct Leaving {
        std::size_t position;
        double length;
    };

    // The coordinate of the support that becomes 0 first, and the step length at which it does.
    Leaving first_to_leave(const std::vector<double>& direction) const {
        Leaving first{0, kNever};
        for (std::size_t s = 0; s < support_.size(); ++s) {
            if (direction[s] >= 0.0) continue;
            const double length = x_[support_[s]] / -direction[s];
            if (length < first.length) first = {s, length};
        }
        return first;
    }

    void move(const std::vector<double>& direction, double length) {
        for (std::size_t s = 0; s < support_.size(); ++s) {
            double& coordinate = x_[support_[s]];
            coordinate = std::max(0.0, coordinate + length * direction[s]);
        }
    }

    std::vector<double> column(std::int64_t i) const {
        std::vector<double> entries;
        entries.reserve(support_.size());
        for (const std::int64_t j : support_) entries.push_back(program_.row(i)[j] + shift_);
        return entries;
    }

    bool append(std::int64_t i) {
        std::vector<double> entries = column(i);
        if (!factor_.append(entries, program_.row(i)[i] + shift_, kIndependence)) return false;
        support_.push_back(i);
        inside_[static_cast<std::size_t>(i)] = 1;
        return true;
    }

    void remove(std::size_t position) {
        const std::int64_t leaving = support_[position];
        factor_.remove(position);
        support_.erase(support_.begin() + static_cast<std::ptrdiff_t>(position));
        inside_[static_cast<std::size_t>(leaving)] = 0;
        x_[leaving] = 0.0;
    }

    void differentiate() {
        gradient_.resize(static_cast<std::size_t>(program_.n));
        for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] = -program_.b[i];
        for (const std::int64_t j : support_) {
            const double* row = program_.row(j);
            for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] += x_[j] * row[i];
        }
    }

    std::int64_t lowest_outside() const {
        std::int64_t lowest = -1;
        for (std::int64_t i = 0; i < program_.n; ++i) {
            if (inside_[static_cast<std::size_t>(i)]) continue;
            const auto at = [this](std::int64_t j) { return gradient_[static_cast<std::size_t>(j)]; };
            if (lowest < 0 || at(i) < at(lowest)) lowest = i;
        }
        return lowest;
    }

    void normalize() {
        double total = 0.0;
        for (const std::int64_t i : support_) total += x_[i];
        for (const std::int64_t i : support_) x_[i] /= total;
    }

    static double sum(const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0);
    }

    QuadraticProgram program_;
    double* x_;
    double shift_ = 0.0;
    GrowingCholesky factor_;             // of H plus the shift, on the support
    std::vector<std::int64_t> support_;  // where x is positive
    std::vector<char> inside_;
    std::vector<double> gradient_;
};

}  // namespace

void minimize_on_simplex(QuadraticProgram program, double* x) {
    SimplexSearch(program, x).run();
}

}  // namespace rankwise
