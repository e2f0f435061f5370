"""The card of a model: what it is, how it was made and how good it is, as a page and as facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwise.columns.context import about_context
from rankwise.columns.profile import NO_EFFECT, ColumnProfile
from rankwise.model.attributes import attributes_of
from rankwise.model.history import SEEN, File, History, Result, Step
from rankwise.model.model import Model
from rankwise.rendering import Cell, Page, Section, counted
from rankwise.scoring.functions import KernelExpansion
from rankwise.types import Reading

_ABOUT_PARTS = {
    "left_out": "queries scored by models that were not trained on them, and used to choose settings",
    "before": "the learned queries, scored before they were learned",
}
# Values of a list that are shown, and categories of a column.
_FEW, _FREQUENT = 5, 3
_DAY, _MOST_DAYS = np.timedelta64(1, "D"), 1e8


def card_page(model: Model, title: str, *, short: bool = False) -> Page:
    """The card as a page; `short` for a terminal, with the first digits of checksums."""
    history = model.origin.history or ()
    sections = (
        _data(history, short),
        _quality(history),
        _columns(model),
        _interactions(model),
        _steps(history),
        _settings(model),
    )
    shown = tuple(section for section in sections if section.rows)
    return Page(title, tuple(_sentences(model, history)), shown)


def _sentences(model: Model, history: History) -> list[str]:
    origin, outcome = model.origin, model.outcome
    rows = "" if origin.n_rows is None else f", learned from {counted(origin.n_rows, 'row')}"
    queries = "" if origin.n_queries is None else f" in {counted(origin.n_queries, 'query')}"
    first = history[0].date if history else None
    when = "" if first is None else f" on {shown_date(first)}"
    made = "" if origin.version is None or history else f" with rankwise {origin.version}"
    fitted = f"; fitted{when}{made}" if when or made else ""
    said = [f"{model.class_name}: {_kind_of(model)}{rows}{queries}{fitted}."]
    if len(history) > 1:
        last = "" if history[-1].date is None else f", last on {shown_date(history[-1].date)}"
        said.append(f"Updated {_times(len(history) - 1)}{last}.")
    if outcome.best is not None:
        # Where the default was used, the fitted parameter has the actual value.
        values = attributes_of(model)
        best = {name: values.get(f"{name}_", value) for name, value in outcome.best.items()}
        score = best.pop("score")
        chosen = ", ".join(f"{name} {_shown(value)}" for name, value in best.items())
        said.append(
            f"Chosen: {chosen}; {model.parameters.get('measure')} {score:.4f} by {_chosen_on(model)}."
        )
    said += [f"Note: {note}" for step in history[-1:] for note in step.notes]
    if len(history) == 1:
        said.append(f"Made by: {_made_by(history[0])}")
    if history and history[-1].versions:
        versions = ", ".join(f"{name} {version}" for name, version in history[-1].versions.items())
        said.append(f"Versions: {versions}.")
    if outcome.context_columns:
        names = list(map(str, outcome.context_columns))
        said.append(about_context(names, with_interactions=model.takes_interactions))
    if model.calibration is not None:
        probability = float(model.calibration.probability(np.ones(1))[0])
        error = model.calibration.expected_calibration_error
        said.append(
            f"A row that scores 1 more than another is judged above it with probability {probability:.2f} "
            f"(expected calibration error {error:.3f})."
        )
    return said


def _kind_of(model: Model) -> str:
    n_interactions = 0 if model.encoding is None else len(model.encoding.interactions)
    n_columns = model.n_features if model.encoding is None else len(model.encoding.codes)
    columns = counted(n_columns, "feature" if model.encoding is None else "column")
    if isinstance(model.of_features, KernelExpansion):
        kernel = model.of_features.kernel.function
        return f"{kernel} kernel with {counted(len(model.of_features.indices), 'basis row')} of {columns}"
    kind = "linear in" if model.encoding is None else "a sum of functions of"
    more = "" if not n_interactions else f" and {counted(n_interactions, 'interaction')}"
    return f"{kind} {columns}{more}"


def _chosen_on(model: Model) -> str:
    return "validation data" if model.outcome.cv == "eval_set" else str(model.outcome.cv)


def _data(history: History, short: bool) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for number, step in _newest_first(history):
        for used in step.rows:
            columns = (used.label or "", used.qid or "")
            counts = ("" if n is None else f"{n:,}" for n in (used.n_rows, used.n_queries))
            n_rows, n_queries = counts
            for place, file in enumerate(used.files or (File(""),)):
                digest = (file.sha256 or "")[: 12 if short else None]
                cells = (n_rows, n_queries, *columns) if place == 0 else ("",) * 4
                step_number = str(number) if len(history) > 1 else ""
                rows.append((step_number, used.part, file.name, *cells, digest))
    header = ("step", "part", "file", "rows", "queries", "label", "qid", "SHA-256")
    return _without_empty("Data", header, rows)


def _quality(history: History) -> Section:
    """The results of the last step that has any."""
    results: Sequence[Result] = next((step.results for step in reversed(history) if step.results), ())
    parts = list(dict.fromkeys(one.part for one in results))
    found = {(one.measure, one.part): one for one in results}
    rows = tuple(
        (measure, *(_measured(found.get((measure, part))) for part in parts))
        for measure in dict.fromkeys(one.measure for one in results)
    )
    counts = {one.part: one.n_queries for one in results if one.n_queries is not None}
    notes = [f"Queries: {', '.join(f'{n:,} {part}' for part, n in counts.items())}."] if counts else []
    notes += [f"{part}: {about}." for part, about in _ABOUT_PARTS.items() if part in parts]
    notes += [] if set(parts) <= set(SEEN) else ["± is half of a 95 % interval over queries."]
    return Section("Quality", ("measure", *parts), rows, " ".join(notes) or None)


def _measured(result: Result | None) -> str:
    if result is None or result.mean is None:
        return "–"
    margin = None if result.part in SEEN else result.margin
    return f"{result.mean:.4f}" + ("" if margin is None else f" ±{margin:.4f}")


def _columns(model: Model) -> Section:
    """What every column became, with its values in training; those that move scores most come first."""
    profile = model.profile
    became = {} if model.encoding is None else model.encoding.describe()
    codes = {} if model.encoding is None else model.encoding.codes
    known = {} if profile is None else profile.columns
    effects = {name: column.effect for name, column in known.items() if column.effect is not None}
    least = NO_EFFECT * max(effects.values(), default=0.0)
    names = list(became or known)
    names = [name for name in names if name in codes or model.encoding is None]
    order = sorted(names, key=lambda name: -effects.get(name, 0.0))
    about = {
        "column": {name: name for name in order},
        "effect": {name: f"{effect if effect > least else 0.0:.3g}" for name, effect in effects.items()},
        "missing": {name: f"{column.missing:.1%}" for name, column in known.items() if column.missing},
        **{
            heading: {name: _quantile(column, place) for name, column in known.items()}
            for heading, place in (("least", 0), ("median", 5), ("most", -1))
        },
        "frequent": {name: _frequent(column) for name, column in known.items()},
        "became": became,
    }
    shown = {heading: cells for heading, cells in about.items() if any(cells.get(name) for name in order)}
    rows = tuple(tuple(cells.get(name, "") for cells in shown.values()) for name in order)
    effect = "effect: the standard deviation within queries of what the column adds to scores. "
    values = "" if profile is None else f"Values of {counted(profile.n_rows, 'training row')}."
    note = f"{effect if 'effect' in shown else ''}{values}"
    return Section("Columns", tuple(shown), rows, note or None)


def _quantile(column: ColumnProfile, place: int) -> str:
    if not column.quantiles:
        return ""
    value = column.quantiles[place]
    if column.reading is Reading.DATE and abs(value) < _MOST_DAYS:
        return str(np.datetime64(0, "D") + int(np.floor(value)) * _DAY)
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"


def _frequent(column: ColumnProfile) -> str:
    most = sorted(column.frequencies.items(), key=lambda item: -item[1])[:_FREQUENT]
    return ", ".join(f"{name} {share:.0%}" for name, share in most)


def _interactions(model: Model) -> Section:
    codes = () if model.encoding is None else model.encoding.interactions
    became = {} if model.encoding is None else model.encoding.describe()
    search = None if model.encoding is None else model.encoding.search
    note = None if search is None else f"{counted(search.tried, 'pair')} of columns were tried."
    return Section(
        "Interactions", ("columns", "became"), tuple((c.name, became[c.name]) for c in codes), note
    )


def _steps(history: History) -> Section:
    """A line for each fit and update, unless there was only one."""
    rows = tuple(
        (
            str(number),
            "" if step.date is None else shown_date(step.date),
            _made_by(step),
            _first_result(step),
            " ".join(step.notes),
        )
        for number, step in _newest_first(history)
    )
    header = ("step", "date", "made by", "quality", "note")
    return _without_empty("History", header, rows if len(rows) > 1 else ())


def _newest_first(history: History) -> list[tuple[int, Step]]:
    return list(enumerate(history, start=1))[::-1]


def _without_empty(title: str, header: tuple[str, ...], rows: Sequence[tuple[Cell, ...]]) -> Section:
    """A section without columns that are empty."""
    used = [k for k in range(len(header)) if any(row[k] for row in rows)]
    return Section(title, tuple(header[k] for k in used), tuple(tuple(row[k] for k in used) for row in rows))


def _made_by(step: Step) -> str:
    return step.command or f"{step.method} in Python"


def _first_result(step: Step) -> str:
    one = next((one for one in step.results if one.part not in SEEN), None)
    return "" if one is None else f"{one.measure} {_measured(one)} ({one.part})"


def _settings(model: Model) -> Section:
    rows = [(name, _shown(value)) for name, value in model.parameters.items() if value is not None]
    return Section("Parameters", ("name", "value"), tuple(rows))


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_shown(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        if len(value) > _FEW:
            return f"{_shown(value[0])}, {_shown(value[1])}, ..., {_shown(value[-1])} ({len(value)} values)"
        return ", ".join(map(_shown, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def shown_date(date: str) -> str:
    """Such as 2026-11-19 21:45 UTC; anything else as it is."""
    day, _, time = date.removesuffix("Z").partition("T")
    return f"{day} {time[:5]} UTC" if len(day) == 10 and len(time) == 8 and date.endswith("Z") else date
