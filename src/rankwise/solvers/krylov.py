"""The spaces of `solvers.spaces`, solved by conjugate gradient: products only, no matrix is formed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from rankwise.losses.squared import SquaredLoss
from rankwise.operators.design import Design
from rankwise.solvers.shifted_cg import shifted_cg
from rankwise.solvers.spaces import Space
from rankwise.solvers.surface import Reading, ShiftedCGResult, Stop, Validation
from rankwise.types import Floats

LinearMap = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Iterations:
    """How long to iterate, and what judges the iterates; the defaults are paper C's.

    Attributes
    ----------
    tol : float
        Relative residual at which a system counts as solved.
    max_iter : int
    stop_early : bool
        Keep the iterate that the validation rows like best, and stop after `patience` iterations without a
        better one; otherwise go on to `tol`.
    patience : int
    run : callable
        Calls `shifted_cg`, which it is given with its arguments: at once, or saving the state on the way.
    """

    tol: float = 1e-5
    max_iter: int = 500
    stop_early: bool = False
    patience: int = 10
    run: Callable[[partial[ShiftedCGResult]], ShiftedCGResult] = operator.call


@dataclass(frozen=True)
class KrylovSpace:
    """``(A + αI) z = b`` and what its solutions mean.

    Attributes
    ----------
    product : callable
        ``z ↦ A z``, symmetric and positive semi-definite.
    right : Floats, shape (p,) or (p, k)
    turn : callable
        From z to coefficients.
    with_loss : callable
        The space for another loss on the same rows, without validation.
    iterations : Iterations
    validation : Validation or None
        Of z; needed to stop early.
    runs : list of ShiftedCGResult
        What `solve` and `solve_all` have done, one run a target; the last alphas'.
    """

    product: LinearMap
    right: Floats
    iterations: Iterations
    with_loss: Callable[[SquaredLoss], KrylovSpace]
    validation: Validation | None = None
    turn: LinearMap = lambda z: z
    runs: list[ShiftedCGResult] = field(default_factory=list)

    def solve(self, alpha: float) -> Floats:
        """Coefficients for one alpha, shape (p,) or (p, k)."""
        return np.asarray(self.solve_all([alpha])[0])

    def solve_all(self, alphas: Sequence[float] | Floats) -> Floats:
        """Coefficients for every alpha, shape (n_alphas, p) or (n_alphas, p, k), from one run a target."""
        runs = self.run(alphas)
        solved = []
        for k in np.searchsorted(runs[0].alphas, alphas):
            kept = [self.reading(run, k).solution for run in runs]
            solved.append(self.turn(kept[0] if self.right.ndim == 1 else np.column_stack(kept)))
        return np.stack(solved)

    def run(self, alphas: Sequence[float] | Floats) -> list[ShiftedCGResult]:
        """One run of conjugate gradient a target; the last runs are used again if they hold these alphas."""
        ascending = np.unique(np.asarray(alphas, dtype=np.float64))
        if self.runs and np.isin(ascending, self.runs[0].alphas).all():
            return self.runs
        targets = self.right[:, None] if self.right.ndim == 1 else self.right
        how = self.iterations
        runs: list[ShiftedCGResult] = []
        for target in targets.T:
            run = partial(
                shifted_cg,
                self.product,
                np.ascontiguousarray(target),
                ascending,
                validation=self.validation,
                patience=how.patience,
                stop_early=how.stop_early,
                tol=how.tol,
                max_iter=how.max_iter,
            )
            runs.append(how.run(run))
            if runs[-1].stop is Stop.INTERRUPTED and len(runs) < targets.shape[1]:
                raise KeyboardInterrupt  # the other targets have nothing to keep
        self.runs[:] = runs
        return self.runs

    @property
    def interrupted(self) -> bool:
        """Whether the last runs were ended from the keyboard."""
        return any(run.stop is Stop.INTERRUPTED for run in self.runs)

    def reading(self, run: ShiftedCGResult, k: int) -> Reading:
        """What is kept of the k-th alpha: the best iterate when stopping early, otherwise the last."""
        return run.early(k) if self.iterations.stop_early else run.last(k)


def solve_each(spaces: Sequence[Space], alpha: float) -> list[Floats]:
    """Coefficients in each space; an interrupt ends them all, unless it meets the last."""
    solved: list[Floats] = []
    for space in spaces:
        solved.append(space.solve(alpha))
        if isinstance(space, KrylovSpace) and space.interrupted and len(solved) < len(spaces):
            raise KeyboardInterrupt
    return solved


def feature_space(
    design: Design,
    loss: SquaredLoss,
    iterations: Iterations,
    validation: Validation | None = None,
    turn: LinearMap = lambda z: z,
) -> KrylovSpace:
    """Weights of features (paper C, equation 8): O(m s + l) an iteration, O(n) memory."""
    F = loss.differences
    right = design.adjoint(F.adjoint(loss.target))
    return KrylovSpace(
        design.normal_operator(F),
        right,
        iterations,
        lambda other: feature_space(design, other, iterations, None, turn),
        validation,
        turn,
    )


def example_space(
    kernel_product: LinearMap, loss: SquaredLoss, iterations: Iterations, validation: Validation | None = None
) -> KrylovSpace:
    """Coefficients of rows, ``a = Fᵀz`` with ``(F K Fᵀ + αI) z = t``: one product with K an iteration.

    `validation` maps coefficients of rows to scores, as `kernel_product` does for the training rows.
    """
    F = loss.differences
    if validation is not None:
        scores = validation.scores
        validation = Validation(
            lambda z: scores(F.adjoint(z)), validation.measure, validation.higher_is_better
        )
    return KrylovSpace(
        lambda z: F.apply(kernel_product(F.adjoint(z))),
        loss.target,
        iterations,
        lambda other: example_space(kernel_product, other, iterations),
        validation,
        F.adjoint,
    )
