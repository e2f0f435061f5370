"""``rankwise raters``: how far raters agree, what each is like, and labels that pool their grades."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli import options
from rankwise.cli.data_files import ReadOptions
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import ParameterError
from rankwise.long_tasks import task
from rankwise.rendering import printable

SHOWN = 20


def run(
    judgments: Annotated[
        Path,
        typer.Argument(
            metavar="JUDGMENTS",
            help="A table of qid,doc,label,rater with a header: one line per judgment.",
            show_default=False,
        ),
        Input(),
    ],
    rater: Annotated[str, typer.Option(help="The column that names the rater.")] = "rater",
    grades: Annotated[
        str | None,
        typer.Option(metavar="LOW,HIGH", help="The scale; other grades are an error.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write pooled labels and their weights, for --judgments of 'train'.",
            show_default=False,
        ),
        Output(),
    ] = None,
    label: options.Label = None,
    qid: options.Qid = None,
    doc: options.Doc = None,
    json: options.Json = False,
) -> None:
    """Measure how far raters agree, and each rater's bias and noise; pool their grades."""
    from rankwise.raters import load_ratings, study_raters

    names = ReadOptions(label, qid, doc).of_judgments
    ratings = load_ratings(judgments, rater, _scale(grades), **names)
    with task("Comparing raters"):
        study = study_raters(ratings)
    if out is not None:
        study.save(out)
    if json:
        show_json(study.to_dict())
        return
    alpha = study.alpha
    typer.echo(
        f"{len(ratings.grade):,} judgments of {ratings.n_documents:,} documents by {ratings.n_raters:,} "
        f"raters. "
        f"Krippendorff's alpha for ordinal grades: {alpha.alpha:.3f} "
        f"(95 % interval {alpha.low:.3f} to {alpha.high:.3f})"
    )
    for title, (header, rows) in study.tables().items():
        more = f"... and {len(rows) - SHOWN:,} more; --json lists them all" if len(rows) > SHOWN else None
        show_table(title, header, rows[:SHOWN], more)
    if out is not None:
        typer.echo(printable(f"Written to {out}"))


def _scale(grades: str | None) -> tuple[float, float] | None:
    if grades is None:
        return None
    try:
        low, high = map(float, grades.split(","))
    except ValueError:
        low, high = 1.0, 0.0
    if not low < high:
        raise ParameterError(f"--grades must be two numbers, LOW,HIGH, such as 0,4; got {grades!r}.")
    return low, high
