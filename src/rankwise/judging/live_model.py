"""A linear RankRLS model that is, after every judgment, the model of a fit to all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from rankwise.operators.blocks import dense
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.queries import one_query
from rankwise.ridge.moments.forming import moments_of
from rankwise.ridge.moments.moment_family import MomentFamily
from rankwise.ridge.moments.quadratic import UNIT_ROUNDOFF, Quadratic
from rankwise.types import Floats, Ints, Matrix, Ties, Weighting
from rankwise.validation import Problem

# The sums are formed anew where rounding errors may be so many times those of forming them once.
WORSE_THAN_NEW = 64.0


@dataclass(frozen=True, eq=False)
class Said:
    """All that is said of one query.

    Attributes
    ----------
    rows : Ints, shape (h,)
        The rows that have a grade.
    grades : Floats, shape (h,)
    pairs : Ints, shape (l, 2)
        Rows that were compared, the better one first.
    margins : Floats, shape (l,)
        By how much the first is better: 1, or 0 for two that are equally good.
    """

    rows: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    grades: Floats = field(default_factory=lambda: np.empty(0))
    pairs: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    margins: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def teaches(self) -> bool:
        """Whether anything can be learned from it: one grade alone says nothing."""
        return len(self.rows) > 1 or len(self.pairs) > 0


@dataclass(frozen=True, eq=False)
class Loss:
    """What the squared loss of a query's judgments is computed from.

    Minimized is ``Σ_q c_q Σ_{i<j graded in q} (yᵢ − yⱼ − (fᵢ − fⱼ))² + Σ_pairs (margin − (fᵢ − fⱼ))² +
    alpha ‖w‖²``, as `RankRLS.fit_preferences` with labels does. The grades of a query are one term, since its
    weight c depends on how many there are.

    Attributes
    ----------
    X : Matrix, shape (m, n)
        The rows that can be judged.
    ties, weighting
        As in `RankRLS`.
    """

    X: Matrix
    ties: Ties = Ties.KEEP
    weighting: Weighting = Weighting.EXAMPLE

    @property
    def nothing(self) -> Quadratic:
        return Quadratic.of_rows(np.empty((0, self.X.shape[1] + 1)), (self.X.shape[1],), 1)

    def of_query(self, said: Said) -> Quadratic:
        """The loss as a function of the weights: O(h n²) for h grades and pairs."""
        total = self.nothing
        if len(said.rows) > 1:
            # Sorted, so that the sum does not depend on the order in which documents were judged.
            order = np.argsort(said.rows)
            X, y = self.X[said.rows[order]], said.grades[order]
            problem = Problem(X, y, one_query(len(y)), None)
            total = total + moments_of(problem, self.ties, self.weighting, None).quadratic
        if len(said.pairs):
            first, second = (dense(self.X[said.pairs[:, k]]).astype(np.float64) for k in (0, 1))
            differences = np.column_stack([first - second, said.margins])
            total = total + Quadratic.of_rows(differences, total.shape, 1)
        return total


class LiveModel:
    """The sum of the losses of all queries, from which those of a query are taken out and put back in.

    A judgment costs O(h n² + n³) for the h judgments of its query, however many there are of others.
    Subtracting leaves rounding errors behind, whose bound goes along (`Quadratic.rounding`): where it is
    several times that of a new sum, the sums are formed anew.

    Parameters
    ----------
    loss : Loss
    alpha : float
    base : Quadratic, optional
        What was learned from other rows before.
    """

    def __init__(self, loss: Loss, alpha: float, base: Quadratic | None = None) -> None:
        self.loss, self.alpha = loss, alpha
        self._base = loss.nothing if base is None else base
        self._has_base = base is not None
        self.said: dict[int, Said] = {}
        self._total: Quadratic = self._base
        self.say_all({})

    def say(self, query: int, said: Said) -> None:
        """Replace all that is said of a query."""
        before = self.said.pop(query, None)
        if before is not None and before.teaches:
            self._total = self._total - self.loss.of_query(before)
        if said.teaches:
            self._total = self._total + self.loss.of_query(said)
        self.said[query] = said
        if self._is_worn():
            self._sum_up()
        self._solve()

    def say_all(self, said: Mapping[int, Said]) -> None:
        """Begin anew with all that is said of some queries."""
        self.said = dict(said)
        self._sum_up()
        self._solve()

    @property
    def quadratic(self) -> Quadratic:
        """The loss of all judgments."""
        return self._total

    @property
    def knows_anything(self) -> bool:
        return self._has_base or any(said.teaches for said in self.said.values())

    def without(self, query: int) -> Floats:
        """The weights of the model that knows nothing of a query."""
        said = self.said.get(query)
        if said is None or not said.teaches:
            return self.coef
        return _solved(self._total - self.loss.of_query(said), self.alpha)[0]

    def scores(self, rows: Ints, coef: Floats | None = None) -> Floats:
        """The scores of some rows, equal for equal rows."""
        weights = self.coef if coef is None else coef
        return MatrixDesign(self.loss.X[rows]).scores(weights)

    def copy(self) -> LiveModel:
        """The model as it is now; sums and judgments are never changed in place."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.said = dict(self.said)
        return other

    def _solve(self) -> None:
        self.coef, self.is_resolved = _solved(self._total, self.alpha)

    def _sum_up(self) -> None:
        total = self._base
        for query in sorted(self.said):
            if self.said[query].teaches:
                total = total + self.loss.of_query(self.said[query])
        self._total = total
        self._when_new = self._relative_rounding()

    def _relative_rounding(self) -> float:
        """The largest bound on a rounding error of a square, relative to what it is added to."""
        assert self._total.rounding is not None
        squares = np.maximum(np.diag(self._total.matrix), 0.0) + self.alpha
        rounding = self._total.rounding[:-1]
        share = np.divide(rounding, squares, out=np.zeros_like(squares), where=squares > 0.0)
        return float(share.max(initial=UNIT_ROUNDOFF))

    def _is_worn(self) -> bool:
        return self._relative_rounding() > WORSE_THAN_NEW * self._when_new


def _solved(quadratic: Quadratic, alpha: float) -> tuple[Floats, bool]:
    """The weights, and whether no accuracy that matters was lost."""
    found = MomentFamily(quadratic).solve(np.array([alpha]))
    return found.coef[0], bool(found.is_resolved[0])
