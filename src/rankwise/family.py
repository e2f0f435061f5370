"""A family of models: one loss, one space of functions, one model per alpha.

Closed forms, conjugate gradient, weights with signs, moments and RankSVM grids are families. They share these
methods, so the search over alphas (`selection.search`) is written only once, and so is leaving out:

- ``solve(alphas)``: the model for each alpha;
- ``leave_out(folds, alphas)``: the scores of each fold by the models that were not trained on it;
- ``with_loss(loss)``: the family for another loss on the same rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from rankwise.errors import ParameterError
from rankwise.factored_rows import selected
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
        The training rows, or some that include these.
    index : Ints, shape (h,)
        The rows of this fold, in ascending order.
    queries : Ints or None
        The queries that these rows make up, by position; None if they are not whole queries.
    loss : callable
        Creates the loss on everything else.
    others : Floats or None, shape (m,)
        How much each row of the data counts in the mean score of the others, from which the scores of the
        fold are measured; None if a constant per query does not matter.
    """

    data: Matrix
    index: Ints
    queries: Ints | None
    loss: Callable[[], Any]
    others: Floats | None = None

    @property
    def rows(self) -> Matrix:
        rows: Matrix = selected(self.data, self.index)
        return rows


@dataclass(frozen=True)
class FoldScores:
    """The scores of a fold's rows, shape (h, n_alphas); NaN for alphas that an interrupt left unfinished."""

    scores: Floats
    finished: Bools


class Family(Protocol):
    """What every family implements; those without a better way inherit how folds are left out."""

    @abstractmethod
    def scores(self, coef: Floats, X: Matrix) -> Floats:
        """The scores of rows, shape (h, n_alphas), by the models with these coefficients."""

    @abstractmethod
    def solve(
        self, alphas: Floats, held_out: HeldOut | None = None, on_alpha: OnAlpha | None = None
    ) -> Solutions:
        """The model for each alpha, and its measure on held-out rows."""

    def leave_out(
        self, folds: Sequence[Fold], alphas: Floats, on_alpha: OnAlpha | None = None
    ) -> Iterator[FoldScores]:
        """The scores of the rows of each fold by models that were not trained on them.

        Models are fitted only where `_leave_queries_out` has no answer. If an interrupt leaves a
        fold unfinished, it is the last one.
        """
        queries = [fold.queries for fold in folds if fold.queries is not None]
        whole = len(queries) == len(folds)
        known = self._leave_queries_out(queries, alphas) if whole else repeat(None, len(folds))
        for number, (fold, scores) in enumerate(zip(folds, known, strict=True)):
            if scores is not None:
                yield FoldScores(scores, np.ones(len(alphas), dtype=np.bool_))
                continue
            found = self.for_run(f"fold-{number}").solve_without(fold.loss, alphas, on_alpha)
            scores = np.full((len(fold.index), len(alphas)), np.nan)
            if found.finished.any():
                scores[:, found.finished] = self._scores_of(fold, found.coef[found.finished])
            yield FoldScores(scores, found.finished)
            if found.interrupted:
                return

    def _scores_of(self, fold: Fold, coef: Floats) -> Floats:
        scores = self.scores(coef, fold.rows)
        if fold.others is None:
            return scores
        mean = fold.others @ self.scores(coef, fold.data) / fold.others.sum()
        return np.asarray(scores - mean)

    def _leave_queries_out(self, folds: Sequence[Ints], alphas: Floats) -> Iterable[Floats | None]:
        """The scores of each fold of whole queries, without a fit; None where that takes one."""
        return repeat(None, len(folds))

    def solve_without(
        self, loss: Callable[[], Any], alphas: Floats, on_alpha: OnAlpha | None = None
    ) -> Solutions:
        """The models of everything but a fold, whose loss is created here; see `Fold.loss`."""
        return self.with_loss(loss()).solve(alphas, on_alpha=on_alpha)

    def leave_pair_out(self, y: Floats, alphas: Floats) -> Floats:
        """The fraction of pairs of one global ranking misordered by the model fitted without both rows."""
        raise ParameterError("Leave-pair-out needs a closed form of RankRLS; set cv to a number of folds.")

    def with_loss(self, loss: Any) -> Self:
        """The family for another loss on the same rows; whatever does not depend on the loss is shared."""
        return replace(self, loss=loss)  # type: ignore[type-var]  # families are dataclasses

    def for_run(self, name: str) -> Self:
        """The same family for one run of several, such as that of a fold, with its own checkpoint, if any."""
        return self


class Descending(Family):
    """A family that solves one alpha after the other, from the largest down, and can end before the last.

    Attributes
    ----------
    patience : int or None
        How many alphas in a row may be worse on left-out rows than the best before the rest is not tried
        (`held_out.Patience`); None tries all of them.
    """

    patience: int | None

    @abstractmethod
    def descend(self, alphas: Floats) -> Iterator[AlphaStep]:
        """Solve for each alpha when asked to, up to an interrupted one.

        Results have `coef`, and say whether they were `interrupted`.
        """
