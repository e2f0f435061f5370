"""``rankwise compare``: which scores are better, and whether the difference is significant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise.cli import options
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.metrics import Comparison


def run(
    data: options.DataOrRun,
    scores: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCORES...",
            help="Two or more score files (one score per line) or models; with --qrels, more TREC runs.",
            show_default=False,
        ),
    ],
    qrels: options.Qrels = None,
    complete: options.Complete = False,
    measures: options.Measures = None,
    preset: options.PresetOrTrec = None,
    label: options.Label = "label",
    qid: options.Qid = "qid",
    doc: options.Doc = None,
    zero_based: options.ZeroBased = None,
    merge_queries: options.MergeQueries = False,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Compare score files or models on judged rows, or TREC runs with --qrels, by tests over queries."""
    from rankwise.cli.data_files import ReadOptions
    from rankwise.cli.inputs import choose_measures, read_judged, split_list
    from rankwise.data.trec import load_qrels, load_run
    from rankwise.metrics import compare, compare_runs
    from rankwise.metrics.runs import RUN_MEASURES

    if complete and qrels is None:
        raise ParameterError("--complete needs --qrels.")
    compared = [*scores] if qrels is None else [data, *scores]
    names = _names(compared, short=not json)
    if qrels is not None:
        runs = {name: load_run(path) for name, path in zip(names, compared, strict=True)}
        chosen = split_list(measures) or RUN_MEASURES
        comparison = compare_runs(runs, load_qrels(qrels), chosen, preset=preset or "trec", complete=complete)
    else:
        how = ReadOptions(label, qid, doc, zero_based, merge_queries=merge_queries)
        judged = [read_judged(data, how, path) for path in compared]
        rows = judged[0][0]
        vectors = {name: values for name, (_, values) in zip(names, judged, strict=True)}
        comparison = compare(
            rows.y, vectors, rows.queries, choose_measures(measures, rows, preset), docs=rows.docs
        )
    if json:
        show_json(comparison.to_dict())
        return
    show_means(comparison)
    show_tests(comparison)


def _names(paths: Sequence[Path], *, short: bool) -> list[str]:
    """Names of what is compared: tables only have room for short ones, JSON keeps the paths as given."""
    if len(set(paths)) < max(len(paths), 2):
        raise ParameterError("SCORES must name at least two different score files, models or runs.")
    stems = [path.stem for path in paths]
    return stems if short and len(set(stems)) == len(stems) else [str(path) for path in paths]


def show_means(comparison: Comparison) -> None:
    columns = list(next(iter(comparison.means.values())))
    show_table("Means", ["scores", *columns], [(name, *m.values()) for name, m in comparison.means.items()])


def show_tests(comparison: Comparison) -> None:
    from rankwise.metrics.comparison import TEST_HEADER

    show_table(
        "Differences",
        TEST_HEADER,
        [test.row for test in comparison.tests],
        "Two-sided p-values over queries, and the same after Holm's correction for all tests above.",
    )
