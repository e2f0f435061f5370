"""Comparisons as tables for papers."""

from __future__ import annotations

from rankwise.metrics.comparison import Comparison
from rankwise.metrics.named_measures import get_measure

SIGNIFICANT = 0.05
_LATEX = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def latex_table(means: dict[str, dict[str, float]], comparison: Comparison | None, n_queries: int) -> str:
    """A table for the booktabs package: the best value of each measure is bold, and superscripts number the
    learners that are significantly worse."""
    learners, names = list(means), list(next(iter(means.values())))
    worse: dict[tuple[str, str], list[int]] = {}
    for test in () if comparison is None else comparison.tests:
        if test.holm_randomization <= SIGNIFICANT:
            a_wins = (test.difference > 0) == get_measure(test.measure).higher_is_better
            winner, loser = (test.a, test.b) if a_wins else (test.b, test.a)
            worse.setdefault((winner, test.measure), []).append(learners.index(loser) + 1)
    best = {
        name: (max if get_measure(name).higher_is_better else min)(row[name] for row in means.values())
        for name in names
    }
    lines = [
        "% Needs \\usepackage{booktabs}. Bold: the best. Superscripts: significantly better than the learner",
        f"% of this number (paired randomization test over {n_queries} queries, with Holm's correction,",
        f"% p <= {SIGNIFICANT}).",
        f"\\begin{{tabular}}{{rl{'r' * len(names)}}}",
        "\\toprule",
        " & ".join(["", "", *map(_escaped, names)]) + r" \\",
        "\\midrule",
    ]
    for number, (learner, row) in enumerate(means.items(), start=1):
        cells = [str(number), _escaped(learner)]
        for name, value in row.items():
            shown = "--" if value != value else f"{value:.4f}"
            shown = f"\\textbf{{{shown}}}" if value == best[name] else shown
            marks = ",".join(map(str, sorted(worse.get((learner, name), []))))
            cells.append(f"{shown}$^{{{marks}}}$" if marks else shown)
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
