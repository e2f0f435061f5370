#include "kernels/path_events.hpp"

#include <algorithm>
#include <vector>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

// Starting a thread costs as much as about this many pairs.
constexpr std::int64_t kPairsPerChunk = 1 << 16;
constexpr std::int64_t kColumnsPerChunk = 1 << 10;

double longest_step_of_range(Pairs pairs, std::int64_t first, std::int64_t last, const double* g,
                             const double* direction, double level, double tolerance, double longest) {
    double best = longest;
    for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t p = pairs.watched[k];
        const double side = pairs.side[p];
        const double rate = -side * (direction[pairs.better[p]] - direction[pairs.worse[p]] + 1.0);
        if (rate <= tolerance) continue;
        const double room = side * (g[pairs.better[p]] - g[pairs.worse[p]] - level);
        if (room < best * rate) best = std::max(room, 0.0) / rate;
    }
    return best;
}

}  // namespace

std::int64_t near_margin(Pairs pairs, const double* g, double level, double tolerance, std::int64_t* near,
                         double* violation) {
    std::int64_t found = 0;
    double worst = 0.0;
    for (std::int64_t k = 0; k < pairs.count; ++k) {
        const std::int64_t p = pairs.watched[k];
        const double room = pairs.side[p] * (g[pairs.better[p]] - g[pairs.worse[p]] - level);
        if (room > tolerance || pairs.side[p] == 0) continue;
        near[found++] = p;
        worst = std::max(worst, -room);
    }
    *violation = worst;
    return found;
}

double longest_step(Pairs pairs, const double* g, const double* direction, double level, double tolerance,
                    double longest, int n_threads) {
    const std::int64_t n_chunks = (pairs.count + kPairsPerChunk - 1) / kPairsPerChunk;
    std::vector<double> best(static_cast<std::size_t>(n_chunks), longest);
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const std::int64_t first = chunk * kPairsPerChunk;
        const std::int64_t last = std::min(pairs.count, first + kPairsPerChunk);
        best[static_cast<std::size_t>(chunk)] =
            longest_step_of_range(pairs, first, last, g, direction, level, tolerance, longest);
    });
    return best.empty() ? longest : *std::min_element(best.begin(), best.end());
}

void combine_rows(const double* matrix, std::int64_t n, const std::int64_t* rows, const double* weight,
                  std::int64_t n_rows, double* out, int n_threads) {
    const std::int64_t n_chunks = (n + kColumnsPerChunk - 1) / kColumnsPerChunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const std::int64_t first = chunk * kColumnsPerChunk;
        const std::int64_t last = std::min(n, first + kColumnsPerChunk);
        std::fill(out + first, out + last, 0.0);
        for (std::int64_t r = 0; r < n_rows; ++r) {
            const double* row = matrix + rows[r] * n;
            const double scale = weight[r];
            for (std::int64_t c = first; c < last; ++c) out[c] += scale * row[c];
        }
    });
}

}  // namespace rankwise
