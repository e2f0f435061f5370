"""RankSVM with a choice of alpha."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.estimators.alpha_search import AlphaSearch, OnAlpha, Rest
from rankwise.estimators.base import LinearRanker
from rankwise.estimators.chosen import ChoosingRanker
from rankwise.estimators.held_out import HeldOut, judged_eval_pairs, judged_eval_set, rows_without
from rankwise.estimators.ranksvm import Hinge, RankSVM, query_hinge, warn_unless_converged
from rankwise.losses.hinge import HingeLoss, PairHinge
from rankwise.metrics.measure import Measure, get_measure
from rankwise.operators.design import MatrixDesign
from rankwise.persist.fields import Fields
from rankwise.selection.criteria import EVAL_SET, LEAVE_FOLD_OUT
from rankwise.selection.folds import draw_folds, draw_pair_folds, measure_of_pairs, pairs_measured
from rankwise.solvers.alpha_path import bundle_path, newton_path
from rankwise.solvers.certified import Certified
from rankwise.types import Floats, Ints, Matrix, Weighting
from rankwise.validation import (
    check_alphas,
    check_choice,
    check_count,
    check_number,
    check_preferences,
    check_problem,
)

DEFAULT_ALPHAS = tuple(10.0 ** (-k / 2) for k in range(15))

_PATHS: dict[Hinge, Callable[..., Iterator[Certified]]] = {
    Hinge.HINGE: bundle_path,
    Hinge.SQUARED: newton_path,
}


class RankSVMCV(ChoosingRanker, LinearRanker):
    """Linear RankSVM that chooses alpha on held-out queries.

    The alphas are solved from the largest down, each from the weights and, with the hinge, the cutting planes
    of those before it: a grid costs little more than its smallest alpha. The objective is that of `RankSVM`,
    O(m s + m log m) an iteration. Ctrl-C ends the search with a warning; the choice is then made by the
    folds, or of the alphas on an `eval_set`, that are through.

    Parameters
    ----------
    alphas : sequence of float, default=(1e-7, ..., 1)
        The values to choose from. By default two to each factor of ten, from below paper D's 1e-5 for text to
        what few scaled features want. That is fewer than `RankRLSCV` tries, because the hinge is a mean,
        whose alpha does not grow with the data as that of a sum does, and each alpha takes iterations.
    cv : int, splitter or None, default=5
        How many folds of whole queries (of rows dealt out by their labels, for one global ranking), or a
        scikit-learn splitter; not used when `fit` gets an `eval_set`.
    measure : str or Measure, default="pairwise_error"
        What is measured on the rows left out; see `rankwise.metrics.get_measure`.
    patience : int or None, default=None
        With an `eval_set`, stop early: after this many alphas in a row without a better score. (Where
        `RankSVM` stops early along its iterations, this does along the alphas, which regularize.)
    loss, tol, max_iter, weighting
        As in `RankSVM`.

    Attributes
    ----------
    coef_ : array, shape (n,)
    alpha_, best_score_ : float
        The chosen alpha and what was measured for it.
    best_ : dict
        Both, and the setting.
    alphas_ : array, shape (n_alphas,)
        Those tried, ascending.
    settings_ : list of dict
        The one setting, of loss and weighting; a list as in `RankRLSCV`.
    scores_ : array, shape (1, n_alphas)
        The measure for each setting and alpha.
    cv_ : str
        What the choice rested on: "eval_set" or "leave-fold-out".
    objective_, gap_, n_iter_, n_products_
        As in `RankSVM`, for the chosen alpha.

    Examples
    --------
    >>> from rankwise import RankSVMCV, make_search_data
    >>> train, test = make_search_data(60, seed=0).split(0.7)
    >>> model = RankSVMCV([1e-2, 1e-3, 1e-4], measure="ndcg@10").fit(train.X, train.y, train.qid)
    >>> model.alpha_
    0.001
    >>> round(model.score(test.X, test.y, test.qid), 2)
    0.86
    """

    _fitted_state: Fields = (
        *RankSVM._fitted_state,
        *ChoosingRanker._choice_state,
    )

    def __init__(
        self,
        alphas: Sequence[float] | Floats = DEFAULT_ALPHAS,
        *,
        cv: Any = 5,
        measure: str | Measure = "pairwise_error",
        patience: int | None = None,
        loss: str = "hinge",
        tol: float = 1e-3,
        max_iter: int = 1000,
        weighting: str = "query",
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.measure = measure
        self.patience = patience
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.weighting = weighting

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Sequence[Any] | None = None,
        *,
        on_alpha: OnAlpha | None = None,
    ) -> Self:
        """Choose alpha, and learn with the choice from all rows.

        Parameters
        ----------
        X, y, qid, sample_weight
            As in `RankSVM.fit`; the measure does not use the weights.
        eval_set : (X, y) or (X, y, qid), optional
            Rows to choose on; `cv` is not used then.
        on_alpha : callable, optional
            Called with an `AlphaProgress` after each alpha (of each fold).
        """
        search = self._search(get_measure(self.measure), on_alpha)
        problem = check_problem(self, X, y, qid, sample_weight)
        weighting = check_choice("weighting", self.weighting, Weighting)
        loss = query_hinge(problem, weighting)

        def without(held: Ints) -> Rest:
            rest = rows_without(problem, np.isin(np.arange(len(problem.y)), held))
            return rest.X, query_hinge(rest, weighting), MatrixDesign(problem.X[held]).scores

        if eval_set is not None:
            judges = judged_eval_set(self, eval_set, problem, search.measure)
            self._choose_on(judges, search, problem.X, loss)
        else:
            folds = draw_folds(self.cv, problem.y, problem.queries)
            scores = folds.measured(search.score_folds(folds, without), problem.y, search.measure)
            self._choose_by(scores, search, problem.X, loss)
        self.fitted_with_qid_ = qid is not None
        return self

    def fit_preferences(
        self,
        X: Any,
        pairs: Any,
        magnitude: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        *,
        eval_set: Any = None,
        on_alpha: OnAlpha | None = None,
    ) -> Self:
        """Choose alpha by explicit pairs, and learn with the choice from all of them.

        Parameters
        ----------
        X, pairs, magnitude, weight
            As in `RankSVM.fit_preferences`.
        eval_set : (X, pairs) or (X, pairs, weight), optional
            Pairs to choose on, by the part of them that is contradicted. Otherwise `cv` makes folds of pairs
            that share no row with those of other folds or, where all pairs hang together, of any pairs.
        on_alpha : callable, optional
            As in `fit`.
        """
        search = self._search(measure_of_pairs(self.measure), on_alpha)
        rows, checked = check_preferences(self, X, pairs, magnitude, weight)
        check_choice("weighting", self.weighting, Weighting)
        loss = PairHinge(rows.shape[0], checked)

        def without(held: Ints) -> Rest:
            own, among = checked.chosen(held).on_own_rows()
            design = MatrixDesign(rows[own])

            def differences(coef: Floats) -> Floats:
                scores = design.scores(coef)
                return scores[among.better] - scores[among.worse]

            return rows, PairHinge(rows.shape[0], checked.without(held)), differences

        if eval_set is not None:
            self._choose_on(judged_eval_pairs(self, eval_set), search, rows, loss)
        else:
            folds = draw_pair_folds(self.cv, checked, rows.shape[0])
            scores = pairs_measured(search.score_folds(folds, without), checked.weight)
            self._choose_by(scores, search, rows, loss)
        self.fitted_with_qid_ = False
        return self

    def _search(self, measure: Measure, on_alpha: OnAlpha | None) -> AlphaSearch:
        alphas = check_alphas(self.alphas, positive=True)
        patience = None if self.patience is None else check_count("patience", self.patience)
        path = _PATHS[check_choice("loss", self.loss, Hinge)]
        tol = check_number("tol", self.tol, minimum=0.0)
        max_iter = check_count("max_iter", self.max_iter)

        def follow(X: Matrix, loss: HingeLoss, some: Floats) -> Iterator[Certified]:
            return path(MatrixDesign(X), loss, some, tol=tol, max_iter=max_iter)

        return AlphaSearch(follow, alphas, measure, patience, on_alpha)

    def _choose_on(self, judges: HeldOut, search: AlphaSearch, X: Matrix, loss: HingeLoss) -> None:
        """Become the model that is best on an eval_set."""
        self._become(*search.on(judges, X, loss), search)
        self.cv_ = EVAL_SET

    def _choose_by(self, scores: Floats, search: AlphaSearch, X: Matrix, loss: HingeLoss) -> None:
        """Become the model of all rows for the alpha that is best on the folds."""
        (result,) = search.follow(X, loss, search.alphas[[search.best(scores)]])
        self._become(scores, result, search)
        self.cv_ = LEAVE_FOLD_OUT

    def _become(self, scores: Floats, result: Certified, search: AlphaSearch) -> None:
        """Take over the chosen model, and record the choice."""
        warn_unless_converged(result, self.tol)
        chosen, tried = search.best(scores), ~np.isnan(scores)
        self.alphas_, self.scores_ = search.alphas[tried], scores[None, tried]
        self.settings_ = [{"loss": self.loss, "weighting": self.weighting}]
        best = {"alpha": float(search.alphas[chosen]), "score": float(scores[chosen])}
        self.best_ = best | self.settings_[0]
        self.coef_ = result.coef
        self.objective_, self.gap_ = result.objective, result.gap
        self.n_iter_, self.n_products_ = max(1, result.n_iter), result.n_products
