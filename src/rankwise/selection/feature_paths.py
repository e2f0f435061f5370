"""Models with few features: which features, how many, and what each of them adds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from rankwise.errors import DataError
from rankwise.long_tasks import step
from rankwise.metrics.measure import Measure
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.samples import sample_judged_pairs
from rankwise.ridge.greedy import greedy_path
from rankwise.ridge.ridge_family import linear_family
from rankwise.ridge.squared import SquaredLoss, losses_on_scores
from rankwise.scoring.calibration import Calibration
from rankwise.selection.calibrating import calibrate
from rankwise.selection.criteria import OnFolds
from rankwise.selection.folding import Folds, each_query, without_fold
from rankwise.selection.search import best_alpha
from rankwise.types import Floats, Ints, Matrix, PathMethod, Ties, Weighting, is_sparse
from rankwise.validation import Problem

# A lasso path adds a feature in most steps, and now and then drops one.
STEPS_PER_FEATURE = 8
# What rounding may add to means over queries, relative to their values.
ROUNDING = 1e-12


@dataclass(frozen=True)
class FeaturePathSettings:
    """How features are chosen.

    Attributes
    ----------
    method : PathMethod
    n_most : int
        The largest number of features.
    costs : Floats, shape (n,)
    alphas : Floats, shape (n_alphas,)
    measure : Measure
        Of left-out queries.
    ties, weighting
        The loss, as in `RankRLS`.
    """

    method: PathMethod
    n_most: int
    costs: Floats
    alphas: Floats
    measure: Measure
    ties: Ties
    weighting: Weighting

    def loss(self, problem: Problem) -> SquaredLoss:
        losses: list[SquaredLoss] = losses_on_scores(problem, self.ties, self.weighting)
        return losses[0]


@dataclass(frozen=True)
class SizedModel:
    """A model with few features.

    Attributes
    ----------
    features : Ints
    coef : Floats, shape (n,)
        0 for all other features.
    alpha : float
        The best for these features.
    value : float
        Its measure on left-out queries, on which features and alpha were chosen.
    """

    features: Ints
    coef: Floats
    alpha: float
    value: float


@dataclass(frozen=True)
class Curve:
    """The measure of each size on outer folds, by models that were chosen without them.

    Attributes
    ----------
    values : Floats, shape (n_most, n_queries)
        Of the queries for which the measure is defined.
    higher_is_better : bool
    calibrations : dict
        How sure the models of each size are; sizes whose scores are all equal are missing.
    """

    values: Floats
    higher_is_better: bool
    calibrations: dict[int, Calibration] = field(default_factory=dict)

    @property
    def means(self) -> Floats:
        return np.asarray(self.values.mean(axis=1))

    @property
    def errors(self) -> Floats:
        """The standard error of each mean."""
        return _standard_errors(self.values)

    @property
    def best(self) -> int:
        return int(np.argmax(self.means) if self.higher_is_better else np.argmin(self.means))

    @property
    def errors_of_difference(self) -> Floats:
        """The standard error of the difference of each mean from the best, query by query."""
        return _standard_errors(self.values - self.values[self.best])

    def smallest(self) -> int:
        """The smallest size that is not worse than the best by more than one standard error, from 1 on.

        The error is that of the difference: how difficult queries are affects all sizes alike. A size that
        differs from the best in a single query is behind by exactly one standard error.
        """
        behind = np.abs(self.means - self.means[self.best]) - self.errors_of_difference
        return int(np.flatnonzero(behind <= ROUNDING * np.abs(self.values).max())[0]) + 1


def _standard_errors(values: Floats) -> Floats:
    return np.asarray(values.std(axis=1, ddof=1) / np.sqrt(values.shape[1]))


def follow(problem: Problem, settings: FeaturePathSettings) -> list[SizedModel]:
    """The model with at most one feature, at most two, and so on, each refitted with the best alpha."""
    if problem.queries.n_queries < 2:
        raise DataError("Features are chosen by leaving out queries, which needs at least 2; got 1.")
    everything = np.arange(problem.X.shape[1])
    supports = _SUPPORTS[settings.method](problem, settings, _refitted(problem, everything, settings).alpha)
    models: list[SizedModel] = []
    for features in supports:
        same = models and np.array_equal(np.sort(models[-1].features), np.sort(features))
        models.append(models[-1] if same else _refitted(problem, features, settings))
    return models


def outer_curve(
    problem: Problem, settings: FeaturePathSettings, folds: Folds, models: Sequence[SizedModel]
) -> Curve:
    """Follow the path without each fold, and measure every size on it.

    `models` are those of all rows. Each fold has its own alphas, and so its own scale of scores: for the
    calibration of `models`, scores are brought to the scale of theirs.
    """
    assert folds.queries is not None
    values, left_out, spread = [], [], _spreads(problem, models)
    for number, held in enumerate(folds.held):
        test = problem.select(held)
        step(f"fold {number + 1} of {len(folds.held)}", done=(number + 1) / (len(folds.held) + 1))
        with without_fold(number):
            rest = problem.select(np.setdiff1d(np.arange(len(problem.y)), held))
            others = follow(rest, settings)
        scores, prepared = _scores(test, others), settings.measure.prepare(test.y, test.queries)
        values.append(np.array([prepared.per_query(row) for row in scores]))
        own = _spreads(rest, others)
        left_out.append(scores * np.divide(spread, own, out=np.zeros_like(own), where=own > 0.0)[:, None])
    table = np.concatenate(values, axis=1)
    table = table[:, ~np.isnan(table[0])]
    if table.shape[1] < 2:
        raise DataError(f"The measure '{settings.measure.name}' is defined for fewer than 2 queries.")
    seen = np.concatenate(folds.held)
    sample = sample_judged_pairs(problem.y[seen], folds.compared[seen])
    found = (calibrate(scores, sample, folds.name) for scores in np.concatenate(left_out, axis=1))
    calibrations = {size: one for size, one in enumerate(found, start=1) if one is not None}
    return Curve(table, settings.measure.higher_is_better, calibrations)


def _scores(problem: Problem, models: Sequence[SizedModel]) -> Floats:
    """A row of scores for each model, up to a constant for each query."""
    design = MatrixDesign(problem.X, reference=problem.queries.first_rows())
    return np.ascontiguousarray(design.scores(np.stack([model.coef for model in models], axis=1)).T)


def _spreads(problem: Problem, models: Sequence[SizedModel]) -> Floats:
    """The standard deviation of the scores of each model within queries."""
    queries, scores = problem.queries, _scores(problem, models)
    grouped = np.stack([queries.grouped(row) for row in scores])
    means = np.add.reduceat(grouped, queries.offsets[:-1], axis=1) / queries.sizes
    return np.asarray((grouped - np.repeat(means, queries.sizes, axis=1)).std(axis=1))


def _refitted(problem: Problem, features: Ints, settings: FeaturePathSettings) -> SizedModel:
    coef = np.zeros(problem.X.shape[1])
    if len(features) == 0:
        prepared = settings.measure.prepare(problem.y, problem.queries)
        return SizedModel(features, coef, float(settings.alphas[-1]), prepared(np.zeros(len(problem.y))))
    part, measure, alphas = (
        replace(problem, X=_columns(problem.X, features)),
        settings.measure,
        settings.alphas,
    )
    loss = settings.loss(part)
    family = linear_family(part.X, loss)
    criterion = OnFolds(each_query(part.queries), part, measure)
    found = criterion.values(family, settings.loss, alphas, lambda done, solved=None: None).values
    place = best_alpha(found[None], measure)[1]
    coef[features] = family.solve(alphas[[place]]).coef[0]
    return SizedModel(features, coef, float(alphas[place]), float(found[place]))


def _columns(X: Matrix, features: Ints) -> Matrix:
    chosen: Any = X[:, features]
    return chosen if is_sparse(X) else np.ascontiguousarray(chosen)


def _greedy(problem: Problem, settings: FeaturePathSettings, alpha: float) -> list[Ints]:
    loss = settings.loss(problem)
    prepared = settings.measure.prepare(problem.y, problem.queries)
    sign = 1.0 if settings.measure.higher_is_better else -1.0
    design = MatrixDesign(problem.X, reference=loss.differences.reference())
    found = greedy_path(
        design, loss, alpha, settings.n_most, lambda table: sign * prepared.many(table), settings.costs
    )
    return [found.order[: k + 1] for k in range(settings.n_most)]  # a path that ends early stays as it is


def _lasso(problem: Problem, settings: FeaturePathSettings, alpha: float) -> list[Ints]:
    """The first support of each size on the lasso path of differences, or the largest that is smaller.

    Features are brought to one scale, divided by their costs: the penalty is ``Σ_j cost_j s_j |w_j|`` with
    ``s_j²`` on the diagonal of ``XᵀLX``.
    """
    loss = settings.loss(problem)
    quadratic = loss.quadratic(MatrixDesign(problem.X, reference=loss.reference()))
    scale = np.sqrt(np.diag(quadratic.matrix))
    penalty = settings.costs * np.where(scale > 0.0, scale, 1.0)
    with warnings.catch_warnings():
        # Features that are combinations of others are left out with a warning.
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, _, path = lars_path_gram(
            quadratic.right / penalty,
            quadratic.matrix / np.outer(penalty, penalty),
            n_samples=len(problem.y),
            max_iter=STEPS_PER_FEATURE * settings.n_most,
            method="lasso",
        )
    supports = [np.flatnonzero(coef) for coef in path.T]
    return [max((s for s in supports if len(s) <= k + 1), key=len) for k in range(settings.n_most)]


_SUPPORTS: dict[PathMethod, Callable[[Problem, FeaturePathSettings, float], Sequence[Ints]]] = {
    PathMethod.GREEDY: _greedy,
    PathMethod.LASSO: _lasso,
}
