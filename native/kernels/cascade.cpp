#include "kernels/cascade.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/each_query.hpp"

namespace rankwise {
namespace {

using Survival = std::vector<double>;

// By Maclaurin's inequality, the reader passes j of the tied rows with probability at most
// (mean of 1 - stop)^j; returns the depth at which this becomes negligible.
std::int64_t reached_depth(const double* stop, std::int64_t n) {
    double total = 0.0;
    for (std::int64_t i = 0; i < n; ++i) total += stop[i];
    const double survived = 1.0 - total / static_cast<double>(n);
    if (survived <= 0.0) return 1;
    if (survived >= 1.0) return n;
    const double depth = std::ceil(std::log(1e-18) / std::log(survived));
    return depth < static_cast<double>(n) ? static_cast<std::int64_t>(depth) : n;
}

// survive[j] = mean over the j-subsets of the tied rows of the product of 1 - stop, for j up to depth.
void survival_of_certain_stops(std::int64_t n, std::int64_t n_stops, std::int64_t depth, Survival& survive) {
    for (std::int64_t j = 0; j < depth; ++j) {
        const double left = static_cast<double>(std::max<std::int64_t>(0, n - n_stops - j));
        survive[static_cast<std::size_t>(j) + 1] =
            survive[static_cast<std::size_t>(j)] * left / static_cast<double>(n - j);
    }
}

void survival_of_any_stops(const double* stop, std::int64_t n, std::int64_t depth, Survival& survive) {
    for (std::int64_t t = 1; t <= n; ++t) {
        const double pass = 1.0 - stop[t - 1];
        for (std::int64_t j = std::min(t, depth); j > 0; --j) {
            // The new row is among the j chosen with probability j/t.
            const double chosen = static_cast<double>(j) / static_cast<double>(t);
            const auto at = static_cast<std::size_t>(j);
            survive[at] = (1.0 - chosen) * survive[at] + chosen * pass * survive[at - 1];
        }
    }
}

// Expected sum of P(stop) / rank over a run of n tied rows after `before` others, given that the reader gets
// there.
double run_value(const double* stop, std::int64_t n, std::int64_t before, std::int64_t cutoff,
                 Survival& survive) {
    const std::int64_t n_stops = std::count_if(stop, stop + n, [](double p) { return p > 0.0; });
    if (n_stops == 0) return 0.0;
    const std::int64_t depth = std::min({n, cutoff - before, reached_depth(stop, n)});
    survive.assign(static_cast<std::size_t>(depth) + 1, 0.0);
    survive[0] = 1.0;
    const bool certain = std::all_of(stop, stop + n, [](double p) { return p == 0.0 || p == 1.0; });
    if (certain) {
        survival_of_certain_stops(n, n_stops, depth, survive);
    } else {
        survival_of_any_stops(stop, n, depth, survive);
    }
    double value = 0.0;
    for (std::int64_t j = 0; j < depth; ++j) {
        const auto at = static_cast<std::size_t>(j);
        value += (survive[at] - survive[at + 1]) / static_cast<double>(before + j + 1);
    }
    return value;
}

}  // namespace

void cascade(QueryRows rows, const std::int64_t* first, const std::int64_t* end, const double* stop,
             std::int64_t cutoff, double* values, int n_threads) {
    for_each_query<Survival>(rows, n_threads, [&](std::int64_t q, Survival& survive, int) {
        double alive = 1.0;
        values[q] = 0.0;
        std::int64_t i = rows.offsets[q];
        while (i < rows.offsets[q + 1] && first[i] < cutoff && alive > 0.0) {
            const std::int64_t n = end[i] - first[i];
            const double* run = stop + i;
            if (std::all_of(run, run + n, [&](double p) { return p == *run; })) {
                // Every order is the same.
                for (std::int64_t rank = first[i]; rank < std::min(end[i], cutoff); ++rank) {
                    values[q] += alive * *run / static_cast<double>(rank + 1);
                    alive *= 1.0 - *run;
                }
            } else {
                values[q] += alive * run_value(run, n, first[i], cutoff, survive);
                for (std::int64_t j = 0; j < n; ++j) alive *= 1.0 - run[j];
            }
            i += n;
        }
    });
}

}  // namespace rankwise
