"""``rankwise compare``: which scores are better, and whether the difference is significant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli import options
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import ParameterError


def run(
    data: options.Data,
    scores: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCORES...",
            help="Two or more score files (one score per line) or models.",
            show_default=False,
        ),
    ],
    measures: options.Measures = None,
    preset: options.Preset = None,
    label: options.Label = "label",
    qid: options.Qid = "qid",
    doc: options.Doc = None,
    zero_based: options.ZeroBased = None,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Compare score files or models on judged rows, with significance tests over queries."""
    from rankwise.cli.inputs import ReadOptions, choose_measures, read_judged
    from rankwise.metrics import compare
    from rankwise.metrics.comparison import TEST_HEADER

    if len(set(scores)) < max(len(scores), 2):
        raise ParameterError("SCORES must name at least two different score files or models.")
    how = ReadOptions(label, qid, doc, zero_based)
    # Tables only have room for short names; JSON keeps the paths as given.
    short = not json and len({path.stem for path in scores}) == len(scores)
    judged = [(path.stem if short else str(path), *read_judged(data, how, path)) for path in scores]
    rows = judged[0][1]
    chosen = choose_measures(measures, rows, preset)
    vectors = {name: values for name, _, values in judged}
    comparison = compare(rows.y, vectors, rows.queries, chosen, docs=rows.docs)
    if json:
        show_json(comparison.to_dict())
        return
    columns = list(next(iter(comparison.means.values())))
    show_table("Means", ["scores", *columns], [(name, *m.values()) for name, m in comparison.means.items()])
    show_table(
        "Differences",
        TEST_HEADER,
        [test.row for test in comparison.tests],
        "Two-sided p-values over queries, not corrected for multiple testing.",
    )
