"""``rankwise evaluate``: measure the quality of scores."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.paths import Input
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.metrics import Evaluation


def run(
    data: options.DataOrRun,
    scores: Annotated[
        Path | None,
        typer.Argument(
            metavar="SCORES",
            help="A file with one score per line, - for standard input, or a model; not with --qrels.",
            show_default=False,
        ),
        Input(),
    ] = None,
    human: options.Human = None,
    qrels: options.Qrels = None,
    complete: options.Complete = False,
    measures: options.Measures = None,
    preset: options.PresetOrTrec = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Show the values of every query.")] = False,
    label: options.KnownLabel = None,
    qid: options.KnownQid = None,
    doc: options.Doc = None,
    zero_based: options.ZeroBased = None,
    merge_queries: options.MergeQueries = False,
    json: options.Json = False,
) -> None:
    """Evaluate scores or a model on judged rows, or a TREC run with --qrels."""
    from rankwise.cli.data_files import ReadOptions
    from rankwise.cli.human import measure_sampled, show_sampled
    from rankwise.cli.reading import choose_measures, read_judged
    from rankwise.metrics import evaluate
    from rankwise.readers.judgment_files import judged_labels

    more: dict[str, Any] = {}
    if qrels is not None:
        if human is not None:
            raise ParameterError("--human is for labelled DATA, and cannot be used with --qrels.")
        if scores is not None:
            raise ParameterError(f"With --qrels, the only argument is a TREC run; got {scores} as well.")
        result, counts = _evaluate_run(data, qrels, measures, preset, complete)
        note, more = describe_coverage(counts, complete), {"coverage": counts}
    elif complete:
        raise ParameterError("--complete needs --qrels.")
    elif scores is None:
        raise ParameterError("SCORES is missing: expected DATA and SCORES, or a TREC run and --qrels.")
    elif human is not None:
        how = ReadOptions(label, qid, doc, zero_based, merge_queries=merge_queries)
        rows, values = read_judged(data, how, scores)
        people = judged_labels(human, rows, **how.of_judgments)
        show_sampled(measure_sampled(people, rows, values, choose_measures(measures, rows, preset)), json)
        return
    else:
        how = ReadOptions(label, qid, doc, zero_based, merge_queries=merge_queries)
        rows, values = read_judged(data, how, scores)
        chosen = choose_measures(measures, rows, preset)
        result = evaluate(rows.y, values, rows.queries, chosen, docs=rows.docs)
        note = f"{rows.n_rows} rows, {rows.n_queries} queries"
    if json:
        found = result.to_dict()
        show_json((found if per_query else {"measures": found["measures"]}) | more)
        return
    _show(result, note, per_query)


def _evaluate_run(
    path: Path, qrels: Path, measures: str | None, preset: str | None, complete: bool
) -> tuple[Evaluation, dict[str, int]]:
    from rankwise.cli.reading import split_list
    from rankwise.metrics import evaluate_run
    from rankwise.metrics.runs import RUN_MEASURES
    from rankwise.trec import load_qrels, load_run

    scored, judged = load_run(path), load_qrels(qrels)
    chosen = split_list(measures) or RUN_MEASURES
    result = evaluate_run(scored, judged, chosen, preset=preset or "trec", complete=complete)
    return result, count_coverage(scored, judged)


def count_coverage(scored: Collection[str], judged: Collection[str]) -> dict[str, int]:
    """How many queries are in a run (or in any of several) and in the qrels, and only in one of them."""
    n_shared = len(set(scored) & set(judged))
    return {"both": n_shared, "only_judged": len(judged) - n_shared, "only_run": len(scored) - n_shared}


def describe_coverage(counts: dict[str, int], complete: bool, run: str = "the run") -> str:
    """Which queries count, in words."""
    parts = [f"Queries in {run} and in the qrels: {counts['both']}"]
    if counts["only_judged"]:
        lacking = "count as 0" if complete else "do not count"
        parts.append(f"judged but not in {run}: {counts['only_judged']}, which {lacking}")
    if counts["only_run"]:
        parts.append(f"in {run} but not judged: {counts['only_run']}")
    return "; ".join(parts)


def _show(result: Evaluation, note: str, per_query: bool) -> None:
    from rankwise.metrics.evaluation import SUMMARY_HEADER

    if per_query:
        columns = result.per_query
        show_table(
            "Quality by query", list(columns), zip(*(c.tolist() for c in columns.values()), strict=True)
        )
    show_table("Quality", SUMMARY_HEADER, [summary.row for summary in result.summaries], note)
