"""A family of models: one loss, one space of functions, one model per alpha.

The solvers of `ridge_family` and `hinge_family` are families. They share these verbs, so that choosing among
alphas (`selection.search`) is written once:

- ``solve(alphas)``: the model for each alpha;
- ``leave_out(folds, alphas)``: scores of each fold by the models that did not learn from it;
- ``with_loss(loss)``: the family of another loss on the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from rankwise.solvers.held_out import HeldOut
from rankwise.types import Bools, Floats, Ints, Matrix

# A linear map of coefficients, such as that to the scores of some rows.
LinearMap: TypeAlias = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Solutions:
    """The models of a family for some alphas.

    Attributes
    ----------
    alphas : Floats, shape (n_alphas,)
        Ascending.
    coef : Floats, shape (n_alphas, p) or (n_alphas, n_targets, p)
        NaN for alphas that were not reached.
    finished : array of bool, shape (n_alphas,)
        False where an interrupt left the model unfinished, or never started it.
    values : Floats, shape (n_alphas,), or None
        The measure of each model on held-out rows, NaN for alphas not reached; None without such rows.
    interrupted : bool
    """

    alphas: Floats
    coef: Floats
    finished: Bools
    values: Floats | None
    interrupted: bool


@dataclass(frozen=True)
class AlphaStep:
    """One alpha solved: its place in the grid, the part of the grid done, its value on held-out rows."""

    alpha: float
    done: float
    value: float | None
    result: Any


OnAlpha: TypeAlias = Callable[[AlphaStep], object]


@dataclass(frozen=True)
class Fold:
    """Rows to score by a model that did not learn from them.

    Attributes
    ----------
    data : Matrix
        The training rows.
    index : Ints, shape (h,)
        The rows of this fold, ascending.
    queries : Ints or None
        The whole queries that they make up, by position; None if they are something else.
    loss : callable
        Makes the loss on everything else.
    """

    data: Matrix
    index: Ints
    queries: Ints | None
    loss: Callable[[], Any]

    @property
    def rows(self) -> Matrix:
        return self.data[self.index]


@dataclass(frozen=True)
class FoldScores:
    """Scores of a fold's rows, shape (h, n_alphas); NaN for alphas that an interrupt left unfinished."""

    scores: Floats
    finished: Bools


class Family(Protocol):
    """What every family offers; see the module's docstring."""

    def scores(self, coef: Floats, X: Matrix) -> Floats:
        """Scores of rows, shape (h, n_alphas), by the models with these coefficients."""
        ...

    def solve(
        self, alphas: Floats, held_out: HeldOut | None = None, on_alpha: OnAlpha | None = None
    ) -> Solutions:
        """The model for each alpha, and its measure on held-out rows."""
        ...

    def leave_out(
        self, folds: Sequence[Fold], alphas: Floats, on_alpha: OnAlpha | None = None
    ) -> Iterator[FoldScores]:
        """Scores of the rows of each fold by models that did not learn from them.

        A fold that an interrupt left unfinished is the last one.
        """
        ...

    def leave_pair_out(self, y: Floats, alphas: Floats) -> Floats:
        """The part of the pairs of one global ranking misordered by the model without both rows."""
        ...

    def with_loss(self, loss: Any) -> Self:
        """The family of another loss on the same rows; what does not depend on the loss is shared."""
        ...

    def part(self, name: str) -> Self:
        """The same family for a part of the work, such as one fold, with a checkpoint of its own if any."""
        ...


def refit(
    family: Family, folds: Sequence[Fold], alphas: Floats, on_alpha: OnAlpha | None = None
) -> Iterator[FoldScores]:
    """`Family.leave_out` by one fit per fold."""
    for number, fold in enumerate(folds):
        rest = family.with_loss(fold.loss()).part(f"fold-{number}")
        found = rest.solve(alphas, on_alpha=on_alpha)
        scores = np.full((len(fold.index), len(alphas)), np.nan)
        if found.finished.any():
            scores[:, found.finished] = rest.scores(found.coef[found.finished], fold.rows)
        yield FoldScores(scores, found.finished)
        if found.interrupted:
            return
