"""What the commands that train have in common: read, fit, measure, and show the result."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rankwise.cli.chosen import choice_facts, describe_choice, show_choice
from rankwise.cli.in_options import in_options
from rankwise.cli.interrupts import keeping_what_was_fitted
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import ContextWarning, ParameterError, warn_caller
from rankwise.rendering import counted, format_cell, printable

if TYPE_CHECKING:
    from rankwise.cli.data_files import ReadOptions
    from rankwise.dask import DistributedData
    from rankwise.metrics import Evaluation, Measure
    from rankwise.rendering import Cell
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Ints


# So many unknown categories of a column are listed.
SHOWN_CATEGORIES = 5


def read_parts(
    data: Path,
    validation: Path | None,
    how: ReadOptions,
    features: list[str] | None,
    judgments: Path | None,
    test: Path | None = None,
) -> dict[str, RankingData]:
    """Read training data and, if given, validation and test data with the same features."""
    from rankwise.cli.data_files import read_data
    from rankwise.cli.reading import read_matching
    from rankwise.readers.judgment_files import load_judgments

    training = read_data(data, how, features=features)
    if judgments is not None:
        training = load_judgments(judgments, training, **how.of_judgments)
    others = {"validation": validation, "test": test}
    matching = {part: read_matching(path, how, training) for part, path in others.items() if path is not None}
    return {"training": training, **matching}


def warn_of_leaks(data: RankingData) -> None:
    """Name columns that give the label away, which 'audit' says more about."""
    from rankwise.auditing.leaks import leaks_in

    for leak in leaks_in(data):
        warn_caller(f"{leak.found}. {leak.remedy}")


def fit(
    ranker: Any,
    data: RankingData | DistributedData,
    validation: RankingData | None = None,
) -> None:
    """Fit a learner, which chooses or stops by the validation data if it can.

    Who asks for cross-validation has the validation data only measured.
    """
    takes, parameters = inspect.signature(ranker.fit).parameters, ranker.get_params()
    more: dict[str, Any] = {}
    decides = parameters["cv"] == "auto" if "cv" in parameters else parameters.get("early_stopping", False)
    if validation is not None and decides and "eval_set" in takes:
        more["eval_set"] = validation
    with keeping_what_was_fitted(ranker), warnings.catch_warnings():
        warnings.simplefilter("ignore", ContextWarning)  # the result says so
        ranker.fit(data, **more)


def fit_pairs(ranker: Any, data: RankingData, pairs: Path) -> None:
    """Fit a learner on a file of preferences between the rows."""
    from rankwise.config import config_context
    from rankwise.readers.pair_files import load_pairs

    if not hasattr(ranker, "fit_preferences"):
        raise ParameterError(f"{type(ranker).__name__} does not support --pairs.")
    preferences = load_pairs(pairs, data=data)
    with (
        config_context(one_ranking=True),  # a file without queries says so
        keeping_what_was_fitted(ranker),
    ):
        ranker.fit_preferences(data, preferences)


def criterion_and_usual(ranker: Any, rows: RankingData | DistributedData) -> list[Measure]:
    """The measure that a learner decides by, and the usual ones for the labels."""
    from rankwise.cli.reading import choose_measures
    from rankwise.metrics import get_measure

    criterion, usual = get_measure(ranker.get_params()["measure"]), choose_measures(None, rows)
    return [criterion, *(measure for measure in usual if measure.name != criterion.name)]


def evaluate_parts(
    ranker: Any, parts: dict[str, RankingData], measures: list[Measure]
) -> dict[str, Evaluation]:
    """The measures on each part of the data."""
    from rankwise.cli.reading import predict_scores
    from rankwise.metrics import evaluate

    return {
        name: evaluate(part.y, predict_scores(ranker.model_, part), part.queries, measures)
        for name, part in parts.items()
    }


def evaluate_left_out(
    ranker: Any, data: RankingData, measures: list[Measure], rows: Ints | None = None
) -> dict[str, Evaluation]:
    """The measures on left-out queries, as "left_out"; nothing without any.

    Every query is scored by the model, with the chosen settings, that was not trained on it. With `rows`,
    only these are measured.
    """
    from rankwise.metrics import evaluate

    scores = getattr(ranker, "left_out_scores_", None)
    if scores is None or not data.has_queries:
        return {}
    if rows is not None:
        data, scores = data.select(rows), scores[rows]
    return {"left_out": evaluate(data.y, scores, data.queries, measures)}


def show_result(
    ranker: Any,
    data: RankingData | DistributedData,
    model: Path,
    seconds: float,
    found: Mapping[str, Evaluation],
    json: bool,
    unknown: Mapping[str, Mapping[str, int]] | None = None,
) -> None:
    """Show what was trained, what was chosen and by what, and how good it is.

    Of an update, `unknown` are the categories by column that the model did not know, with their rows.
    """
    from rankwise.model.history import SEEN

    means = {part: one.means for part, one in found.items()}
    margins = {part: one.margins for part, one in found.items() if part not in SEEN}
    if json:
        became = columns_of(ranker)
        facts: dict[str, Any] = {"model": str(model), "class": type(ranker).__name__, "seconds": seconds}
        facts |= choice_facts(ranker) | ({"columns": became} if became else {})
        context = getattr(ranker, "context_columns_", None)
        facts |= {"context_columns": context} if context else {}
        facts |= {"unknown_categories": unknown} if unknown else {}
        show_json(facts | means | ({"margins": margins} if margins else {}))
        return
    show_columns(ranker)
    show_choice(ranker)
    done = describe_choice(ranker) + summary(ranker, data, seconds, model) + about_columns(ranker)
    done = _about_unknown(unknown or {}, data.n_rows) + done
    if means:
        show_quality(means, _about_left_out(ranker, means) + _about_before(means) + done, margins)
    else:
        for line in done.splitlines():
            typer.echo(printable(line))


def _about_left_out(ranker: Any, means: dict[str, dict[str, float]]) -> str:
    """What the numbers of left-out queries are worth, in a line of its own; empty without them."""
    if "left_out" not in means:
        return ""
    search = getattr(getattr(ranker, "encoding_", None), "search", None)
    if search and search.found:
        chosen = "but used to choose settings and interactions"
        expect = "optimistic, because the search has seen them; evaluate the model on other queries"
    else:
        chosen = "and used to choose settings"
        expect = "expect these values on new queries, not those of training"
    return (
        f"left_out: queries scored by models that were not trained on them, {chosen} "
        f"(± is half of a 95 % interval over queries); {expect}\n"
    )


def _about_before(means: dict[str, dict[str, float]]) -> str:
    if "before" not in means:
        return ""
    return (
        "before: the new queries, scored before they were learned; a fair estimate, unlike learned "
        "(± is half of a 95 % interval over queries)\n"
    )


def _about_unknown(unknown: Mapping[str, Mapping[str, int]], n_rows: int) -> str:
    """The most frequent categories that a model did not know, a line for each column."""
    lines = []
    for column, categories in unknown.items():
        frequent = sorted(categories.items(), key=lambda item: -item[1])[:SHOWN_CATEGORIES]
        more = f" and {len(categories) - len(frequent):,} more" if len(categories) > len(frequent) else ""
        shown = ", ".join(f"{name} ({count:,})" for name, count in frequent)
        share = sum(categories.values()) / n_rows
        lines.append(f"Unknown categories of {column} in {share:.1%} of the rows: {shown}{more}\n")
    return "".join(lines)


def show_quality(means: dict[str, dict[str, float]], note: str, margins: dict[str, dict[str, float]]) -> None:
    """Show the result of `evaluate_parts`: one line per measure, one column per part."""
    measures = next(iter(means.values()))

    def cell(part: str, measure: str) -> Cell:
        margin = margins.get(part, {}).get(measure)
        shown = format_cell(means[part][measure])
        return means[part][measure] if margin is None else f"{shown} ±{format_cell(margin)}"

    rows: list[tuple[Cell, ...]] = [
        (measure, *(cell(part, measure) for part in means)) for measure in measures
    ]
    show_table("Quality", ["measure", *means], rows, note)


def columns_of(ranker: Any) -> dict[str, str]:
    """What each column became in a fit; empty if none were encoded."""
    return ranker.encoding_.describe() if hasattr(ranker, "encoding_") else {}


def show_columns(ranker: Any) -> None:
    """Show what each column became, if columns were encoded."""
    became = columns_of(ranker)
    if became:
        show_table("Columns", ["column", "became"], list(became.items()))


def about_columns(ranker: Any) -> str:
    """Which columns play no part, and whether a search for interactions found none, on lines of their own."""
    from rankwise.columns.context import about_context

    context, model = getattr(ranker, "context_columns_", None), ranker.model_
    search = getattr(getattr(ranker, "encoding_", None), "search", None)
    found = ""
    if context:
        found = f"\n{in_options(about_context(context, with_interactions=model.takes_interactions))}"
    if search is not None and not search.found:
        tried = counted(search.tried, "pair")
        found += f"\nOf {tried} of columns, none explains left-out queries: the model has no interactions."
    return found


def summary(ranker: Any, data: RankingData | DistributedData, seconds: float, model: Path) -> str:
    alpha = f" with alpha {ranker.alpha:.6g}" if hasattr(ranker, "alpha") else ""
    queries = f"{data.n_queries} queries" if data.has_queries else "one global ranking"
    contradicted = getattr(ranker, "contradicted_signs_", [])
    signs = f"Weight 0, because the labels contradict the sign: {', '.join(contradicted)}\n"
    return (
        f"{signs if contradicted else ''}{type(ranker).__name__}{alpha} on {data.n_rows} rows, {queries}, "
        f"{data.n_features} features in {seconds:.2f} s; written to {model}"
    )
