"""How quality depends on alpha, on iterations and on the number of training queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwise.metrics.named_measures import MeasureLike, get_measure
from rankwise.model.data_scores import scaled_like, with_numbers
from rankwise.model.model import Model
from rankwise.report.entrants import Entrant
from rankwise.report.lists import rounded, short_name
from rankwise.report.weights import MAX_FEATURES, is_explained_by_alpha
from rankwise.rows.ranking import RankingData
from rankwise.selection.learning_curve import LEAST_QUERIES, learning_curve
from rankwise.selection.search import distinguished
from rankwise.types import Floats, Ints

# Points of a line, and rows and columns of a surface, more than which a page cannot show.
MAX_POINTS, MAX_ALPHAS, MAX_ITERATIONS = 300, 40, 80
# What the criterion was measured on, where the model has other words for it, or none.
_BY = {"eval_set": "validation rows", None: "the rows given to select"}
# Random orders in which queries are learned.
LEARNING_DRAWS = 10
# What is refitted on fewer queries has these settings of the model.
_SETTINGS = ("ties", "weighting", "across_queries")


def curve_facts(model: Model) -> dict[str, Any] | None:
    """The criterion by alpha, or along a path, and by iteration; None for models that chose no alpha."""
    outcome, alphas = model.outcome, model.outcome.alphas
    if alphas is None or outcome.scores is None or outcome.coefs is not None:
        return None
    scores, chosen = np.atleast_2d(outcome.scores), model.alpha
    kept = _thinned(alphas, chosen, MAX_POINTS)
    settings = outcome.settings or [{}]
    named = model.parameters.get("measure")
    measure = None if named is None else get_measure(named)
    facts: dict[str, Any] = {
        "measure": None if measure is None else measure.name,
        "higher_is_better": None if measure is None else measure.higher_is_better,
        "by": _BY.get(outcome.cv, outcome.cv),
        "alphas": rounded(alphas[kept]),
        "settings": [distinguished(setting, settings) or "score" for setting in settings],
        "scores": [rounded(row[kept]) for row in scores],
        "chosen": {"alpha": chosen, "setting": _chosen_setting(outcome.best or {}, settings)},
    }
    if outcome.active_size is not None:
        facts["on_margin"] = rounded(outcome.active_size[kept])
    if outcome.surface is not None and outcome.best_iter is not None:
        facts["surface"] = _surface(outcome.surface, alphas, chosen, outcome.best_iter)
    return facts


def size_facts(one: Entrant) -> dict[str, Any] | None:
    """Quality by the number of features, and the features that each size adds; None for other models."""
    if one.model is None or one.model.outcome.coefs is None or one.terms is None:
        return None
    outcome = one.model.outcome
    used = np.asarray(outcome.coefs) != 0.0
    before = np.vstack([np.zeros_like(used[:1]), used[:-1]])
    measure = get_measure(one.model.parameters["measure"])
    return {
        "measure": measure.name,
        "higher_is_better": measure.higher_is_better,
        "by": outcome.cv,
        "added": [[short_name(one.terms.columns[k]) for k in np.flatnonzero(new)] for new in used & ~before],
        "scores": rounded(outcome.scores),
        "standard_errors": rounded(outcome.standard_errors),
        "costs": rounded(outcome.costs),
        "chosen": outcome.n_features,
    }


def _thinned(alphas: Floats, chosen: float, most: int) -> Ints:
    """Positions of alphas evenly spaced in their logarithm, with the chosen one."""
    if len(alphas) <= most:
        return np.arange(len(alphas))
    wanted = np.geomspace(max(alphas[0], alphas[-1] * 1e-12), alphas[-1], most)
    nearest = np.searchsorted(alphas, wanted).clip(0, len(alphas) - 1)
    return np.unique(np.append(nearest, np.argmin(np.abs(alphas - chosen))))


def _chosen_setting(best: Mapping[str, Any], settings: Sequence[dict[str, Any]]) -> int:
    matches = (all(best.get(k) == v for k, v in setting.items()) for setting in settings)
    return next((number for number, match in enumerate(matches) if match), 0)


def _surface(values: Floats, alphas: Floats, alpha: float, iteration: int) -> dict[str, Any]:
    """The criterion by alpha and iteration; of many iterations, mostly the first, which matter most."""
    rows = _thinned(alphas, alpha, MAX_ALPHAS)
    last = values.shape[1]
    shown = np.geomspace if last > MAX_ITERATIONS else np.linspace
    iterations = np.unique([*shown(1, last, min(last, MAX_ITERATIONS)).round().astype(int), iteration])
    return {
        "alphas": rounded(alphas[rows]),
        "iterations": iterations.tolist(),
        "values": [rounded(row) for row in values[np.ix_(rows, iterations - 1)]],
        "chosen": {"alpha": alpha, "iteration": iteration},
    }


def learning_facts(
    one: Entrant, training: RankingData, measure: MeasureLike, random_state: int
) -> dict[str, Any] | None:
    """The measure on left-out training queries by the number of queries learned, with the alpha of the model.

    For linear RankRLS, which is learned quickly; None for other models, and for too few queries.
    """
    from rankwise.rankers.rankrls import RankRLS

    learned = one.model
    if learned is None or learned.encoding is not None or not is_explained_by_alpha(learned):
        return None
    if training.n_features > MAX_FEATURES or training.queries.labels is None:
        return None
    training = with_numbers(scaled_like(training, learned.features), learned.feature_names)
    if training.sample_weight is not None:  # queries without weight teach nothing, and cannot be learned
        training = training.select(training.sample_weight > 0.0)
    if training.n_queries < LEAST_QUERIES:
        return None
    settings = {name: learned.choice[name] for name in _SETTINGS if name in learned.choice}
    ranker = RankRLS(learned.alpha, solver="primal", **settings)
    curve = learning_curve(training, ranker, measure, n_draws=LEARNING_DRAWS, random_state=random_state)
    rows = curve.to_dict()["curve"]
    *_, last = rows
    return {
        "measure": curve.measure.name,
        "queries": [row["queries"] for row in rows],
        "values": rounded(np.array([row["mean"] for row in rows])),
        "margins": rounded(np.array([row["margin"] for row in rows])),
        "source": [row["source"] for row in rows],
        "gain": {"queries": last["queries"], "mean": last["gain"], "margin": last["gain_margin"]},
    }
