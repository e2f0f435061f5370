"""RankSVM with a choice of alpha."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankwise.estimators.base import LinearRanker
from rankwise.estimators.held_out import judged_rows, rows_without
from rankwise.estimators.ranksvm import Hinge, RankSVM, query_hinge, warn_unless_converged
from rankwise.metrics.measure import Measure, get_measure
from rankwise.operators.design import MatrixDesign
from rankwise.persist.fields import Fields, array, value
from rankwise.selection.criteria import LEAVE_FOLD_OUT, best_alpha
from rankwise.selection.folds import draw_folds, score_folds
from rankwise.solvers.alpha_path import bundle_path, newton_path
from rankwise.solvers.certified import Certified
from rankwise.types import Floats, Ints, Weighting
from rankwise.validation import (
    Problem,
    check_alphas,
    check_choice,
    check_count,
    check_eval_set,
    check_number,
    check_problem,
)

DEFAULT_ALPHAS = tuple(10.0 ** (-k / 3) for k in range(9, 22))

_PATHS: dict[Hinge, Callable[..., Iterator[Certified]]] = {
    Hinge.HINGE: bundle_path,
    Hinge.SQUARED: newton_path,
}


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


class RankSVMCV(LinearRanker):
    """Linear RankSVM that chooses alpha on held-out queries.

    The alphas are solved from the largest down, each from the weights and, with the hinge, the cutting planes
    of those before it: a grid costs little more than its smallest alpha. The objective is that of `RankSVM`,
    O(m s + m log m) an iteration. Ctrl-C ends the search with a warning; the choice is then made by the
    folds, or of the alphas on an `eval_set`, that are through.

    Parameters
    ----------
    alphas : sequence of float, default=(1e-7, ..., 1e-3)
        The values to choose from. By default three to each factor of ten, around paper D's 1e-5: fewer and
        closer than those of `RankRLSCV`, because the hinge is a mean, whose alpha does not grow with the
        data as that of a sum does, and because each alpha takes iterations of its own.
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
    best_ : dict
        The chosen alpha, its score and its setting.
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
    >>> model.best_["alpha"]
    0.001
    >>> round(model.score(test.X, test.y, test.qid), 2)
    0.86
    """

    _fitted_state: Fields = (
        *RankSVM._fitted_state,
        array("alphas_", "alphas"),
        array("scores_", "settings alphas"),
        value("settings_", list),
        value("best_", dict),
        value("cv_", str),
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
        measure, alphas = get_measure(self.measure), check_alphas(self.alphas)
        check_number("alphas", alphas[0], minimum=0.0, exclusive=True)
        if self.patience is not None:
            check_count("patience", self.patience)
        problem = check_problem(self, X, y, qid, sample_weight)
        if eval_set is not None:
            judges = check_eval_set(self, eval_set, problem)
            scores, result = self._choose_on(judges, problem, alphas, measure, on_alpha)
            self.cv_ = "eval_set"
        else:
            scores = self._cross_validate(problem, alphas, measure, on_alpha)
            _, chosen = best_alpha(scores[None, :], measure)
            (result,) = self._path(problem, alphas[[chosen]])
            self.cv_ = LEAVE_FOLD_OUT
        _, chosen = best_alpha(scores[None, :], measure)
        warn_unless_converged(result, self.tol)
        tried = ~np.isnan(scores)
        self.alphas_, self.scores_ = alphas[tried], scores[None, tried]
        self.settings_ = [{"loss": self.loss, "weighting": self.weighting}]
        self.best_ = {"alpha": float(alphas[chosen]), "score": float(scores[chosen])} | self.settings_[0]
        self.coef_ = result.coef
        self.objective_, self.gap_ = result.objective, result.gap
        self.n_iter_, self.n_products_ = max(1, result.n_iter), result.n_products
        self.fitted_with_qid_ = qid is not None
        return self

    def _path(self, problem: Problem, alphas: Floats) -> Iterator[Certified]:
        """The models for these alphas, in this order, down to an interrupted one."""
        path = _PATHS[check_choice("loss", self.loss, Hinge)]
        return path(
            MatrixDesign(problem.X),
            query_hinge(problem, check_choice("weighting", self.weighting, Weighting)),
            alphas,
            tol=check_number("tol", self.tol, minimum=0.0),
            max_iter=check_count("max_iter", self.max_iter),
        )

    def _choose_on(
        self, rows: Problem, problem: Problem, alphas: Floats, measure: Measure, on_alpha: OnAlpha | None
    ) -> tuple[Floats, Certified]:
        """The score of each alpha on an eval_set, down to where patience or an interrupt ends, and the best
        model."""
        judged, design = judged_rows(rows, measure, "eval_set"), MatrixDesign(rows.X)
        tell = _Teller(on_alpha, len(alphas))
        scores = np.full(len(alphas), np.nan)
        best, unimproved = None, 0
        try:
            for k, result in self._descend(problem, alphas):
                scores[k] = judged.measure(design.scores(result.coef))
                tell(float(alphas[k]), result, float(scores[k]))
                if best is None or best_alpha(scores[None, :], measure)[1] == k:
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
            warnings.warn(
                f"Interrupted from the keyboard; no alpha below {alphas[~np.isnan(scores)][0]:g} is tried.",
                stacklevel=3,
            )
        assert best is not None
        return scores, best

    def _cross_validate(
        self, problem: Problem, alphas: Floats, measure: Measure, on_alpha: OnAlpha | None
    ) -> Floats:
        """The score of each alpha, every row scored by a model that did not see its fold."""
        folds = draw_folds(self.cv, problem)
        tell = _Teller(on_alpha, len(folds.rows) * len(alphas))

        def score(rows: Ints, scores: Floats) -> None:
            held = np.zeros(len(problem.y), dtype=np.bool_)
            held[rows] = True
            design = MatrixDesign(problem.X[rows])
            for k, result in self._descend(rows_without(problem, held), alphas):
                if result.interrupted:
                    raise KeyboardInterrupt
                scores[:, k] = design.scores(result.coef)
                tell(float(alphas[k]), result, None)

        scores, _ = score_folds(folds, len(alphas), score)
        return folds.measured(scores, problem, measure)

    def _descend(self, problem: Problem, alphas: Floats) -> Iterator[tuple[int, Certified]]:
        """The place of each alpha and its model, the largest first."""
        return zip(reversed(range(len(alphas))), self._path(problem, alphas[::-1]), strict=False)


class _Teller:
    """Tells `on_alpha`, if there is one, what each of so many alphas came to."""

    def __init__(self, on_alpha: OnAlpha | None, n_alphas: int) -> None:
        self._on_alpha, self._n_alphas, self._n_done = on_alpha, n_alphas, 0

    def __call__(self, alpha: float, result: Certified, score: float | None) -> None:
        self._n_done += 1
        if self._on_alpha is not None:
            done = self._n_done / self._n_alphas
            certificate = (result.objective, result.gap, result.n_iter, result.n_products)
            self._on_alpha(AlphaProgress(done, alpha, *certificate, score))
