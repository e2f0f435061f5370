"""The gate of ``rankwise compare``: is a new ranker shown not to be worse?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from rankwise.cli.exit_codes import ExitCode
from rankwise.cli.screen import show_table, show_text
from rankwise.errors import ParameterError
from rankwise.numerals import is_number, read_float
from rankwise.rendering import markdown_row

if TYPE_CHECKING:
    from rankwise.metrics.noninferiority import NonInferiority


def parse_margins(text: str | None) -> dict[str, float]:
    """Measures with the loss of each that would not matter, such as ``ndcg@10:0.005,map:0.01``."""
    margins = {}
    for part in (text or "").split(",") if text is not None else []:
        name, _, number = part.strip().rpartition(":")
        if not (name and is_number(number) and 0.0 < read_float(number) < 1.0):
            raise ParameterError(
                "--fail-if-worse expects measures with a margin between 0 and 1, such as ndcg@10:0.005; "
                f"got {part!r}."
            )
        margins[name] = read_float(number)
    return margins


def gate_facts(facts: dict[str, Any], margins: dict[str, float]) -> dict[str, Any]:
    """The test of each ranker against the baseline by each measure, and the verdict on all of them."""
    from dataclasses import asdict

    from rankwise.metrics import get_measure
    from rankwise.metrics.noninferiority import Verdict

    tests = []
    for name, margin in margins.items():
        shown = get_measure(name).name
        for ranker in facts["queries"]["changes"][shown]:
            tests.append({"measure": shown, "ranker": ranker} | asdict(_tested(facts, shown, ranker, margin)))
    verdicts = {test["verdict"] for test in tests}
    whole = next((v for v in (Verdict.WORSE, Verdict.UNDECIDED) if v in verdicts), Verdict.NOT_WORSE)
    return {"verdict": whole, "tests": tests}


def _tested(facts: dict[str, Any], measure: str, ranker: str, margin: float) -> NonInferiority:
    import numpy as np

    from rankwise.metrics.noninferiority import non_inferiority

    gains = np.array(facts["queries"]["changes"][measure][ranker], dtype=np.float64)
    return non_inferiority(gains, margin, value_range=_range(facts, measure))


def _range(facts: dict[str, Any], measure: str) -> float:
    """The largest difference that a query can have: 1 for measures between 0 and 1, or what was seen."""
    values = [v for of in facts["queries"]["values"][measure].values() for v in of if v is not None]
    low, high = float(min([0.0, *values])), float(max([1.0, *values]))
    return high - (min(low, -1.0) if low < 0.0 else 0.0)


def show_gate(gate: dict[str, Any], baseline: str) -> None:
    """What was tested, what it means, and how many queries would decide."""
    show_table(
        f"Is it shown to be no worse than {baseline}?",
        ["measure", "ranker", "margin", "gain", "queries", "p not worse", "p worse", "verdict"],
        [
            (
                test["measure"],
                test["ranker"],
                f"{test['margin']:g}",
                test["gain"],
                test["n_queries"],
                test["p_not_worse"],
                test["p_worse"],
                str(test["verdict"]),
            )
            for test in gate["tests"]
        ],
    )
    show_text(sentences_of(gate))


def sentences_of(gate: dict[str, Any]) -> list[str]:
    """The verdict, and what would decide where there is none."""
    said = {
        "not worse": "Passed: shown to lose less than the margin.",
        "worse": "Failed: shown to lose more than the margin.",
        "undecided": "Undecided: too few queries to tell.",
    }[gate["verdict"]]
    more = [
        f"By {test['measure']}, {test['ranker']} would pass with a probability of 95 % on "
        f"{test['n_to_decide']:,} queries, if it is equal on average."
        for test in gate["tests"]
        if test["verdict"] == "undecided" and test["n_to_decide"] is not None
    ]
    return [said, *more]


def with_verdict(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of a page, whose answer also names the verdict of the gate."""
    tests, (first, *rest) = facts["gate"]["tests"], facts["answer"]
    margins = dict.fromkeys(f"{test['measure']}:{test['margin']:g}" for test in tests)
    said, *more = sentences_of(facts["gate"])
    verdict = f"Release gate ({', '.join(margins)}): {said[0].lower()}{said[1:]}"
    return facts | {"answer": [first, verdict, *more, *rest]}


