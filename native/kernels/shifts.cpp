#include "kernels/shifts.hpp"

#include <algorithm>

#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

// The residual of a chunk stays in the L1 cache for all systems.
constexpr std::int64_t kChunk = 2048;

}  // namespace

void shifted_update(const std::int64_t* active, std::int64_t n_active, std::int64_t size, ShiftedStep by,
                    const double* residual, double* solutions, double* directions, int n_threads) {
    const std::int64_t n_chunks = (size + kChunk - 1) / kChunk;
    for_each_chunk(n_chunks, threads_worth(n_active * size, n_threads), [&](std::int64_t chunk) {
        const std::int64_t first = chunk * kChunk;
        const std::int64_t last = std::min(size, first + kChunk);
        for (std::int64_t a = 0; a < n_active; ++a) {
            const std::int64_t k = active[a];
            const double step = by.step[k];
            const double zeta = by.zeta[k];
            const double beta = by.beta[k];
            double* solution = solutions + k * size;
            double* direction = directions + k * size;
            for (std::int64_t j = first; j < last; ++j) {
                solution[j] += step * direction[j];
                direction[j] = zeta * residual[j] + beta * direction[j];
            }
        }
    });
}

}  // namespace rankwise
