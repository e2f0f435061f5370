"""``rankwise compare``: which ranker is better, how sure that is, and which queries got worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.gate import (
    gate_facts,
    leave,
    markdown_of,
    parse_margins,
    power_facts,
    show_gate,
    show_power,
    with_verdict,
)
from rankwise.cli.human import compare_sampled, show_sampled
from rankwise.cli.rankers import columns_beside, files_read, named_files, read_rankers
from rankwise.cli.report import page_facts, title_of
from rankwise.cli.screen import show_json, show_table, show_text
from rankwise.errors import ParameterError
from rankwise.long_tasks import task
from rankwise.rendering import Cell, format_cell, printable

if TYPE_CHECKING:
    from rankwise.metrics import Measure
    from rankwise.rows.ranking import RankingData


def run(
    rankers: options.Rankers,
    *,
    data: options.TestData = None,
    human: options.Human = None,
    qrels: options.Qrels = None,
    complete: options.Complete = False,
    baseline: options.Baseline = None,
    worst: Annotated[
        int, typer.Option(min=0, metavar="N", help="Also list the N queries with the largest losses.")
    ] = 0,
    fail_if_worse: Annotated[
        str | None,
        typer.Option(
            metavar="MEASURE:MARGIN,...",
            help="A gate, such as ndcg@10:0.005: exit code 0 if every ranker is shown to lose less than this "
            "against the baseline, 3 if one is shown to lose more, 4 if the queries are too few to tell.",
            show_default=False,
        ),
    ] = None,
    detect: Annotated[
        float | None,
        typer.Option(
            metavar="DIFFERENCE",
            help="Also print how many queries are needed to detect this difference.",
            show_default=False,
        ),
    ] = None,
    by: options.By = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, as for a pull request.")
    ] = False,
    measures: options.Measures = None,
    preset: options.PresetOrTrec = None,
    rows: options.KnownRowOptions,
    report: options.Report = None,
    json: options.Json = False,
) -> None:
    """Compare models, score files or TREC runs with a baseline, query by query."""
    margins = parse_margins(fail_if_worse)
    if human is not None:
        more = {"qrels": qrels, "fail-if-worse": margins, "detect": detect, "by": by, "report": report}
        _check_alone(more | {"worst": worst, "markdown": markdown})
    if markdown and worst:
        raise ParameterError("--worst cannot be combined with --markdown, which has no list of queries.")
    if detect is not None and not detect > 0.0:
        raise ParameterError(f"--detect expects a difference above 0; got {detect:g}.")
    files, how = named_files(rankers, least=2), rows.how()
    named, judged, chosen, note = read_rankers(files, data, qrels, how, measures, preset, complete)
    if human is not None:
        from rankwise.readers.judgment_files import judged_labels

        people = judged_labels(human, judged, **how.of_judgments)
        show_sampled(compare_sampled(people, named, judged, chosen, baseline), json)
        return
    chosen, columns = with_gated(chosen, margins, preset), columns_beside(data, by)
    about: dict[str, Any] = {"baseline": baseline, "note": note, "by": columns}
    if report is not None:
        about |= {"title": title_of(files, data or qrels), "files": files_read(files, data, qrels)}
    facts = _facts(named, judged, chosen, margins, report, about)
    if detect is not None:
        facts["power"] = power_facts(facts, detect)
    if json:
        show_json(facts)
    elif markdown:
        for line in markdown_of(facts).split("\n"):
            typer.echo(printable(line))
    else:
        _show(facts, worst, detect, segments=bool(columns))
    if margins:
        leave(facts["gate"])


def _facts(
    named: Mapping[str, Any],
    judged: RankingData,
    measures: Sequence[Measure],
    margins: dict[str, float],
    report: Path | None,
    about: dict[str, Any],
) -> dict[str, Any]:
    """The facts of the comparison and of its gate, also as a page if one is wanted."""
    from rankwise.report.facts import compared_facts
    from rankwise.report.make_report import Report
    from rankwise.report.verdict import answer

    if report is None:
        with task("Comparing"):
            facts, _ = compared_facts(named, judged, measures, **about)
    else:
        facts = page_facts(named, judged, measures, **about)
    if margins:
        facts["gate"] = gate_facts(facts, margins)
        facts["answer"] = answer(facts, facts["baseline"], advise=False)  # the gate decides
    if report is not None:
        Report(with_verdict(facts) if margins else facts).save(report)
    return facts


def _show(facts: dict[str, Any], worst: int, detect: float | None, *, segments: bool) -> None:
    show_comparison(facts)
    if worst:
        show_worst(facts, worst)
    if segments:
        show_segments(facts["segments"], facts["baseline"])
    if detect is not None:
        show_power(facts["power"], detect)
    if "gate" in facts:
        show_gate(facts["gate"], facts["baseline"])


def _check_alone(options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise ParameterError(f"--human cannot be combined with --{given[0]}.")


def show_segments(segments: list[dict[str, Any]], baseline: str) -> None:
    """The table of `segment_facts`."""
    show_table(
        f"Changes against {baseline} by segment",
        ["column", "segment", "measure", "ranker", "queries", "gain", "p", ""],
        [
            (
                *(fact[name] for name in ("column", "segment", "measure", "ranker", "queries")),
                _with_margin(fact["gain"], fact["margin"], sign=True),
                fact["holm"],
                fact["verdict"],
            )
            for fact in segments
        ],
        "Gains are positive where the ranker is better, ± half of a 95 % interval; p-values after Holm's "
        "correction for all segments, of which those that are clear are named.",
    )


def with_gated(measures: Sequence[Measure], margins: dict[str, float], preset: str | None) -> list[Measure]:
    """The measures to show, those of the gate among them, first."""
    from rankwise.metrics import get_measure

    gated = [get_measure(name, preset=preset) for name in margins]
    for measure in gated:
        if "micro" in measure.name:
            raise ParameterError(f"--fail-if-worse needs a mean over queries, which {measure.name} is not.")
    names = {measure.name for measure in gated}
    return [*gated, *(measure for measure in measures if measure.name not in names)]


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
            show_text([f"{ranker} is not worse than {baseline} on any query ({measure})."])
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
