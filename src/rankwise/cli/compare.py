"""``rankwise compare``: which ranker is better, how sure that is, and which queries got worse."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.screen import progress, show_json, show_table, show_text
from rankwise.rendering import Cell, format_cell


def run(
    rankers: options.Rankers,
    *,
    data: options.TestData = None,
    qrels: options.Qrels = None,
    complete: options.Complete = False,
    baseline: options.Baseline = None,
    worst: Annotated[
        int, typer.Option(min=0, metavar="N", help="Also list the N queries that lose most.")
    ] = 0,
    measures: options.Measures = None,
    preset: options.PresetOrTrec = None,
    rows: options.RowOptions,
    report: options.Report = None,
    json: options.Json = False,
) -> None:
    """Compare models, score files or TREC runs with a baseline, query by query."""
    from rankwise.cli.rankers import files_read, named_files, read_rankers
    from rankwise.cli.report import title_of, write_page
    from rankwise.report.facts import compared_facts

    files = named_files(rankers, least=2)
    how = rows.how()
    named, judged, chosen, note = read_rankers(files, data, qrels, how, measures, preset, complete)
    if report is None:
        with progress("Comparing"):
            facts, _ = compared_facts(named, judged, chosen, baseline=baseline, note=note)
    else:
        facts = write_page(
            report,
            named,
            judged,
            chosen,
            title=title_of(files, data or qrels),
            baseline=baseline,
            note=note,
            files=files_read(files, data, qrels),
        )
    if json:
        show_json(facts)
        return
    show_comparison(facts)
    if worst:
        show_worst(facts, worst)


def show_comparison(facts: dict[str, Any]) -> None:
    """The answer, the means and the tests of any comparison, 80 columns wide."""
    show_text([*facts["answer"], ""])
    names = [measure["name"] for measure in facts["measures"]]
    rows: list[tuple[Cell, ...]] = [
        (ranker, *(_with_margin(means[name], facts["margins"][ranker][name]) for name in names))
        for ranker, means in facts["means"].items()
    ]
    show_table("Means", ["ranker", *names], rows, f"± is half of a 95 % confidence interval. {facts['note']}")
    show_table(
        f"Against {facts['baseline']}",
        ["measure", "ranker", "difference", "better", "worse", "equal", "p"],
        [
            (
                test["measure"],
                test["a"],
                _with_margin(test["difference"], test["margin"], sign=True),
                test["n_better"],
                test["n_worse"],
                test["n_equal"],
                test["holm_randomization"],
            )
            for test in facts["tests"]
        ],
        "Queries that are better, worse and equal; two-sided p-values of a paired randomization test over "
        "queries, after Holm's correction for all tests above.",
    )


def show_worst(facts: dict[str, Any], count: int) -> None:
    """The queries that lose most against the baseline, by the first measure."""
    from rankwise.report.quality import worst

    measure, baseline = facts["measures"][0]["name"], facts["baseline"]
    values, changes = facts["queries"]["values"][measure], facts["queries"]["changes"][measure]
    for ranker in changes:
        lost = worst(facts, ranker, count)
        if not lost:
            show_text([f"On no query is {ranker} worse than {baseline} ({measure})."])
            continue
        show_table(
            f"Queries on which {ranker} is worse than {baseline} ({measure})",
            ["query", "rows", baseline, ranker, "change"],
            [
                (
                    facts["queries"]["label"][q],
                    facts["queries"]["rows"][q],
                    values[baseline][q],
                    values[ranker][q],
                    changes[ranker][q],
                )
                for q in lost
            ],
        )


def _with_margin(value: float | None, margin: float | None, *, sign: bool = False) -> str:
    if value is None:
        return format_cell(value)
    shown = f"{value:+.4f}" if sign else format_cell(value)
    return shown if margin is None else f"{shown} ±{margin:.4f}"
