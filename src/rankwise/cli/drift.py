"""``rankwise drift``: whether new rows are still like those that a model was trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.exit_codes import ExitCode
from rankwise.cli.screen import show_json, show_table, show_text
from rankwise.errors import ParameterError
from rankwise.long_tasks import task
from rankwise.rendering import counted

if TYPE_CHECKING:
    from rankwise.auditing.drift_findings import Drift

# So many columns are shown, and more if they have shifted.
SHOWN_COLUMNS = 20
NOTE = (
    "index: population stability index of deciles or categories, new values (outside the range of training, "
    "or unknown categories) and missing ones; p: by chance, corrected for all columns; effect: share in what "
    "moves the rankings; score: shift of the mean score, in standard deviations within queries."
)


def run(
    model: options.Model,
    data: options.Data,
    *,
    fail_above: Annotated[
        float | None,
        typer.Option(
            metavar="INDEX",
            help="Exit with code 3 if the stability index of a column is above this, such as 0.1, and chance "
            "does not explain it.",
            show_default=False,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The date of each row of a table with labels: also show the quality by day, week or month.",
            show_default=False,
        ),
    ] = None,
    exclude: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Columns to leave out, such as those that grow with time."),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="The measure of quality over time; by default as in 'evaluate'.", show_default=False
        ),
    ] = None,
    rows: options.KnownRowOptions,
    json: options.Json = False,
) -> None:
    """Compare new rows with those that a model was trained on, column by column.

    The model file says how its columns were distributed, so the training data is not needed.
    """
    from dataclasses import replace

    from rankwise.auditing.drift import drift
    from rankwise.auditing.drift_findings import ABOVE
    from rankwise.cli.rankers import columns_beside
    from rankwise.cli.reading import choose_measures, load_model, read_for_model, split_list

    if fail_above is not None and not fail_above >= 0.0:
        raise ParameterError(f"--fail-above expects an index from 0 on; got {fail_above:g}.")
    if measure is not None and time is None:
        raise ParameterError("--measure needs --time, the dates of the rows.")
    known, above = load_model(model), ABOVE if fail_above is None else fail_above
    new = read_for_model(data, replace(rows.how(), labelled=time is not None), known)
    more: dict[str, Any] = {}
    dates = columns_beside(data, time, "--time")
    if time is not None and dates is not None:
        from rankwise.types import Reading

        (chosen, *_) = choose_measures(measure, new)
        more = {"time": dates[time].read(Reading.DATE, time), "measure": chosen}
    with task("Comparing"):
        found = drift(known, new, **more).without(split_list(exclude) or [])
    if json:
        show_json(found.to_dict(above))
    else:
        _show(found, above)
    if fail_above is not None and found.shifted(above):
        raise typer.Exit(ExitCode.FAILED)


def _show(found: Drift, above: float) -> None:
    from rankwise.auditing.drift_findings import HEADER

    lines, shifted = found.rows(above), found.shifted(above)
    shown = max(SHOWN_COLUMNS, len(shifted))
    more = f" (the first {shown} of {len(lines)})" if shown < len(lines) else ""
    show_table(f"Columns{more}", HEADER, lines[:shown], NOTE)
    if found.quality is not None:
        header = list(found.quality[0])
        show_table("Quality", header, [[line[name] for name in header] for line in found.quality])
    show_text(_sentences(found, shifted, above))


def _sentences(found: Drift, shifted: list[str], above: float) -> list[str]:
    said = []
    for name, column in found.columns.items():
        if column.unknown:
            named = ", ".join(f"{category} ({share:.1%})" for category, share in column.unknown.items())
            said.append(f"Unknown categories of {name}: {named}.")
    queries = "" if found.n_queries is None else f" in {counted(found.n_queries, 'query')}"
    compared = f"{counted(found.n_rows, 'row')}{queries} against {found.n_training_rows:,} of training"
    if shifted:
        verb = "has" if len(shifted) == 1 else "have"
        said.append(
            f"{len(shifted)} of {counted(len(found.columns), 'column')} {verb} shifted "
            f"({compared}): {', '.join(shifted)}."
        )
    else:
        said.append(f"No column has shifted by more than {above:g} ({compared}).")
    if any(column.verdict(above) == "may be chance" for column in found.columns.values()):
        said.append("More queries would show whether columns marked 'may be chance' have shifted.")
    return said
