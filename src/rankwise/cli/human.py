"""Labels of people for a sample of queries: estimates that they and a model's labels give together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankwise.cli.screen import show_json, show_table

if TYPE_CHECKING:
    from rankwise.metrics import Measure, SampledEvaluation, SampledMean
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Floats, Ints


def measure_sampled(
    people: tuple[Ints, Floats],
    rows: RankingData,
    scores: Floats | Mapping[str, Floats],
    measures: Sequence[Measure],
) -> SampledEvaluation:
    """Measure scores by the labels of people for some rows, as from `judged_labels`, and those of all."""
    import numpy as np

    from rankwise.metrics import evaluate_sampled

    judged, labels = people
    values, unknown = np.zeros(rows.n_rows), np.ones(rows.n_rows, dtype=np.bool_)
    values[judged], unknown[judged] = labels, False
    return evaluate_sampled(rows.y, np.ma.masked_array(values, unknown), scores, rows.queries, measures)


def compare_sampled(
    people: tuple[Ints, Floats],
    rankers: Mapping[str, Any],
    rows: RankingData,
    measures: Sequence[Measure],
    baseline: str | None,
) -> SampledEvaluation:
    """The same for several rankers, and their differences from the baseline."""
    from rankwise.report.facts import entered

    entrants, first = entered(rankers, rows, baseline)
    entrants.sort(key=lambda one: one.name != first)
    return measure_sampled(people, rows, {one.name: one.scores for one in entrants}, measures)


def show_sampled(found: SampledEvaluation, json: bool) -> None:
    """The means of each ranker and, of several, the differences from the first."""
    if json:
        show_json(found.to_dict())
        return
    note = f"People judged {found.n_sampled:,} of {found.n_queries:,} queries; ± is half of a 95 % interval."
    _show("Quality", found.means, None if found.differences else note)
    if found.differences:
        _show("Differences", found.differences, note)


def _show(title: str, means: Sequence[SampledMean], note: str | None) -> None:
    columns = ("measure", "ranker", "mean", "±", "people alone", "±", "model's labels alone", "weight")
    lines = [
        (
            *(one.measure, one.scores, one.mean, one.margin),
            *(one.people, one.people_margin, one.model, one.weight),
        )
        for one in means
    ]
    show_table(title, columns, lines, note)
