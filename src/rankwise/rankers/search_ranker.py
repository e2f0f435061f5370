"""Base class of the rankers that choose alpha."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.config import let_interrupt_through
from rankwise.errors import GridWarning, ParameterError, warn_caller
from rankwise.long_tasks import task
from rankwise.metrics.measure import Measure
from rankwise.metrics.named_measures import get_measure
from rankwise.model.model import FormMoments
from rankwise.model.outcome import Outcome
from rankwise.preferences.across import weight_of_rows
from rankwise.preferences.pairs import Pairs
from rankwise.rankers.base import Ranker
from rankwise.scoring.functions import FeatureFunction
from rankwise.selection.calibrating import calibrate
from rankwise.selection.criteria import (
    Criterion,
    LossOf,
    OnEvalSet,
    criterion_on_pairs,
    criterion_on_rows,
    measure_of_pairs,
)
from rankwise.selection.eval_sets import EvalArguments, eval_pairs, eval_rows
from rankwise.selection.search import Candidate, Choice, OnProgress, choose, table_of_scores
from rankwise.types import Floats, Matrix
from rankwise.validation import Problem, check_alphas, check_count, check_flag


class SearchRanker(Ranker):
    """A ranker that measures every alpha in every setting, and fits the best."""

    alphas: Any
    cv: Any
    measure: str | Measure
    early_stopping: bool
    patience: int

    alphas_: Floats
    scores_: Floats
    settings_: list[dict[str, Any]]
    best_: dict[str, Any]
    cv_: str

    _takes_alpha_zero: ClassVar[bool] = True

    @property
    def alpha_(self) -> float:
        """The chosen alpha."""
        return float(self.best_["alpha"])

    @property
    def best_score_(self) -> float:
        """The measure for the chosen alpha and setting."""
        return float(self.best_["score"])

    @property
    def best_index_(self) -> int:
        """The index of the choice in `cv_results_`."""
        row = self.settings_.index({name: self.best_[name] for name in self.settings_[0]})
        return int(row * len(self.alphas_) + self.alphas_.tolist().index(self.alpha_))

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The candidates and their scores, in the form of scikit-learn's `GridSearchCV`.

        ``params``, ``param_alpha`` and so on, ``mean_test_score`` (errors are negated) and
        ``rank_test_score``.

        There are no scores per split, because the mean is over queries, not over folds.
        """
        return table_of_scores(self.settings_, self.alphas_, self.scores_, get_measure(self.measure))

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
        *,
        group: Any = None,
        query_weight: Any = None,
        eval_group: Any = None,
        eval_qid: Any = None,
        eval_metric: Any = None,
        eval_at: Any = None,
        on_progress: OnProgress | None = None,
    ) -> Self:
        """Choose alpha and the other settings, and fit the ranker to all rows with the best choice.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n), or RankingData
            A `RankingData` has its own labels, queries and feature names, and may have weights; y and qid are
            then left out.
        y : array, shape (m,)
            Labels of any real value; higher is better.
        qid : sequence of hashables, optional
            The query of each row, in any order; None means one global ranking.
        sample_weight : array, shape (m,), optional
            A weight of 2 is equivalent to repeating the row. The measure ignores weights, except in
            leave-pair-out, where the pair of rows i and j weighs ``s_i s_j``.
        eval_set : (X, y), (X, y, qid), RankingData or a list of these, optional
            Rows on which to choose, instead of using `cv`; each counts once. With several sets, the last one
            decides; `evals_result_` has the values of the chosen model on all of them.
        group : array of int, optional
            The sizes of queries whose rows follow one another, in place of qid.
        query_weight : array, shape (n_queries,), or mapping, optional
            How much each query counts, in order of first appearance or by label; 1 by default.
        eval_group, eval_qid : list, optional
            For each eval_set that is only (X, y), the sizes of its queries, or its qid.
        eval_metric, eval_at : list, optional
            Measures to evaluate besides `measure`, and cutoffs of those without one, as in
            ``eval_at=[5, 10]`` for NDCG.
        on_progress : callable, optional
            Called with a `SearchProgress` after each fold or setting and, where alphas are solved one by one,
            after each alpha.
        """
        measure, options = get_measure(self.measure), {"group": group, "query_weight": query_weight}
        with task(f"Training {type(self).__name__}"):
            problem = self._read(X, y, qid, sample_weight, **options)
            alphas = self._checked_alphas()
            candidates, exact = self._candidates(
                problem.X, problem, lambda setting: partial(self._row_loss, setting)
            )
            evals = EvalArguments(eval_set, eval_group, eval_qid, eval_metric, eval_at)
            held_out = eval_rows(self._inputs, problem, measure, evals)
            criterion: Criterion
            if held_out is not None:
                criterion = OnEvalSet(held_out)
            else:
                self._check_stops_on_eval_set()
                criterion = criterion_on_rows(problem, measure, self.cv, exact=exact)
            choice = choose(candidates, alphas, criterion, measure, on_progress)
            scores = None
            if choice.left_out is not None and choice.left_out.rows is not None:
                scores = np.full(len(problem.y), np.nan)
                scores[choice.left_out.rows] = choice.left_out.scores + _level(choice, problem)
            return self._use(choice, criterion, scores, self._moments_from(problem, choice))

    def fit_preferences(
        self,
        X: Any,
        pairs: Any,
        magnitude: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        *,
        eval_set: Any = None,
        on_progress: OnProgress | None = None,
    ) -> Self:
        """Choose alpha and the other settings on explicit pairs, and fit the ranker to all pairs.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n)
            The rows to which the pairs refer.
        pairs : array of int, shape (n_pairs, 2)
            Row numbers, the preferred row first.
        magnitude, weight : array, shape (n_pairs,), optional
            The target score difference, and how much each pair counts; 1 by default.
        eval_set : (X, pairs) or (X, pairs, weight), optional
            Pairs on which to choose, by the fraction of pairs contradicted. Without it, `cv` makes folds of
            pairs that share no rows with other folds or, if all pairs are connected, folds of any pairs.
        on_progress : callable, optional
            As in `fit`.
        """
        measure = measure_of_pairs(self.measure)
        with task(f"Training {type(self).__name__}"):
            rows, checked = self._read_preferences(X, pairs, magnitude, weight)
            alphas = self._checked_alphas()
            candidates, _ = self._candidates(
                rows, checked, lambda setting: partial(self._pair_loss, setting, rows.shape[0])
            )
            criterion: Criterion
            if eval_set is not None:
                criterion = OnEvalSet(eval_pairs(self._inputs, eval_set))
            else:
                self._check_stops_on_eval_set()
                criterion = criterion_on_pairs(rows, checked, self.cv)
            choice = choose(candidates, alphas, criterion, measure, on_progress)
            return self._use(choice, criterion)

    @property
    def left_out_scores_(self) -> Floats:
        """The score of each row by the model that was not trained on its query or fold."""
        scores = self.model_.outcome.left_out_scores
        if scores is None:
            raise AttributeError(
                f"This {type(self).__name__} has no attribute 'left_out_scores_': fits with an eval_set, to "
                f"pairs or by leave-pair-out have none, those of rows in parts stay on the workers, and "
                "model files do not store them."
            )
        return scores

    def _named_after_search(self, criterion: Criterion) -> str:
        """What was left out; rows that a search for interactions has seen flatter what it found."""
        encoding = self._inputs.encoding
        found = encoding is not None and encoding.search is not None and encoding.search.found
        if not found or isinstance(criterion, OnEvalSet):
            return criterion.name
        return f"{criterion.name}, optimistic: after a search for interactions on the same queries"

    def _moments_from(self, problem: Problem, choice: Choice) -> FormMoments | None:
        """What later updates of the model need; None if it cannot be updated."""
        return None

    def _checked_alphas(self) -> Floats:
        check_count("patience", self.patience)
        return check_alphas(self.alphas, positive=not self._takes_alpha_zero)

    def _check_stops_on_eval_set(self) -> None:
        if check_flag("early_stopping", self.early_stopping):
            raise ParameterError("early_stopping needs an eval_set, on which alpha is also chosen.")

    @abstractmethod
    def _candidates(
        self, X: Matrix, statements: Problem | Pairs, loss_on: Callable[[dict[str, Any]], LossOf]
    ) -> tuple[list[Candidate], bool]:
        """The settings to choose from, and whether they leave out queries exactly, without refitting.

        `loss_on` maps a setting to a function that creates its loss on labels or pairs.
        """

    @abstractmethod
    def _row_loss(self, setting: dict[str, Any], problem: Problem) -> Any: ...

    @abstractmethod
    def _pair_loss(self, setting: dict[str, Any], n_rows: int, pairs: Pairs) -> Any: ...

    @abstractmethod
    def _chosen(self, choice: Choice) -> tuple[FeatureFunction, Outcome]:
        """The chosen function, and how it was found."""

    def _use(
        self,
        choice: Choice,
        criterion: Criterion,
        left_out_scores: Floats | None = None,
        moments: FormMoments | None = None,
    ) -> Self:
        """Set the chosen model."""
        function, found = self._chosen(choice)
        left_out_by = self._named_after_search(criterion)
        outcome = replace(
            found,
            alphas=choice.alphas,
            scores=choice.values,
            settings=choice.settings,
            best=choice.best,
            cv=left_out_by,
            left_out_scores=left_out_scores,
        )
        calibration, left_out = None, choice.left_out
        if left_out is not None:
            calibration = calibrate(left_out.scores, left_out.sample(), left_out_by)
        held_out = criterion.held_out if isinstance(criterion, OnEvalSet) else None
        self._become(self._rows.model(function, outcome, calibration, moments, held_out))
        if choice.beyond_the_grid is not None:
            warn_caller(choice.beyond_the_grid, GridWarning)
        if choice.cut_short:
            let_interrupt_through()
        return self


def _level(choice: Choice, problem: Problem) -> float:
    """The mean score of all rows, which left-out scores across queries lack."""
    if not problem.across_queries:
        return 0.0
    scores = choice.family.scores(choice.solutions.coef[[choice.place]], problem.X)[:, 0]
    weight = weight_of_rows(problem.queries, problem.row_weight, problem.query_weight)
    return float(np.average(scores, weights=weight))