def leave(gate: dict[str, Any]) -> None:
    """End with the exit code of a verdict other than that the ranker is not worse."""
    code = {"worse": ExitCode.FAILED, "undecided": ExitCode.UNDECIDED}.get(gate["verdict"])
    if code is not None:
        raise typer.Exit(code)


def power_facts(facts: dict[str, Any], difference: float) -> list[dict[str, Any]]:
    """How many queries would show a difference, by the spread of the differences that were seen."""
    import numpy as np

    from rankwise.metrics.noninferiority import queries_to_detect

    found = []
    for measure, changes in facts["queries"]["changes"].items():
        for ranker, of in changes.items():
            gains = np.array([v for v in of if v is not None], dtype=np.float64)
            if len(gains) < 2:
                continue
            spread = float(gains.std(ddof=1))
            needed = queries_to_detect(spread, difference)
            found.append(
                {"measure": measure, "ranker": ranker, "spread": spread, "queries": len(gains)}
                | {"difference": difference, "needed": needed}
            )
    return found


_POWER_HEADER = ["measure", "ranker", "spread", "queries", "needed"]
_POWER_NOTE = (
    "By a two-sided test at 5 %, with a power of 80 %; spread is the standard deviation over queries."
)


def show_power(found: list[dict[str, Any]], difference: float) -> None:
    """The table of `power_facts`."""
    rows = [tuple(fact[name] for name in _POWER_HEADER) for fact in found]
    show_table(f"Queries to detect a difference of {difference:g}", _POWER_HEADER, rows, _POWER_NOTE)


def markdown_of(facts: dict[str, Any]) -> str:
    """The comparison as Markdown, for a pull request."""
    names = [measure["name"] for measure in facts["measures"]]
    lines = [*facts["answer"], "", markdown_row(["ranker", *names]), markdown_row(["---"] * (1 + len(names)))]
    for ranker, means in facts["means"].items():
        margins = facts["margins"][ranker]
        lines.append(markdown_row([f"`{ranker}`", *(_mean(means[name], margins[name]) for name in names)]))
    if facts.get("segments"):
        header = ["column", "segment", "measure", "ranker", "queries", "gain", "p", ""]
        lines += ["", markdown_row(header), markdown_row(["---"] * len(header))]
        for fact in facts["segments"]:
            names = [fact["column"], fact["segment"], fact["measure"], f"`{fact['ranker']}`"]
            gain = _mean(fact["gain"], fact["margin"], sign="+")
            lines.append(
                markdown_row([*names, f"{fact['queries']:,}", gain, f"{fact['holm']:.4f}", fact["verdict"]])
            )
    if "gate" in facts:
        lines += ["", *(f"**{sentence}**" for sentence in sentences_of(facts["gate"])[:1])]
        lines += sentences_of(facts["gate"])[1:]
        header = ["measure", "ranker", "margin", "gain", "queries", "p not worse", "verdict"]
        lines += ["", markdown_row(header), markdown_row(["---"] * len(header))]
        for test in facts["gate"]["tests"]:
            numbers = [f"{test['margin']:g}", f"{test['gain']:+.4f}", f"{test['n_queries']:,}"]
            shown = [f"`{test['ranker']}`", *numbers, f"{test['p_not_worse']:.4f}", str(test["verdict"])]
            lines.append(markdown_row([test["measure"], *shown]))
    if facts.get("power"):
        lines += ["", f"Queries to detect a difference of {facts['power'][0]['difference']:g}:", ""]
        lines += [markdown_row(_POWER_HEADER), markdown_row(["---"] * len(_POWER_HEADER))]
        for fact in facts["power"]:
            numbers = [f"{fact['spread']:.4f}", f"{fact['queries']:,}", f"{fact['needed']:,}"]
            lines.append(markdown_row([fact["measure"], f"`{fact['ranker']}`", *numbers]))
        lines += ["", _POWER_NOTE]
    return "\n".join([*lines, "", facts["note"] or ""])


def _mean(mean: float | None, margin: float | None, sign: str = "") -> str:
    return "–" if mean is None else f"{mean:{sign}.4f}" + ("" if margin is None else f" ± {margin:.4f}")
