"""How good each ranker is, how sure that is, and which queries changed: the facts every comparison shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from rankwise.metrics import Comparison, Evaluation, compare, evaluate
from rankwise.metrics.named_measures import MeasureLike
from rankwise.metrics.significance import CONFIDENCE, clear_differences
from rankwise.report.entrants import Entrant
from rankwise.report.lists import short_name
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats


def evaluated(
    entrants: Sequence[Entrant],
    judged: RankingData,
    measures: Iterable[MeasureLike],
    *,
    preset: str | None,
    baseline: str | None,
    random_state: int,
) -> tuple[dict[str, Evaluation], Comparison | None]:
    """The evaluation of each ranker, and tests against the baseline or, without one, of every pair."""
    options: dict[str, Any] = {"preset": preset, "docs": judged.docs}
    if len(entrants) == 1:
        only = entrants[0]
        return {only.name: evaluate(judged.y, only.scores, judged.queries, measures, **options)}, None
    scores = {one.name: one.scores for one in entrants}
    options |= {"baseline": baseline, "random_state": random_state}
    comparison = compare(judged.y, scores, judged.queries, measures, **options)
    return comparison.evaluations, comparison


def quality_facts(evaluations: dict[str, Evaluation], comparison: Comparison | None) -> dict[str, Any]:
    """Measures, means with their margins, and tests."""
    summaries = next(iter(evaluations.values())).summaries
    return {
        "measures": [
            {
                "name": s.measure.name,
                "higher_is_better": s.measure.higher_is_better,
                "queries": s.n_queries,
                "left_out": s.n_left_out,
                "reason": s.reason if s.n_left_out else None,
            }
            for s in summaries
        ],
        "confidence": CONFIDENCE,
        "means": {name: evaluation.means for name, evaluation in evaluations.items()},
        "margins": {name: evaluation.margins for name, evaluation in evaluations.items()},
        "tests": [] if comparison is None else [asdict(test) for test in comparison.tests],
    }


def query_facts(evaluations: dict[str, Evaluation], baseline: str) -> dict[str, Any]:
    """The values of every query, and how much better than the baseline each ranker is there.

    Changes are signed so that positive is better, whatever the measure; they are 0 where values differ only
    by rounding.
    """
    table = next(iter(evaluations.values())).per_query
    summaries = evaluations[baseline].summaries
    values, changes = {}, {}
    for summary in summaries:
        name = summary.measure.name
        columns: dict[str, Floats] = {ranker: e.per_query[name] for ranker, e in evaluations.items()}
        values[name] = columns
        sign = 1.0 if summary.measure.higher_is_better else -1.0
        changes[name] = {
            ranker: sign * _changes(column, columns[baseline])
            for ranker, column in columns.items()
            if ranker != baseline
        }
    return {
        "label": [short_name(label) for label in table["qid"].tolist()],
        "rows": table["n_rows"],
        "values": values,
        "changes": changes,
    }


def _changes(values: Floats, baseline: Floats) -> Floats:
    """Clear differences; NaN where there is no value."""
    known = ~(np.isnan(values) | np.isnan(baseline))
    changes = np.full(len(values), np.nan)
    changes[known] = clear_differences(values[known], baseline[known])
    return changes


def most_contrasting(changes: Floats) -> list[int]:
    """Queries with a change, largest first, by position; among equals, worse ones first."""
    order = np.lexsort((np.arange(len(changes)), changes, -np.abs(changes)))
    return [int(q) for q in order if abs(changes[q]) > 0.0]


def worst(facts: dict[str, Any], ranker: str, count: int) -> list[int]:
    """The positions of the queries that lose most by the first measure, worst first."""
    changes = np.array(facts["queries"]["changes"][facts["measures"][0]["name"]][ranker], dtype=np.float64)
    order = np.argsort(changes, kind="stable")
    return [int(q) for q in order[:count] if changes[q] < 0.0]
