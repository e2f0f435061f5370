"""``rankwise report``: a page on which ranker is better, how sure that is, and on which queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.card import command_line
from rankwise.cli.data_files import ReadOptions, files_to_read
from rankwise.cli.outputs import check_page
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import show_json, show_text
from rankwise.long_tasks import task

if TYPE_CHECKING:
    from rankwise.rows.ranking import RankingData


def run(
    rankers: options.Rankers,
    *,
    data: options.TestData = None,
    out: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The page to write.", show_default=True),
        Output(check_page),
    ] = Path("report.html"),
    qrels: options.Qrels = None,
    complete: options.Complete = False,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="The rows that linear RankRLS models were trained on, for intervals of their weights and "
            "learning curves.",
            show_default=False,
        ),
        Input(files_to_read),
    ] = None,
    baseline: options.Baseline = None,
    by: options.By = None,
    title: Annotated[str | None, typer.Option(help="The title of the page.", show_default=False)] = None,
    titles: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A table of label,title, with the texts of queries and titles of documents to show instead.",
            show_default=False,
        ),
        Input(),
    ] = None,
    measures: options.Measures = None,
    preset: options.PresetOrTrec = None,
    rows: options.KnownRowOptions,
    json: options.Json = False,
) -> None:
    """Write a page about models, score files or TREC runs: quality, changed queries, explanations."""
    from rankwise.cli.rankers import columns_beside, files_read, named_files, read_rankers
    from rankwise.readers.title_files import load_titles

    files = named_files(rankers, least=1)
    how = rows.how()
    named, judged, chosen, note = read_rankers(files, data, qrels, how, measures, preset, complete)
    training = None if train is None else _read_training(train, how, named, judged)
    facts = write_page(
        out,
        named,
        judged,
        chosen,
        title=title or title_of(files, data or qrels),
        training=training,
        titles=None if titles is None else load_titles(titles),
        baseline=baseline,
        note=note,
        by=columns_beside(data, by),
        files=files_read(files, data, qrels, train),
    )
    if json:
        show_json(facts)
        return
    show_text([*facts["answer"], f"Written to {out}"])


def title_of(rankers: Iterable[str], data: Path | None) -> str:
    """What is reported on."""
    return f"{', '.join(rankers)} on {'' if data is None else data.name}"


def _read_training(
    path: Path, how: ReadOptions, rankers: Mapping[str, Any], data: RankingData
) -> RankingData:
    from rankwise.cli.column_names import named_as_in
    from rankwise.cli.rankers import rankwise_models
    from rankwise.cli.reading import read_matching
    from rankwise.errors import ParameterError

    if not data.n_features:
        raise ParameterError("--train needs --data, because the rows of runs have no features.")
    return read_matching(path, named_as_in(rankwise_models(rankers).values(), path, how), data)


def write_page(
    out: Path, rankers: Mapping[str, Any], judged: Any, measures: Iterable[Any], **more: Any
) -> dict[str, Any]:
    """Write the page of a report, and return its facts; `more` is passed to `report_facts`."""
    from rankwise.report.make_report import Report

    facts = page_facts(rankers, judged, measures, **more)
    Report(facts).save(out)
    return facts


def page_facts(
    rankers: Mapping[str, Any], judged: Any, measures: Iterable[Any], **more: Any
) -> dict[str, Any]:
    """The facts of a page, which also names the command."""
    from rankwise.report.facts import report_facts

    with task("Writing the report"):
        return report_facts(rankers, judged, measures, command=command_line(), **more)


def write_page_of_new(
    out: Path,
    ranker: Any,
    parts: Mapping[str, RankingData],
    measures: Iterable[Any],
    files: Iterable[Path | None],
    training: RankingData | None = None,
) -> None:
    """Write a page about a new model on the last part of its data: validation data, if there is any."""
    (*_, (part, rows)), name = parts.items(), type(ranker).__name__
    flattering = "The model was trained on these rows, so the results are optimistic; see --validation."
    write_page(
        out,
        {name: ranker},
        rows,
        measures,
        title=f"{name} on {part} data",
        training=training,
        note=flattering if part == "training" else None,
        files=[path for path in files if path is not None],
    )
