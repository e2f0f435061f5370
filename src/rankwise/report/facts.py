"""The facts of a report: one plain dictionary, from which the page, the terminal and JSON take every number.

The schema is versioned: within a version, entries are added but never renamed or given another meaning.
docs/reports.md describes it. A section is missing where nothing is known about it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import ParameterError
from rankwise.metrics import DEFAULT_MEASURES
from rankwise.metrics.named_measures import MeasureLike
from rankwise.rendering import jsonable
from rankwise.report.absent import absent_facts
from rankwise.report.audits import audit_facts
from rankwise.report.column_functions import interaction_facts, shape_facts
from rankwise.report.curves import curve_facts, learning_facts, size_facts
from rankwise.report.data_facts import data_facts
from rankwise.report.entrants import Entrant, entrant
from rankwise.report.lists import MAX_NAME, list_facts, short_name
from rankwise.report.making import origin_facts
from rankwise.report.quality import evaluated, most_contrasting, quality_facts, query_facts
from rankwise.report.segments import segment_facts
from rankwise.report.verdict import answer, verdict_facts
from rankwise.report.weights import weight_facts
from rankwise.rows.column import Column
from rankwise.rows.ranking import RankingData

SCHEMA = "rankwise.report/1"


def compared_facts(
    rankers: Mapping[str, Any],
    judged: RankingData,
    measures: Iterable[MeasureLike] = DEFAULT_MEASURES,
    *,
    preset: str | None = None,
    baseline: str | None = None,
    every_pair: bool = False,
    random_state: int = 0,
    note: str | None = None,
    by: Mapping[str, Column] | None = None,
) -> tuple[dict[str, Any], list[Entrant]]:
    """What a comparison says: the answer, means, tests and the values of every query.

    Parameters
    ----------
    rankers : dict of name to ranker
        See `entrant`.
    judged : RankingData
    measures, preset, baseline, random_state
        As in `rankwise.metrics.compare`; the baseline is the first ranker by default.
    every_pair : bool
        Test every two rankers, rather than each against the baseline.
    note : str, optional
        What else readers must know about the rows, such as which queries were not judged.
    by : dict of str to Column, optional
        What queries are divided by into segments; see `segment_facts`.

    Returns
    -------
    facts : dict
    entrants : list of Entrant
        The rankers with their scores.
    """
    entrants, baseline = entered(rankers, judged, baseline)
    evaluations, comparison = evaluated(
        entrants,
        judged,
        measures,
        preset=preset,
        baseline=None if every_pair else baseline,
        random_state=random_state,
    )
    quality, per_query = quality_facts(evaluations, comparison), query_facts(evaluations, baseline)
    if by:
        quality["segments"] = segment_facts(per_query, judged.queries, by)
    against = None if every_pair else baseline
    facts: dict[str, Any] = {
        "schema": SCHEMA,
        "answer": answer(quality, against),
        "verdict": verdict_facts(quality, against),
        "models": [_described(one) for one in entrants],
        "baseline": baseline,
        **quality,
        "note": _sentences([note, *map(_unknown, entrants)]),
        "queries": per_query,
    }
    return jsonable(facts), entrants


def entered(
    rankers: Mapping[str, Any], judged: RankingData, baseline: str | None
) -> tuple[list[Entrant], str]:
    """The rankers with their scores, and the name of the baseline: the first one by default."""
    if not rankers:
        raise ParameterError("A report needs at least one ranker.")
    named = {short_name(name): ranker for name, ranker in rankers.items()}
    if len(named) < len(rankers):
        raise ParameterError(f"The names of rankers must differ in their first {MAX_NAME - 1} characters.")
    baseline = next(iter(named)) if baseline is None else short_name(baseline)
    if baseline not in named:
        raise ParameterError(
            f"The 'baseline' parameter must be one of {', '.join(map(repr, named))}; got {baseline!r}."
        )
    return [entrant(name, ranker, judged) for name, ranker in named.items()], baseline


def report_facts(
    rankers: Mapping[str, Any],
    judged: RankingData,
    measures: Iterable[MeasureLike] = DEFAULT_MEASURES,
    *,
    title: str,
    training: RankingData | None = None,
    preset: str | None = None,
    baseline: str | None = None,
    every_pair: bool = False,
    random_state: int = 0,
    note: str | None = None,
    by: Mapping[str, Column] | None = None,
    titles: Mapping[Any, str] | None = None,
    command: str | None = None,
    files: Iterable[Path] = (),
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """All facts of a report, and `more` sections; see `rankwise.make_report` for the parameters."""
    start = time.perf_counter()
    measures = list(measures)
    facts, entrants = compared_facts(
        rankers,
        judged,
        measures,
        preset=preset,
        baseline=baseline,
        every_pair=every_pair,
        random_state=random_state,
        note=note,
        by=by,
    )
    sections: dict[str, Any] = {
        "weights": weight_facts(entrants, judged, training),
        "shapes": shape_facts(entrants, judged, training),
        "interactions": interaction_facts(entrants),
        "choices": {one.name: None if one.model is None else curve_facts(one.model) for one in entrants},
        "sizes": {one.name: size_facts(one) for one in entrants},
        "calibration": {one.name: _calibration(one) for one in entrants},
        "data": data_facts(judged),
        "audit": audit_facts(judged),
        **(more or {}),
    }
    if training is not None:
        sections["learning"] = {
            one.name: learning_facts(one, training, measures[0], random_state) for one in entrants
        }
    absent = absent_facts(entrants, judged, sections, has_training=training is not None)
    seconds = time.perf_counter() - start
    origin = origin_facts(command=command, files=files, random_state=random_state, seconds=seconds)
    lists = list_facts(entrants, judged, _order(facts))  # many numbers, and plain ones
    known = {**jsonable(_known(sections)), "absent": absent, "titles": _titles(titles, facts, lists)}
    return {"title": title, **facts, "lists": lists, **known, "origin": origin}


def _titles(titles: Mapping[Any, str] | None, facts: dict[str, Any], lists: dict[str, Any]) -> dict[str, str]:
    """The titles of the queries and documents that the facts name."""
    if not titles:
        return {}
    named = {short_name(label): short_name(title) for label, title in titles.items()}
    labels = {*facts["queries"]["label"], *(doc for query in lists["queries"] for doc in query["docs"])}
    return {label: named[label] for label in sorted(labels & named.keys())}


def _described(one: Entrant) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": one.kind,
        "not_retrieved": int(np.ma.getmaskarray(one.scores).sum()),
        "explained": one.terms is not None,
    }


def _unknown(one: Entrant) -> str | None:
    if not one.n_unknown:
        return None
    return f"Documents of {one.name} that are not in the data, and do not count: {one.n_unknown:,}"


def _sentences(texts: Iterable[str | None]) -> str | None:
    return " ".join(f"{text.removesuffix('.')}." for text in texts if text) or None


def _calibration(one: Entrant) -> dict[str, Any] | None:
    """How a difference of scores becomes a probability, and how well that holds; None if it is not known."""
    calibration = None if one.model is None else one.model.calibration
    return None if calibration is None else calibration.to_dict()


def _order(facts: dict[str, Any]) -> list[int]:
    """Queries by their largest change in the first measure; without a change, by how bad they are."""
    measure = facts["measures"][0]
    values = facts["queries"]["values"][measure["name"]][facts["baseline"]]
    sign = 1.0 if measure["higher_is_better"] else -1.0
    poor: list[int] = np.argsort([np.inf if v is None else sign * v for v in values], kind="stable").tolist()
    by_model: Sequence[list[float | None]] = list(facts["queries"]["changes"][measure["name"]].values())
    if not by_model:
        return poor
    changes = np.array(by_model, dtype=np.float64)
    largest = np.take_along_axis(changes, np.nanargmax(np.abs(np.nan_to_num(changes)), axis=0)[None], axis=0)
    return list(dict.fromkeys([*most_contrasting(np.nan_to_num(largest[0])), *poor]))


def _known(sections: dict[str, Any]) -> dict[str, Any]:
    """Without what is not known, at either level."""
    kept = {}
    for name, section in sections.items():
        if isinstance(section, dict):
            section = {key: value for key, value in section.items() if value is not None}
        if section:
            kept[name] = section
    return kept
