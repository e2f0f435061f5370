"""``rankwise compare``: which scores are better, and whether the difference is significant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.evaluate import count_coverage, describe_coverage
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import ParameterError
from rankwise.rendering import Cell

if TYPE_CHECKING:
    from rankwise.cli.data_files import ReadOptions
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
    from rankwise.metrics.comparison import TEST_HEADER

    more: dict[str, Any] = {}
    if qrels is not None:
        runs = _named([data, *scores], short=not json)
        comparison, counts = _compare_runs(runs, qrels, measures, preset, complete)
        note, more = describe_coverage(counts, complete, "a run"), {"coverage": counts}
    elif complete:
        raise ParameterError("--complete needs --qrels.")
    else:
        how = ReadOptions(label, qid, doc, zero_based, merge_queries=merge_queries)
        comparison, note = _compare_scores(data, how, _named(scores, short=not json), measures, preset)
    if json:
        show_json(comparison.to_dict() | more)
        return
    columns = list(next(iter(comparison.means.values())))
    means: list[tuple[Cell, ...]] = [(name, *values.values()) for name, values in comparison.means.items()]
    show_table("Means", ["scores", *columns], means, note)
    show_table(
        "Differences",
        TEST_HEADER,
        [test.row for test in comparison.tests],
        "Two-sided p-values over queries, and the same after Holm's correction for all tests above.",
    )


def _named(paths: Sequence[Path], *, short: bool) -> dict[str, Path]:
    """Names of what is compared: tables only have room for short ones, JSON keeps the paths as given."""
    if len(set(paths)) < max(len(paths), 2):
        raise ParameterError("SCORES must name at least two different score files, models or runs.")
    stems = {path.stem: path for path in paths}
    return stems if short and len(stems) == len(paths) else {str(path): path for path in paths}


def _compare_runs(
    paths: dict[str, Path], qrels: Path, measures: str | None, preset: str | None, complete: bool
) -> tuple[Comparison, dict[str, int]]:
    from rankwise.cli.inputs import split_list
    from rankwise.data.trec import load_qrels, load_run
    from rankwise.metrics import compare_runs
    from rankwise.metrics.runs import RUN_MEASURES

    runs, judged = {name: load_run(path) for name, path in paths.items()}, load_qrels(qrels)
    chosen = split_list(measures) or RUN_MEASURES
    comparison = compare_runs(runs, judged, chosen, preset=preset or "trec", complete=complete)
    return comparison, count_coverage({query for run in runs.values() for query in run}, judged)


def _compare_scores(
    data: Path, how: ReadOptions, paths: dict[str, Path], measures: str | None, preset: str | None
) -> tuple[Comparison, str]:
    from rankwise.cli.inputs import choose_measures, read_judged
    from rankwise.metrics import compare

    judged = {name: read_judged(data, how, path) for name, path in paths.items()}
    rows = next(iter(judged.values()))[0]
    vectors = {name: values for name, (_, values) in judged.items()}
    chosen = choose_measures(measures, rows, preset)
    comparison = compare(rows.y, vectors, rows.queries, chosen, docs=rows.docs)
    return comparison, f"{rows.n_rows} rows, {rows.n_queries} queries"
