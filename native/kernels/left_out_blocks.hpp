// Ridge regressions without a fold, from the tridiagonal form of the whole system: one small system for each
// fold and alpha. For folds with few rows.
#pragma once

#include "kernels/left_out_systems.hpp"
#include "kernels/shifted_tridiagonal.hpp"

namespace rankwise {

// With B and S, the differences and the scored rows of a fold in the basis of T, and D = (T + αI)⁻¹:
//
//     e = (I − B D Bᵀ)⁻¹ (t − B D g)   or, without targets,   e = (B D Bᵀ)⁻¹ B D g,
//     scores = S D (g − Bᵀe).
//
// The scores of a fold are not set, and resolved[f] is false, if a pivot of one of its small systems is at
// most `tolerance` (times the largest diagonal entry, without targets).
void left_out_blocks(const Lapack& lapack, const Tridiagonal& T, const double* g, const LeftOutRows& folds,
                     const Alphas& alphas, double tolerance, double* scores, bool* resolved, int n_threads);

}  // namespace rankwise
