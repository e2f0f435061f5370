"""Labels of people for a sample of queries: estimates that they and a model's labels give together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankwise.cli.screen import show_json, show_table
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.metrics import Measure, SampledEvaluation, SampledMean
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Floats, Ints


def labels_of_people(people: tuple[Ints, Floats], n_rows: int) -> Any:
    """The labels of people for some rows, as from `judged_labels`, masked elsewhere."""
    import numpy as np

    judged, labels = people
    values, unknown = np.zeros(n_rows), np.ones(n_rows, dtype=np.bool_)
    values[judged], unknown[judged] = labels, False
    return np.ma.masked_array(values, unknown)


def measure_sampled(
    people: tuple[Ints, Floats],
    rows: RankingData,
    scores: Floats | Mapping[str, Floats],
    measures: Sequence[Measure],
) -> SampledEvaluation:
    """Measure scores by the labels of people for some rows, and those of a model for all."""
    from rankwise.metrics import evaluate_sampled

    return evaluate_sampled(rows.y, labels_of_people(people, rows.n_rows), scores, rows.queries, measures)


def train_sampled(
    ranker: Any, data: RankingData, people: tuple[Ints, Floats]
) -> tuple[Any, RankingData, Ints, str]:
    """Train on both: the ranker, the rows with both labels, those that people judged, and what to say."""
    import numpy as np

    from rankwise.selection.sampled_labels import fit_sampled

    labels = labels_of_people(people, data.n_rows)
    fitted, weight = fit_sampled(ranker, data, labels)
    judged = np.flatnonzero(~labels.mask)
    n_judged = len(np.unique(data.queries.query_of_row()[judged]))
    note = (
        f"People judged {n_judged:,} of {data.n_queries:,} queries. Quality is measured on these; settings "
        f"are chosen on {'all' if weight else 'these'}. A query judged by the model counts {weight:g} of one "
        "that people judged."
    )
    return fitted, replace(data, y=np.where(labels.mask, data.y, labels.data)), judged, note


def refuse_with_human(**options: Any) -> None:
    """What makes no sense together with labels of people for a sample."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ParameterError(f"--human chooses by left-out queries, and cannot be used with --{given[0]}.")


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
