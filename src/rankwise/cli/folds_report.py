"""The result of ``rankwise folds`` as tables on the screen, CSV, LaTeX and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rankwise.cli.screen import show_table
from rankwise.rendering import jsonable, printable

if TYPE_CHECKING:
    from rankwise.cli.folds import Experiment
    from rankwise.rendering import Cell

FILES = ("folds.csv", "tests.csv", "table.tex", "folds.json")


def show_folds(experiment: Experiment, out: Path | None) -> None:
    """Print the means over folds, the values of each fold, and the tests."""
    from rankwise.metrics.comparison import TEST_HEADER

    names = [measure.name for measure in experiment.measures]
    n_folds = len(experiment.values)
    show_table(
        f"Mean over {n_folds} fold{'s' if n_folds > 1 else ''} (preset {experiment.preset})",
        ["learner", *names],
        [(learner, *means.values()) for learner, means in experiment.means().items()],
    )
    show_table("By fold", ["fold", "learner", "chosen", *names], list(_rows_by_fold(experiment)))
    comparison = experiment.comparison
    if comparison is not None:
        show_table(
            f"Differences over {experiment.n_test_queries()} test queries",
            TEST_HEADER,
            [test.row for test in comparison.tests],
            "Two-sided p-values over queries, and the same after Holm's correction for all tests above.",
        )
    if out is not None:
        typer.echo(printable(f"Written to {out}: {', '.join(FILES)}"))


def _rows_by_fold(experiment: Experiment) -> Iterable[tuple[Cell, ...]]:
    for fold, by_learner in experiment.values.items():
        for learner, means in by_learner.items():
            yield fold, learner, _chosen(experiment.chosen[fold][learner]), *means.values()


def _chosen(best: dict[str, Any]) -> str:
    settings = {
        name: value for name, value in best.items() if name not in ("score", "at_the_end_of_the_grid")
    }
    shown = (f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in settings.items())
    return " ".join(shown) + (" (end of the grid)" if best["at_the_end_of_the_grid"] else "")


def write_folds(experiment: Experiment, out: Path) -> None:
    """Write the values by fold with their means, the tests, a table for papers, and everything as JSON."""
    from rankwise.files import replacing_file
    from rankwise.metrics.comparison import TEST_HEADER
    from rankwise.metrics.latex import latex_table

    names = [measure.name for measure in experiment.measures]
    means: list[tuple[Cell, ...]] = [
        ("mean", learner, "", *row.values()) for learner, row in experiment.means().items()
    ]
    comparison = experiment.comparison
    tests = [] if comparison is None else [test.row for test in comparison.tests]
    _write_csv(out / "folds.csv", ["fold", "learner", "chosen", *names], [*_rows_by_fold(experiment), *means])
    _write_csv(out / "tests.csv", TEST_HEADER, tests)
    for name, text in (
        ("table.tex", latex_table(experiment.means(), comparison, experiment.n_test_queries())),
        ("folds.json", json.dumps(jsonable(experiment.to_dict()), indent=2, ensure_ascii=False) + "\n"),
    ):
        with replacing_file(out / name) as beside:
            beside.write_text(text, encoding="utf-8")


def write_folds_page(experiment: Experiment, report: Path, folder: Path) -> None:
    """Write the page of a report on the test queries of all folds."""
    from rankwise.cli.report import write_page

    rows, scores = experiment.tested
    by_fold = {
        fold: {
            learner: {"means": means, "chosen": _chosen(experiment.chosen[fold][learner])}
            for learner, means in by_learner.items()
        }
        for fold, by_learner in experiment.values.items()
    }
    title = f"{', '.join(scores)} on the folds of {folder.name}"
    write_page(
        report, scores, rows, experiment.measures, title=title, every_pair=True, more={"folds": by_fold}
    )


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    from rankwise.readers.delimited import write_delimited

    # All digits, unlike on the screen.
    write_delimited(path, header, (["" if cell != cell else cell for cell in row] for row in rows))
