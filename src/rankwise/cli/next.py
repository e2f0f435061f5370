"""``rankwise next``: the documents or pairs whose judgment teaches a model most."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import DataError, ParameterError
from rankwise.long_tasks import task
from rankwise.rendering import Cell, printable

if TYPE_CHECKING:
    from rankwise.judging.next_judgments import NextJudgment

SHOWN = 20


def run(
    data: options.Data,
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL",
            help="A linear RankRLS model with moments; leave it out before the first judgment.",
            show_default=False,
        ),
        Input(),
    ] = None,
    budget: Annotated[int, typer.Option(min=1, help="The number of judgments to make.")] = 100,
    judgments: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The judgments that the model was trained on, as a table of qid,doc,label[,weight]. "
            "All other rows are candidates.",
            rich_help_panel=options.ROWS,
            show_default=False,
        ),
        Input(),
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Choose pairs of documents to compare.")] = False,
    reserve: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="The fraction drawn at random, for unbiased estimates."),
    ] = 0.1,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the random reserve.")] = 0,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the list to a table.", show_default=False),
        Output(),
    ] = None,
    label: options.KnownLabel = None,
    qid: options.KnownQid = None,
    doc: options.Doc = None,
    zero_based: options.ZeroBased = None,
    json: options.Json = False,
) -> None:
    """List what to judge next: the documents that reduce the variance of the ranking most, and a random
    reserve."""
    from rankwise.cli.data_files import ReadOptions, read_data
    from rankwise.cli.reading import load_model, read_for_model
    from rankwise.judging.next_judgments import next_judgments
    from rankwise.readers.judgment_files import judged_labels

    how = ReadOptions(label, qid, doc, zero_based, labelled=False)
    learned = None if model is None else load_model(model)
    rows = read_data(data, how) if learned is None else read_for_model(data, how, learned)
    if not rows.has_queries and learned is None and judgments is not None:
        raise ParameterError("--judgments needs a MODEL that learned from them.")
    judged = None if judgments is None else judged_labels(judgments, rows, **how.of_judgments)[0]
    with task("Choosing what to judge"):
        found = next_judgments(
            learned, rows, judged, budget=budget, pairs=pairs, reserve=reserve, random_state=seed
        )
    header, table = _table(found, pairs)
    if csv is not None:
        from rankwise.readers.delimited import write_delimited

        if rows.docs is None:
            raise DataError(f"{data}: the rows have no document labels, which a table of judgments needs.")
        write_delimited(csv, header, table)
    if json:
        show_json([dict(zip(header, line, strict=True)) for line in table])
        return
    more = f"... and {len(table) - SHOWN:,} more; --csv writes all" if len(table) > SHOWN else None
    show_table("To judge next", header, table[:SHOWN], more)
    if csv is not None:
        typer.echo(printable(f"Written to {csv}"))


def _table(found: list[NextJudgment], pairs: bool) -> tuple[list[str], list[tuple[Cell, ...]]]:
    names = ["row", "doc", "other row", "other doc"] if pairs else ["row", "doc"]
    lines: list[tuple[Cell, ...]] = []
    for one in found:
        rows: list[Any] = [cell for pair in zip(one.rows, one.docs, strict=True) for cell in pair]
        lines.append((one.query, *rows, one.reason, one.share))
    return ["qid", *names, "reason", "share"], lines
