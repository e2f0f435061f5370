"""``rankwise audit``: judgments to check again, and other things that may be wrong with judged data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise.cli import options
from rankwise.cli.learners import SELECTORS, make_learner, parse_columns
from rankwise.cli.paths import Output
from rankwise.cli.screen import progress, show_json, show_table
from rankwise.rendering import printable

if TYPE_CHECKING:
    from rankwise.auditing.audit_data import Audit


def run(
    data: options.Data,
    *,
    learner: Annotated[
        str,
        options.of_learner(f"What scores left-out queries: {', '.join(SELECTORS)}; the first by default."),
    ] = "rankrls",
    count: Annotated[int, typer.Option(min=1, help="How many rows, and how many pairs, to list.")] = 20,
    reveals: Annotated[
        float,
        typer.Option(help="The fraction of pairs that a feature orders if it gives the label away."),
    ] = 0.99,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rows to judge again to a table.", show_default=False),
        Output(),
    ] = None,
    columns: options.Columns = None,
    settings: options.Settings = None,
    rows: options.FeatureOptions,
    judgments: options.Judgments = None,
    json: options.Json = False,
) -> None:
    """List judgments that models trained on the other queries contradict, and data that cannot be right."""
    from rankwise.auditing.audit_data import audit
    from rankwise.cli.data_files import warn_of_one_ranking
    from rankwise.cli.fitting import read_parts

    ranker = make_learner(SELECTORS, learner, {"columns": parse_columns(columns)}, settings or [])
    how = rows.how(labelled=judgments is None, as_table=columns is not None)
    parts = read_parts(data, None, how, rows.columns(), judgments)
    warn_of_one_ranking(data, parts["training"], how)
    with progress("Leaving out queries"):
        found = audit(parts["training"], ranker=ranker, n_suspects=count, reveals=reveals)
    if csv is not None:
        _write(found, csv)
    if json:
        show_json(found.to_dict())
        return
    _show(found, count)
    if csv is not None:
        typer.echo(printable(f"Written to {csv}"))


def _show(found: Audit, count: int) -> None:
    for title, (header, rows) in found.tables().items():
        more = f"... and {len(rows) - count:,} more; --json lists them all" if len(rows) > count else None
        show_table(title, header, rows[:count], more)
    if found.calibration is None:
        typer.echo("All scores of left-out queries are equal, so no judgment contradicts them.")


def _write(found: Audit, path: Path) -> None:
    from rankwise.readers.delimited import write_delimited

    columns = {"qid": "query", "doc": "doc", "label": "label"}  # named as in a file of judgments
    columns |= {name: name for name in ("row", "score", "judged", "probability")}
    rows = ([getattr(row, name) for name in columns.values()] for row in found.rows)
    write_delimited(path, list(columns), rows)
