"""The files that `rankwise demo` writes besides the model: a per-query table and an HTML report."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from rankwise.cli.page import bars, heading, page, paragraph, table
from rankwise.files import replacing_file
from rankwise.rendering import Cell

if TYPE_CHECKING:
    from rankwise.cli.demo import Experiment
    from rankwise.metrics import Comparison


def write_per_query(path: Path, experiment: Experiment) -> None:
    """Write one line per test query and ranker; a cell is empty where a measure excludes the query."""
    with replacing_file(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        names = list(next(iter(experiment.evaluations.values())).per_query)
        writer.writerow(["ranker", *names])
        for ranker, evaluation in experiment.evaluations.items():
            columns = [column.tolist() for column in evaluation.per_query.values()]
            for line in zip(*columns, strict=True):
                writer.writerow([ranker, *("" if cell != cell else cell for cell in line)])


def write_report(path: Path, experiment: Experiment) -> None:
    parts = ", ".join(
        f"{part.n_queries} {name} queries ({part.n_rows} rows)" for name, part in experiment.parts.items()
    )
    settings = "; ".join(f"{name}: {setting}" for name, setting in experiment.settings.items())
    means = experiment.comparison.means
    html = page(
        "rankwise demo",
        paragraph(
            f"A simulated shop search: {parts}. Alpha was chosen on the validation queries ({settings}); "
            "everything below was measured on the test queries."
        ),
        heading("Quality"),
        table(
            ["ranker", *next(iter(means.values()))],
            [(name, *row.values()) for name, row in means.items()],
            best=0,
        ),
        paragraph("Higher is better, except for pairwise_error, the share of misordered pairs."),
        heading("Significance"),
        table(
            ["measure", "RankRLS against", "better", "worse", "equal", "p Wilcoxon", "p randomization"],
            rows_against_others(experiment.comparison),
        ),
        paragraph(
            "Better, worse and equal count queries; p-values are two-sided and not corrected for multiple "
            f"testing. {left_out_note(experiment)}"
        ),
        heading("Feature importance"),
        bars(_importance(experiment), "Weight of each feature times its spread within queries"),
        paragraph(
            "Each weight times the standard deviation of its feature within queries: how far the feature "
            "typically moves a document relative to the others of its query."
        ),
    )
    with replacing_file(path) as beside:
        beside.write_text(html, encoding="utf-8")


def left_out_note(experiment: Experiment) -> str:
    """Why the counts of queries that are better, worse and equal do not sum to all test queries."""
    summaries = experiment.evaluations["RankRLS"].summaries
    reasons = [f"{s.measure.name} {s.n_left_out} ({s.reason})" for s in summaries if s.n_left_out]
    n_queries = experiment.parts["test"].n_queries
    return f"Of the {n_queries} test queries, measures leave out those without a value: {', '.join(reasons)}."


def rows_against_others(comparison: Comparison) -> list[tuple[Cell, ...]]:
    """RankRLS against each other ranker: measure, opponent, queries better, worse and equal, p-values."""
    return [
        (t.measure, t.b, t.n_better, t.n_worse, t.n_equal, t.p_wilcoxon, t.p_randomization)
        for t in comparison.tests
        if t.a == "RankRLS"
    ]


def _importance(experiment: Experiment) -> list[tuple[str, float]]:
    """Weights times the features' spread within training queries, largest first."""
    import numpy as np

    training = experiment.parts["training"]
    queries = training.queries
    X = queries.grouped(training.X)
    means = np.add.reduceat(X, queries.offsets[:-1]) / queries.sizes[:, None]
    spread = (X - np.repeat(means, queries.sizes, axis=0)).std(axis=0)
    effects = (experiment.model.coef_ * spread).tolist()
    names = experiment.model.feature_names_in_.tolist()
    return sorted(zip(names, effects, strict=True), key=lambda entry: -abs(entry[1]))
