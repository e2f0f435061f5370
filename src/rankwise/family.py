"""A family of models: one loss, one space of functions, one model per alpha.

The solvers of `ridge_family` and `hinge_family` are families. They share these methods, so the search over
alphas (`selection.search`) is written only once:

- ``solve(alphas)``: the model for each alpha;
- ``leave_out(folds, alphas)``: the scores of each fold by the models that were not trained on it;
- ``with_loss(loss)``: the family for another loss on the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from rankwise.held_out import HeldOut
from rankwise.types import Bools, Floats, Ints, Matrix

# A linear map of coefficients, such as the map to the scores of some rows.
LinearMap: TypeAlias = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Solutions:
    """The models of a family for some alphas.

    Attributes
    ----------
    alphas : Floats, shape (n_alphas,)
        In ascending order.
    coef : Floats, shape (n_alphas, p) or (n_alphas, n_targets, p)
        NaN for alphas that were not reached.
    finished : array of bool, shape (n_alphas,)
        False where an interrupt left the model unfinished, or never started it.
    values : Floats, shape (n_alphas,), or None
        The measure of each model on held-out rows; NaN for alphas not reached, None without such rows.
    interrupted : bool
    """

    alphas: Floats
    coef: Floats
    finished: Bools
    values: Floats | None
    interrupted: bool


@dataclass(frozen=True)
class AlphaStep:
    """A solved alpha, the fraction of the work done, its value on held-out rows, and its result.

    Where all alphas are solved together, only the fraction is known, and `alpha` is None.
    """

    alpha: float | None
    done: float
    value: float | None = None
    result: Any = None


OnAlpha: TypeAlias = Callable[[AlphaStep], object]


@dataclass(frozen=True)
class Fold:
    """Rows to be scored by a model that was not trained on them.

    Attributes
    ----------
    data : Matrix
        The training rows.
    index : Ints, shape (h,)
        The rows of this fold, in ascending order.
    queries : Ints or None
        The queries that these rows make up, by position; None if they are not whole queries.
    loss : callable
        Creates the loss on everything else.
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
    """The scores of a fold's rows, shape (h, n_alphas); NaN for alphas that an interrupt left unfinished."""

    scores: Floats
    finished: Bools


class Family(Protocol):
    """The interface of every family; see the module docstring."""

    def scores(self, coef: Floats, X: Matrix) -> Floats:
        """The scores of rows, shape (h, n_alphas), by the models with these coefficients."""
        ...

    def solve(
        self, alphas: Floats, held_out: HeldOut | None = None, on_alpha: OnAlpha | None = None
    ) -> Solutions:
        """The model for each alpha, and its measure on held-out rows."""
        ...

    def leave_out(
        self, folds: Sequence[Fold], alphas: Floats, on_alpha: OnAlpha | None = None
    ) -> Iterator[FoldScores]:
        """The scores of the rows of each fold by models that were not trained on them.

        If an interrupt leaves a fold unfinished, it is the last one.
        """
        ...

    def leave_pair_out(self, y: Floats, alphas: Floats) -> Floats:
        """The fraction of pairs of one global ranking misordered by the model fitted without both rows."""
        ...

    def with_loss(self, loss: Any) -> Self:
        """The family for another loss on the same rows; whatever does not depend on the loss is shared."""
        ...

    def part(self, name: str) -> Self:
        """The same family for a part of the work, such as one fold, with its own checkpoint, if any."""
        ...


def refit(
    family: Family, folds: Sequence[Fold], alphas: Floats, on_alpha: OnAlpha | None = None
) -> Iterator[FoldScores]:
    """`Family.leave_out` with one fit per fold."""
    for number, fold in enumerate(folds):
        rest = family.with_loss(fold.loss()).part(f"fold-{number}")
        found = rest.solve(alphas, on_alpha=on_alpha)
        scores = np.full((len(fold.index), len(alphas)), np.nan)
        if found.finished.any():
            scores[:, found.finished] = rest.scores(found.coef[found.finished], fold.rows)
        yield FoldScores(scores, found.finished)
        if found.interrupted:
            return
