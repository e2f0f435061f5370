"""The losses of RankSVM, by name; adding one takes a loss and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from rankwise.preferences.pairs import Pairs
from rankwise.svm.bundle import minimize_bundle
from rankwise.svm.hinge import query_hinge
from rankwise.svm.hinge_family import SolveEach, bundle_grid, newton_grid
from rankwise.svm.hinge_result import HingeResult
from rankwise.svm.newton import minimize_newton
from rankwise.svm.pair_hinge import pair_hinge
from rankwise.svm.risk import Hinge
from rankwise.types import Weighting
from rankwise.validation import Problem


class LossName(StrEnum):
    """The cost of a pair inside the margin: its slack, or the square of its slack."""

    HINGE = "hinge"
    SQUARED_HINGE = "squared_hinge"


@dataclass(frozen=True)
class LossKind:
    """A loss: of judged rows, of explicit pairs, and who minimizes it for one alpha and for a grid."""

    of_rows: Callable[[Problem, Weighting], Hinge]
    of_pairs: Callable[[Pairs, int], Hinge]
    solve: Callable[..., HingeResult]
    solve_each: SolveEach


LOSSES = {
    LossName.HINGE: LossKind(query_hinge, pair_hinge, minimize_bundle, bundle_grid),
    LossName.SQUARED_HINGE: LossKind(query_hinge, pair_hinge, minimize_newton, newton_grid),
}
