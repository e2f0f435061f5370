"""Looking for an alpha down a grid of certified models: on rows set apart, or on folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankwise.errors import warn_caller
from rankwise.estimators.held_out import HeldOut
from rankwise.losses.hinge import HingeLoss
from rankwise.metrics.measure import Measure
from rankwise.operators.design import MatrixDesign
from rankwise.selection.criteria import best_alpha
from rankwise.selection.folds import Folds, score_folds
from rankwise.solvers.certified import Certified
from rankwise.types import Floats, Ints, Matrix

# The models for some alphas, in their order, down to an interrupted one.
Follow: TypeAlias = Callable[[Matrix, HingeLoss, Floats], Iterator[Certified]]
# What is left without a fold: rows and a loss to learn from; and how a model scores the fold.
Rest: TypeAlias = tuple[Matrix, HingeLoss, Callable[[Floats], Floats]]


@dataclass(frozen=True)
class AlphaProgress:
    """What is known after one alpha (of a fold): the share of the search that is done, the certificate of the
    alpha and, where there is an eval_set, its score."""

    done: float
    alpha: float
    objective: float
    gap: float
    n_iter: int
    n_products: int
    score: float | None


OnAlpha: TypeAlias = Callable[[AlphaProgress], object]


@dataclass(frozen=True)
class AlphaSearch:
    """A search from the largest alpha down.

    Attributes
    ----------
    follow : callable
    alphas : Floats, shape (n_alphas,)
        Ascending.
    measure : Measure
    patience : int or None
        On rows set apart, give up after this many alphas in a row without a better score.
    on_alpha : callable or None
        Called with an `AlphaProgress` after each alpha.
    """

    follow: Follow
    alphas: Floats
    measure: Measure
    patience: int | None
    on_alpha: OnAlpha | None

    def on(self, judges: HeldOut, X: Matrix, loss: HingeLoss) -> tuple[Floats, Certified]:
        """The score of each alpha on rows set apart, NaN below where patience or an interrupt ended the
        search; and the best model."""
        design, scores = MatrixDesign(judges.X), np.full(len(self.alphas), np.nan)
        best, unimproved = None, 0
        try:
            for k, result in self._descend(X, loss):
                scores[k] = judges.measure(design.scores(result.coef))
                self._tell((len(scores) - k) / len(scores), k, result, float(scores[k]))
                if best is None or self.best(scores) == k:
                    best, unimproved = result, 0
                else:
                    unimproved += 1
                if result.interrupted:
                    raise KeyboardInterrupt
                if unimproved == self.patience:
                    break
        except KeyboardInterrupt:
            if best is None:
                raise
            lowest = self.alphas[~np.isnan(scores)][0]
            warn_caller(f"Interrupted from the keyboard; no alpha below {lowest:g} is tried.")
        assert best is not None
        return scores, best

    def score_folds(self, folds: Folds, without: Callable[[Ints], Rest]) -> Floats:
        """Scores of what each fold holds out, one column an alpha, by models that did not see it."""
        n_alphas, n_folds_done = len(self.alphas), 0

        def score(held: Ints, scores: Floats) -> None:
            nonlocal n_folds_done
            X, loss, scored = without(held)
            for k, result in self._descend(X, loss):
                if result.interrupted:
                    raise KeyboardInterrupt
                scores[:, k] = scored(result.coef)
                done = n_folds_done + (n_alphas - k) / n_alphas
                self._tell(done / len(folds.held), k, result, None)
            n_folds_done += 1

        return score_folds(folds, n_alphas, score)[0]

    def best(self, scores: Floats) -> int:
        """The place of the best alpha."""
        return best_alpha(scores[None, :], self.measure)[1]

    def _descend(self, X: Matrix, loss: HingeLoss) -> Iterator[tuple[int, Certified]]:
        """The place of each alpha and its model, the largest first."""
        return zip(reversed(range(len(self.alphas))), self.follow(X, loss, self.alphas[::-1]), strict=False)

    def _tell(self, done: float, k: int, result: Certified, score: float | None) -> None:
        if self.on_alpha is not None:
            certificate = (result.objective, result.gap, result.n_iter, result.n_products)
            self.on_alpha(AlphaProgress(done, float(self.alphas[k]), *certificate, score))
