"""The squared loss on rows in parts: the function space, the sums of a closed form, and the products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rankwise.cluster.coupling import Coupling, group_sizes
from rankwise.cluster.engine import Parts, Tally
from rankwise.cluster.parted_pairs import PartedPairs, prepared_pairs, quadratic_of_pairs
from rankwise.cluster.parted_products import NormalPart, multiplied, origins_of, prepared, right_side, shifted
from rankwise.cluster.problem import ONE_RANKING, PartedProblem, PartedRows
from rankwise.errors import ParameterError
from rankwise.family import LinearMap
from rankwise.operators.blocks import dense
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.queries import Queries
from rankwise.ridge.moments.forming import moments_of
from rankwise.ridge.moments.moments import Moments
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.ridge.spaces import Costs, Equations, linear_costs
from rankwise.scoring.functions import LinearFunction
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats, Ints, Matrix, Solver, Ties, Weighting
from rankwise.validation import Problem


class LossOfParts(ABC):
    """A squared loss on rows in parts; the counterpart of `SquaredLoss`."""

    n_targets: ClassVar[None] = None

    def reference(self) -> None:
        """Parts measure their rows from rows of their own."""
        return

    @abstractmethod
    def quadratic(self, rows: PartedRows) -> Quadratic: ...

    @abstractmethod
    def normal(self) -> NormalParts: ...

    def factor(self, rows: PartedRows) -> tuple[Floats, Floats]:
        return self.normal().factor().split(rows.shape[1])

    def norm(self, rows: PartedRows, directions: Floats) -> float:
        """Not known: it would take a pass over the parts, after which the factor may still need its own."""
        return float("inf")


@dataclass(frozen=True, eq=False)
class PartedLoss(LossOfParts):
    """``f ↦ ‖F f − F y‖²``."""

    problem: PartedProblem
    ties: Ties
    weighting: Weighting

    @cached_property
    def coupling(self) -> Coupling | None:
        """How split queries belong together; None if all queries are whole."""
        queries = self.problem.queries
        if len(queries.split) == 0:
            return None
        sizes = self.problem.parts.each(group_sizes, self.ties, own=queries.positions)
        return Coupling(sizes, queries.split, self.ties, self.weighting)

    @cached_property
    def moments(self) -> Moments:
        """The moments of all queries, in one pass over X."""
        problem, positions = self.problem, self.problem.queries.positions
        sizes: list[Any] = [None] * len(positions)
        if self.coupling is not None and (self.ties, self.weighting) != (Ties.KEEP, Weighting.EXAMPLE):
            sizes = self.coupling.sizes()
        own = list(zip(positions, sizes, strict=True))
        total = problem.parts.total(
            moments_of_part, self.ties, self.weighting, problem.feature_names, own=own
        ).close()
        if problem.has_queries:
            return total
        learned = replace(total.learned, labels=total.learned.contents)
        return replace(total, learned=learned, has_qid=False)

    def quadratic(self, rows: PartedRows) -> Quadratic:
        return self.moments.quadratic

    def normal(self) -> NormalParts:
        parts = self.problem.parts.derived(prepared, self.ties, self.weighting, own=self._own())
        return NormalParts(parts, self.coupling)

    def _own(self) -> list[tuple[Ints, Floats, Any]]:
        """What each part needs to know of the others: factors of groups, and the first rows of queries."""
        positions = self.problem.queries.positions
        if self.coupling is None:
            return [(position, np.zeros(0), None) for position in positions]
        return list(zip(positions, self.coupling.factors, origins_of(self.problem), strict=True))


@dataclass(frozen=True, eq=False)
class PartedPairLoss(LossOfParts):
    """``Σ_e s_e (magnitude_e − (f_i − f_j))²`` for pairs inside parts."""

    pairs: PartedPairs

    def quadratic(self, rows: PartedRows) -> Quadratic:
        return self.pairs.parts.total(quadratic_of_pairs, own=self.pairs.by_part)

    def normal(self) -> NormalParts:
        parts = self.pairs.parts.derived(prepared_pairs, own=self.pairs.by_part)
        return NormalParts(parts, None)


@dataclass(frozen=True, eq=False)
class NormalParts:
    """Parts prepared for products, and how their split queries belong together."""

    parts: Parts
    coupling: Coupling | None

    def equations(self) -> Equations:
        """``(XᵀLX + αI) w = XᵀLy``; a product takes one message to each process, two if queries are split."""
        return Equations(lambda v: self._completed(multiplied, v), self._completed(right_side), lambda w: w)

    def _completed(self, work: Callable[..., Any], *arguments: Any) -> Floats:
        found = self.parts.total(work, *arguments)
        if self.coupling is None:
            return np.asarray(found.total)
        shifts = self.coupling.shifts(found.notes)
        return np.asarray(found.total + self.parts.total(shifted, len(found.total), own=shifts))

    def factor(self) -> Triangle:
        """The triangle of ``FX`` and ``Fy``, from those of the parts."""
        found = self.parts.total(factor_of)
        total: Triangle = found.total
        if self.coupling is None:
            return total
        return total + Triangle.of(rows_between(self.coupling, found.notes))


class PartedSpace:
    """``f(x) = x · w`` over rows in parts; the counterpart of `LinearSpace`."""

    signs: ClassVar[None] = None

    def __init__(self, X: PartedRows) -> None:
        self.features = X

    @property
    def costs(self) -> Costs:
        """Without the dual form, whose matrix would hold all pairs of rows."""
        costs = linear_costs(*self.features.shape, self.features.n_entries)
        primal = {Solver.PRIMAL: costs.closed[Solver.PRIMAL]}
        return Costs(primal, self.features.shape[1], costs.iterative, "rows in parts")

    def from_weights(self, weights: Floats) -> Floats:
        return weights

    def equations(self, loss: LossOfParts) -> Equations:
        return loss.normal().equations()

    def scorer(self, X: Matrix) -> LinearMap:
        return MatrixDesign(X).scores

    def function(self, coef: Floats) -> LinearFunction:
        return LinearFunction(np.ascontiguousarray(coef))

    def n_digits(self, coef: Floats, reference: Ints) -> None:
        return None


def moments_of_part(
    problem: Problem,
    own: tuple[Ints, Any],
    ties: Ties,
    weighting: Weighting,
    feature_names: tuple[str, ...] | None,
) -> Moments:
    """The moments of a part, in which split queries are open."""
    position, sizes = own
    if problem.queries.labels is None:
        labelled = Queries(problem.queries.offsets, problem.queries.order, ONE_RANKING)
        problem = replace(problem, queries=labelled)
    return moments_of(problem, ties, weighting, feature_names, position >= 0, sizes)


def parted_losses(problem: PartedProblem, ties: Ties, weighting: Weighting) -> list[PartedLoss]:
    problem.check_labels_differ()
    return [PartedLoss(problem, ties, weighting)]


def parted_pair_loss(pairs: PartedPairs, n_rows: int) -> PartedPairLoss:
    pairs.total_weight()  # which must not be 0
    return PartedPairLoss(pairs)


def parted_space(X: PartedRows, reference: None, signs: Ints | None = None) -> PartedSpace:
    if signs is not None:
        raise ParameterError("monotonic_cst needs all rows in this process.")
    return PartedSpace(X)


def parted_moments(
    problem: PartedProblem,
    ties: Ties,
    weighting: Weighting,
    feature_names: tuple[str, ...] | None,
    *,
    quadratic: Quadratic | None = None,
) -> Moments:
    """The moments of all parts, which know their names; sums that are known already have no digests."""
    return PartedLoss(problem, ties, weighting).moments


@dataclass(frozen=True, eq=False)
class Triangle:
    """R of ``[FX Fy] = QR``; the sum of two is that of the rows of both."""

    rows: Floats

    @classmethod
    def of(cls, rows: Floats) -> Triangle:
        with one_blas_thread(rows.shape[1] <= SMALL):
            return cls(np.asarray(np.linalg.qr(rows, mode="r")))

    def __add__(self, other: Triangle) -> Triangle:
        return Triangle.of(np.concatenate([self.rows, other.rows]))

    def split(self, n_features: int) -> tuple[Floats, Floats]:
        """R of ``FX``, and ``Qᵀ F y``."""
        rows = self.rows[:n_features]
        return rows[:, :n_features], rows[:, n_features]


def factor_of(part: NormalPart) -> Tally:
    """The triangle of a part, and the means of features and labels of its groups."""
    triangles = []
    for block in part.blocks:
        R, projected = block.design.difference_factor(block.loss.differences, block.loss.target)
        triangles.append(Triangle(np.column_stack([R, projected])))
    means = np.zeros((0, 0))
    if part.means is not None:
        means = np.column_stack([dense(part.means), part.label_means])
    return Tally(sum(triangles[1:], start=triangles[0]), (means,))


def rows_between(coupling: Coupling, means: Sequence[Floats]) -> Floats:
    """Rows whose products are what differences between the groups of split queries add to ``XᵀLX``."""
    table = np.concatenate([part for part in means if len(part)])
    scales, differences = coupling.between(table)
    return np.sqrt(scales)[:, None] * differences
