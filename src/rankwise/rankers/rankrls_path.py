"""RankRLSPath: RankRLS with few features."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, ParameterError
from rankwise.held_out import HeldOut
from rankwise.long_tasks import task
from rankwise.metrics.measure import Measure
from rankwise.metrics.named_measures import get_measure
from rankwise.model.outcome import Outcome
from rankwise.model.schemas import SCHEMAS
from rankwise.plots import draw_sizes
from rankwise.rankers.base import Ranker
from rankwise.rankers.rankrls_cv import DEFAULT_ALPHAS
from rankwise.rendering import TableRows
from rankwise.scoring.functions import LinearFunction
from rankwise.selection.eval_sets import EvalArguments, eval_rows
from rankwise.selection.feature_paths import FeaturePathSettings, follow, outer_curve
from rankwise.selection.folding import draw_folds
from rankwise.types import Floats, PathMethod, Ties, Weighting
from rankwise.validation import (
    check_alphas,
    check_choice,
    check_costs,
    check_count,
    check_fitted,
)

# The largest number of features by default.
MAX_FEATURES = 10
# One to measure on, and two of which each is left out while features are chosen.
MIN_QUERIES = 3


class RankRLSPath(Ranker):
    """Linear RankRLS with few features: a model of every size, and the smallest that is as good as the best.

    Every size is refitted as `RankRLS`, with the best alpha for its features by leave-query-out. Each size is
    scored by nested cross-validation: features and alphas are chosen again without each outer fold, because
    scores on the data used for a choice are optimistic.

    "greedy" adds the feature that improves the leave-query-out measure most per cost, O(k m n) for k features
    and values of k n score vectors. "lasso" follows the path of the lasso on differences, O(m n² + k n²).
    Outer folds multiply this by their number.

    Parameters
    ----------
    method : {"greedy", "lasso"}, default="greedy"
        "greedy" chooses, step by step, the feature with the largest ``(v' − v) / cost``, where v and v' are
        the measure on left-out queries without and with it, at the best alpha for all features; if none
        improves the measure, it chooses the one with the largest v'. "lasso" minimizes
        ``‖F(Xw − y)‖² + λ Σ_j cost_j s_j |w_j|`` with ``s_j² = (XᵀLX)_jj``, and takes the features with which
        each size is first reached, or those of the next smaller size.
    max_features : int, optional
        The largest size; 10 by default, or all features if there are fewer.
    feature_costs : dict of str to float, or array, shape (n,), optional
        The cost of each feature, by name or for every feature; 1 by default.
    alphas : sequence of float, default=(2⁻¹⁵, ..., 2¹⁵)
        The values to choose from, above 0.
    cv : "auto", int or splitter, default="auto"
        The outer folds, of whole queries; "auto" means 5, or as many as there are queries.
    measure : str or Measure, default="pairwise_error"
        The measure on left-out queries; see `rankwise.metrics.get_measure`.
    ties : {"keep", "drop"}, default="keep"
        Whether to keep or drop pairs with equal labels.
    weighting : {"example", "pair", "query"}, default="example"
        The weight of a query's pairs, as in `RankRLS`.

    Attributes
    ----------
    coef_ : array, shape (n,)
        The weights of the chosen size; 0 for all other features.
    n_features_ : int
        The chosen size: the smallest that is not worse than the best by more than one standard error of the
        difference, or that of `select`.
    coefs_ : array, shape (n_sizes, n)
        The weights of every size, from 1 feature on.
    alphas_, costs_ : array, shape (n_sizes,)
        The alpha of every size, and the sum of the costs of its features.
    scores_, standard_errors_ : array, shape (n_sizes,)
        The measure on outer folds: the mean over queries, and its standard error.
    errors_of_difference_ : array, shape (n_sizes,)
        The standard error of the difference of each score from the best, query by query.
    criterion_ : array, shape (n_sizes,)
        The leave-query-out measure by which features and alphas were chosen; optimistic.
    calibration_, calibrations_ : Calibration, and dict of int to Calibration
        The calibration of the model of the chosen size, and of every size, measured on outer folds; see
        `predict_preference_proba`.
    cv_ : str
        The outer folds, such as "5 folds of queries".

    References
    ----------
    Pahikkala, Airola, Naula, Salakoski, "Greedy RankRLS: a Linear Time Algorithm for Learning Sparse Ranking
    Models" (2010).

    See Also
    --------
    RankRLSCV : With all features.

    Examples
    --------
    >>> from rankwise import RankRLSPath, make_search_data
    >>> data = make_search_data(40, random_state=0)
    >>> model = RankRLSPath(max_features=4, measure="ndcg@10").fit(data)
    >>> [row["feature"] for row in model.path_table()]
    ['embedding_cosine', 'log_inlinks', 'rating', 'url_match']
    >>> int((model.select(2).coef_ != 0).sum())
    2
    """

    _schema = SCHEMAS["RankRLSPath"]

    n_features_: int
    coefs_: Floats
    alphas_: Floats
    costs_: Floats
    scores_: Floats
    standard_errors_: Floats
    criterion_: Floats
    cv_: str

    def __init__(
        self,
        method: str = "greedy",
        *,
        max_features: int | None = None,
        feature_costs: Any = None,
        alphas: Sequence[float] | Floats = DEFAULT_ALPHAS,
        cv: Any = "auto",
        measure: str | Measure = "pairwise_error",
        ties: str = "keep",
        weighting: str = "example",
    ) -> None:
        self.method = method
        self.max_features = max_features
        self.feature_costs = feature_costs
        self.alphas = alphas
        self.cv = cv
        self.measure = measure
        self.ties = ties
        self.weighting = weighting

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
    ) -> Self:
        """Choose the features for every size, and the size; the data is as in `RankRLSCV.fit`.

        An eval_set is only evaluated (`evals_result_`), because sizes are compared on outer folds.
        """
        with task(f"Training {type(self).__name__}"):
            problem = self._read(X, y, qid, sample_weight, group=group, query_weight=query_weight)
            settings = self._checked_settings()
            evals = EvalArguments(eval_set, eval_group, eval_qid, eval_metric, eval_at)
            held_out = eval_rows(self._inputs, problem, settings.measure, evals)
            if problem.queries.n_queries < MIN_QUERIES:
                raise DataError(
                    f"RankRLSPath chooses features on left-out queries and measures them on others, so it "
                    f"needs at least {MIN_QUERIES} queries; got {problem.queries.n_queries}."
                )
            folds = draw_folds(self.cv, problem.y, problem.queries)
            models = follow(problem, settings)
            curve = outer_curve(problem, settings, folds, models)
            outcome = Outcome(
                coefs=np.stack([model.coef for model in models]),
                alphas=np.array([model.alpha for model in models]),
                costs=np.array([settings.costs[model.features].sum() for model in models]),
                criterion=np.array([model.value for model in models]),
                scores=curve.means,
                standard_errors=curve.errors,
                errors_of_difference=curve.errors_of_difference,
                calibrations=curve.calibrations,
                cv=folds.name,
            )
            return self._use(curve.smallest(), outcome, held_out)

    def select(self, n_features: int) -> Self:
        """Use the model with at most this many features."""
        check_fitted(self)
        size = check_count("n_features", n_features)
        if size > len(self.coefs_):
            raise ParameterError(f"The path has at most {len(self.coefs_)} features; got n_features={size}.")
        return self._use(size, self.model_.outcome)

    def _use(self, size: int, path: Outcome, held_out: HeldOut | None = None) -> Self:
        """Set the model of one size."""
        assert path.coefs is not None
        assert path.calibrations is not None
        function, calibration = LinearFunction(path.coefs[size - 1]), path.calibrations.get(size)
        outcome = replace(path, n_features=size)
        self._become(self._rows.model(function, outcome, calibration, held_out=held_out))
        return self

    @property
    def alpha_(self) -> float:
        """The alpha of the chosen size."""
        return float(self.alphas_[self.n_features_ - 1])

    def path_table(self) -> list[dict[str, Any]]:
        """Return a table of what each size adds.

        Returns
        -------
        list of dict
            "n_features"; the new "feature" (several or none if the lasso exchanges features); its "cost", and
            the "total_cost"; "alpha"; the "criterion"; "score" and "standard_error" on outer folds; and
            "adds", the improvement of the score.
        """
        check_fitted(self)
        labels = self._inputs.weight_labels
        sign = 1.0 if get_measure(self.measure).higher_is_better else -1.0
        rows = TableRows()
        for k in range(len(self.coefs_)):
            before = self.coefs_[k - 1] if k else np.zeros(self.coefs_.shape[1])
            new = labels[(self.coefs_[k] != 0.0) & (before == 0.0)]
            rows.append(
                {
                    "n_features": k + 1,
                    "feature": ", ".join(new),
                    "cost": float(self.costs_[k] - (self.costs_[k - 1] if k else 0.0)),
                    "total_cost": float(self.costs_[k]),
                    "alpha": float(self.alphas_[k]),
                    "criterion": float(self.criterion_[k]),
                    "score": float(self.scores_[k]),
                    "standard_error": float(self.standard_errors_[k]),
                    "adds": sign * float(self.scores_[k] - self.scores_[k - 1]) if k else float("nan"),
                }
            )
        return rows

    def plot(self, title: str = "Features") -> Any:
        """Return a matplotlib figure of the measure by the number of features, with standard errors."""
        check_fitted(self)
        curves = {self.cv_: self.scores_, "leave-query-out, on which features were chosen": self.criterion_}
        name = get_measure(self.measure).name
        return draw_sizes(curves, self.standard_errors_, self.n_features_, name, title)

    def _checked_settings(self) -> FeaturePathSettings:
        n = len(self._inputs.features.labels)
        wanted = min(MAX_FEATURES, n) if self.max_features is None else self.max_features
        n_most = check_count("max_features", wanted)
        if n_most > n:
            raise ParameterError(
                f"The 'max_features' parameter must be at most the number of features, {n}; got {n_most}."
            )
        costs = np.ones(n)
        if self.feature_costs is not None:
            costs = check_costs(self.feature_costs, self._inputs.features.labels)
        return FeaturePathSettings(
            method=check_choice("method", self.method, PathMethod),
            n_most=n_most,
            costs=costs,
            alphas=check_alphas(self.alphas, positive=True),
            measure=get_measure(self.measure),
            ties=check_choice("ties", self.ties, Ties),
            weighting=check_choice("weighting", self.weighting, Weighting),
        )
