"""``rankwise interleave``: which of two interleaved rankers users prefer, and what a test would take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.paths import Input
from rankwise.cli.screen import show_json, show_table, show_text
from rankwise.errors import blaming
from rankwise.long_tasks import task
from rankwise.rendering import counted

if TYPE_CHECKING:
    from rankwise.clicks.interleaving import InterleavingTest

# Preferences that a test might be planned for, as shares of the wins.
PLANNED = (0.51, 0.52, 0.55, 0.6)


def of_log(help: str) -> Any:
    return typer.Option(metavar="COLUMN", help=help, rich_help_panel="Columns of the log")


def run(
    log: Annotated[
        Path,
        typer.Argument(
            metavar="LOG",
            help="A .csv or .parquet table with one row per result shown, clicked or not.",
            show_default=False,
        ),
        Input(),
    ],
    unit: Annotated[
        str, of_log("What decides independently of others: sessions or, if some have several, users.")
    ] = "session",
    team: Annotated[str, of_log("The ranker of each result; empty for results without one.")] = "team",
    clicked: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="1 where the result was clicked; 'clicked', 'clicks' or 'click' by default.",
            rich_help_panel="Columns of the log",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Test which of two rankers users prefer, by their clicks on interleaved results."""
    from rankwise.clicks.interleaving import TEAMS_HEADER, interleaving_test
    from rankwise.clicks.log_files import read_interleaved_log

    with task(f"Reading {log.name}"):
        columns = read_interleaved_log(log, unit=unit, team=team, clicked=clicked)
    with blaming(log):
        result = interleaving_test(*columns)
    planned = {share: result.n_to_detect(share) for share in PLANNED} if result.n_won else {}
    if json:
        show_json(_facts(result, planned))
        return
    won = f"{result.n_won:,} of {counted(result.n_units, 'unit')} have a winner."
    show_table(f"Interleaved log {log.name}", TEAMS_HEADER, result.rows, won)
    show_text([_verdict(result)])
    if planned:
        title = "Units with which a test finds a preference with a probability of 80 %"
        show_table(title, ("share of wins", "units"), planned.items())


def _facts(result: InterleavingTest, planned: dict[float, int]) -> dict[str, Any]:
    credits = result.credits
    names = ("wins", "share", "low", "high")
    return {
        "units": result.n_units,
        "ties": result.ties,
        "p_value": result.p_value,
        "teams": {
            name: {**dict(zip(names, values, strict=True)), "credit": credits[name]}
            for name, *values in result.rows
        },
        "units_to_detect": [{"share": share, "units": n} for share, n in planned.items()],
    }


def _verdict(result: InterleavingTest) -> str:
    from rankwise.clicks.sign_test import LEVEL

    test = f"sign test, p = {result.p_value:.3g}"
    if result.p_value > LEVEL:
        return f"No preference is shown ({test})."
    preferred = max(result.wins, key=lambda name: result.wins[name])
    return f"Users prefer {preferred} ({test})."
