// The vector updates of conjugate gradient for several shifted systems at once.
#pragma once

#include <cstdint>

namespace rankwise {

// One conjugate gradient step of shifted system k: solution += step * direction, then
// direction = zeta * residual + beta * direction. Solutions and directions are n_systems rows of `size`
// values.
struct ShiftedStep {
    const double* step;
    const double* zeta;
    const double* beta;
};

// Takes the step for each of the n_active systems listed in `active`; all share one residual up to zeta.
void shifted_update(const std::int64_t* active, std::int64_t n_active, std::int64_t size, ShiftedStep by,
                    const double* residual, double* solutions, double* directions, int n_threads);

}  // namespace rankwise
