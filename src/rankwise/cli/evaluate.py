"""``rankwise evaluate``: measure the quality of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli import options
from rankwise.cli.screen import show_json, show_table


def run(
    data: options.Data,
    scores: Annotated[
        Path,
        typer.Argument(
            metavar="SCORES",
            help="A file with one score per line, - for standard input, or a model.",
            show_default=False,
        ),
    ],
    measures: options.Measures = None,
    preset: options.Preset = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Show the values of every query.")] = False,
    label: options.Label = "label",
    qid: options.Qid = "qid",
    doc: options.Doc = None,
    zero_based: options.ZeroBased = None,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Evaluate scores or a model on judged rows."""
    from rankwise.cli.inputs import ReadOptions, choose_measures, read_judged
    from rankwise.metrics import evaluate
    from rankwise.metrics.evaluation import SUMMARY_HEADER

    rows, values = read_judged(data, ReadOptions(label, qid, doc, zero_based), scores)
    chosen = choose_measures(measures, rows, preset)
    result = evaluate(rows.y, values, rows.queries, chosen, docs=rows.docs)
    if json:
        show_json(result.to_dict() if per_query else {"measures": result.to_dict()["measures"]})
        return
    if per_query:
        columns = result.per_query
        show_table(
            "Quality by query", list(columns), zip(*(c.tolist() for c in columns.values()), strict=True)
        )
    lines = [summary.row for summary in result.summaries]
    note = f"{rows.n_rows} rows, {rows.n_queries} queries"
    show_table("Quality", SUMMARY_HEADER, lines, note)
