"""How much each column moves a score, and how sure its weight is.

Intervals are by the jackknife over queries (Efron and Stein, 1981): how much the weights vary when any one
query is left out of training. The models without a query are exact, from the decomposition of the whole
(`ridge.leave_out.left_out_weights`), so they cost about as much as one fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from rankwise.columns.profile import NO_EFFECT
from rankwise.errors import DataError
from rankwise.metrics.significance import CONFIDENCE
from rankwise.model.data_scores import scaled_like, with_numbers
from rankwise.model.model import Model
from rankwise.report.entrants import Entrant
from rankwise.report.lists import rounded, short_name
from rankwise.ridge.leave_out.left_out_weights import weights_without
from rankwise.ridge.ridge_family import linear_family
from rankwise.ridge.squared import loss_on_scores
from rankwise.rows.ranking import RankingData
from rankwise.scoring.functions import LinearFunction
from rankwise.selection.criteria import folds_of
from rankwise.selection.folding import each_query
from rankwise.types import Floats, Solver, Ties, Weighting
from rankwise.validation.problems import Problem

# Columns that are listed; queries and numbers from which effects are measured.
MAX_COLUMNS, MAX_QUERIES, MAX_NUMBERS = 40, 60, 20_000_000
# Rows from which effects are measured where their contributions take long.
MAX_SLOW_ROWS = 1000
# With more features, forming their products takes longer than anyone waits for a page.
MAX_FEATURES = 2000
# How far weights may be from those of a fit to what is said to be the training data.
SAME_WEIGHTS = 1e-4


def weight_facts(
    entrants: Sequence[Entrant], judged: RankingData, training: RankingData | None
) -> dict[str, Any] | None:
    """Effects and weights of the columns of each model; intervals where the training data is known."""
    found = {one.name: _of_model(one, judged, training) for one in entrants if one.terms is not None}
    return found or None


def _of_model(one: Entrant, judged: RankingData, training: RankingData | None) -> dict[str, Any]:
    assert one.terms is not None
    effects, n_queries = _effects(one, judged)
    order = np.argsort(-effects, kind="stable")[:MAX_COLUMNS]
    order = order[effects[order] > NO_EFFECT * effects.max()]
    facts: dict[str, Any] = {
        "columns": [short_name(one.terms.columns[k]) for k in order],
        "effects": rounded(effects[order]),
        "n_columns": len(effects),
        "effects_from_queries": n_queries,
    }
    model = one.model
    if model is None or not isinstance(model.function, LinearFunction):  # columns: `shape_facts`
        return facts
    coef = weights_of(model)
    facts["effects"] = rounded(np.copysign(effects, coef)[order])
    facts["weights"] = rounded(coef[order])
    if training is not None and is_explained_by_alpha(model) and len(coef) <= MAX_FEATURES:
        without = left_out_weights(model, training)
        margins = jackknife_margins(without)
        facts |= {
            "margins": rounded(margins[order]),
            "effect_margins": rounded(margins[order] * effects[order] / np.abs(coef[order])),
            "same_sign": rounded((np.sign(without) == np.sign(coef)).mean(axis=0)[order]),
            "training_queries": len(without),
        }
    return facts


def _effects(one: Entrant, judged: RankingData) -> tuple[Floats, int]:
    """The standard deviation within queries of what each column contributes, and from how many queries."""
    assert one.terms is not None
    n_queries, n_columns = judged.queries.n_queries, len(one.terms.columns)
    most_rows = MAX_SLOW_ROWS if one.terms.is_slow else MAX_NUMBERS / n_columns
    wanted = int(np.clip(most_rows / judged.queries.sizes.mean(), 1, min(MAX_QUERIES, n_queries)))
    chosen = np.unique(np.linspace(0, n_queries - 1, wanted).astype(int))
    squares, n_rows = np.zeros(len(one.terms.columns)), 0
    for query in chosen:
        rows = judged.queries.rows_of(query)
        contributions = one.terms.of_rows(rows, np.arange(len(rows)))
        squares += ((contributions - contributions.mean(axis=0)) ** 2).sum(axis=0)
        n_rows += len(contributions)
    return np.sqrt(squares / n_rows), len(chosen)


def is_explained_by_alpha(model: Model) -> bool:
    """Whether a model is the exact minimum of the squared loss plus a multiple of the norm of its weights."""
    is_closed = model.outcome.solver in (Solver.PRIMAL, Solver.DUAL)
    is_linear = isinstance(model.of_features, LinearFunction)
    return is_closed and is_linear and model.parameters.get("monotonic_cst") is None and model.alpha > 0.0


def weights_of(model: Model) -> Floats:
    """The weights of a linear model."""
    weights = model.of_features.weights
    assert weights is not None
    return weights


def left_out_weights(model: Model, training: RankingData) -> Floats:
    """The weights of a linear RankRLS model without each query of its training data, shape (queries, n).

    Raises an error if the model is not that of the training data.
    """
    ties, weighting = Ties(model.choice["ties"]), Weighting(model.choice["weighting"])
    loss_of = partial(loss_on_scores, ties=ties, weighting=weighting)
    data = scaled_like(training, model.features)
    if model.encoding is not None:
        X = model.encoding.encode(model.table(data))
    else:
        X = with_numbers(data, model.feature_names).X
    alpha, coef = model.alpha, weights_of(model)
    if X.shape[1] != len(coef):
        raise DataError(f"The training data has {X.shape[1]} features, but the model has {len(coef)}.")
    across = float(model.choice.get("across_queries", 0.0))
    problem = Problem(X, data.y, data.queries, data.sample_weight, across_queries=across)
    family = linear_family(X, loss_of(problem))
    whole = family.solve(np.array([alpha])).coef[0]
    if np.abs(whole - coef).max() > SAME_WEIGHTS * np.abs(coef).max():
        raise DataError(
            "The model does not belong to the training data: a refit has other weights. (Models trained "
            "with weights of queries, or on pairs, have no intervals.)"
        )
    folds = folds_of(each_query(data.queries), problem, loss_of)
    return np.array(list(weights_without(family, folds, alpha)))


def jackknife_margins(without: Floats) -> Floats:
    """Half the width of a 95 % interval of each weight, by Student's t; NaN for a single query."""
    from scipy.special import stdtrit

    n = len(without)
    if n < 2:
        return np.full(without.shape[1], np.nan)
    error = np.sqrt((n - 1) * without.var(axis=0))
    return np.asarray(stdtrit(n - 1, (1.0 + CONFIDENCE) / 2.0) * error)
