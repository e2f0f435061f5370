"""How quality depends on alpha, on iterations and on the number of training queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwise.metrics.named_measures import MeasureLike, get_measure
from rankwise.metrics.significance import CONFIDENCE
from rankwise.model.data_scores import scaled_like, score_data
from rankwise.model.model import Model
from rankwise.report.entrants import Entrant, with_numbers
from rankwise.report.lists import rounded, short_name
from rankwise.report.weights import MAX_FEATURES, is_explained_by_alpha
from rankwise.rows.ranking import RankingData
from rankwise.selection.search import distinguished
from rankwise.types import Floats, Ints

# Points of a line, and rows and columns of a surface, more than which a page cannot show.
MAX_POINTS, MAX_ALPHAS, MAX_ITERATIONS = 300, 40, 80
# What the criterion was measured on, where the model has other words for it, or none.
_BY = {"eval_set": "validation rows", None: "the rows given to select"}
# Points of a learning curve, each with about 1.6 times the queries of the one before.
LEARNING_POINTS, GROWTH = 8, 1.6
# Random orders in which queries are learned; with fewer, an interval is as uncertain as what it is of.
LEARNING_DRAWS = 10


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


def learning_curve(
    one: Entrant, judged: RankingData, training: RankingData, measure: MeasureLike, random_state: int
) -> dict[str, Any] | None:
    """The measure on the judged rows after training on more and more queries, in several random orders.

    The margins hold what 95 % of such draws of queries would give, by Student's t: 0 for all queries. For
    linear RankRLS, which learns further queries exactly; None for other models.
    """
    from scipy.special import stdtrit
    from sklearn.base import clone

    from rankwise.rankers.rankrls import RankRLS

    learned = one.model
    if learned is None or not judged.n_features:
        return None
    if learned.encoding is not None or not is_explained_by_alpha(learned):
        return None
    if training.n_features > MAX_FEATURES:
        return None
    training = scaled_like(training, learned.features)
    if training.sample_weight is not None:  # queries without weight teach nothing, and cannot be learned
        training = training.select(training.sample_weight > 0.0)
    sizes, labels = _sizes(training.n_queries), training.queries.labels
    if len(sizes) < 2 or labels is None:
        return None
    chosen = {name: learned.choice[name] for name in ("ties", "weighting")}
    names = learned.feature_names
    training, data = with_numbers(training, names), with_numbers(judged, names)
    ranker = RankRLS(learned.alpha, solver="primal", **chosen)
    prepared = get_measure(measure).prepare(judged.y, judged.queries, docs=judged.docs)
    rng, values = np.random.default_rng(random_state), np.empty((LEARNING_DRAWS, len(sizes)))
    for draw in values:
        order, done, learner = rng.permutation(training.n_queries), 0, clone(ranker)
        for at, size in enumerate(sizes):
            learner.partial_fit(training.select(queries=labels[order[done:size]].tolist()))
            draw[at] = prepared(score_data(learner.model_, data))
            done = size
    quantile = float(stdtrit(LEARNING_DRAWS - 1, (1.0 + CONFIDENCE) / 2.0))
    margins = quantile * values.std(axis=0, ddof=1)
    margins[-1] = 0.0  # all draws are the same queries, but for rounding
    return {
        "measure": prepared.measure.name,
        "queries": sizes,
        "values": rounded(values.mean(axis=0)),
        "margins": rounded(margins),
    }


def _sizes(n_queries: int) -> list[int]:
    smaller = (round(n_queries / GROWTH**power) for power in range(LEARNING_POINTS))
    return sorted({size for size in smaller if size >= 2})
