"""Options that say what to learn: parameters of the learner, and what to choose from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from rankwise.cli import completion
from rankwise.cli.data_files import files_to_read
from rankwise.cli.paths import Input

# The panels of the help.
LEARNER, CHOICE = "Learner", "Choosing"


def of_learner(help: str, **more: Any) -> Any:
    """An option that becomes a parameter of the learner; None leaves it at its default."""
    return typer.Option(help=help, rich_help_panel=LEARNER, **more)


def of_choice(help: str, **more: Any) -> Any:
    """An option that says what to choose from, or by what."""
    return typer.Option(help=help, rich_help_panel=CHOICE, **more)


MonotonicCst: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="A=1,B=-1,...|FILE",
        help="The sign of the weight of each of these features, or a JSON file of signs (rankrls).",
        rich_help_panel=LEARNER,
        show_default=False,
    ),
    Input(),
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        **completion.one_of("auto", "spline", listed=False),
        metavar="auto|spline|FILE",
        help="How to encode the columns of a table, with missing values, text and dates: detected "
        "(auto), with "
        'a spline for every number (spline), or a JSON file such as {"price": "log", "*": "auto"}.',
        rich_help_panel=LEARNER,
        show_default=False,
    ),
    Input(),
]
Interactions: TypeAlias = Annotated[
    str | None,
    typer.Option(
        **completion.one_of("auto", listed=False),
        metavar="auto|N|A*B,...",
        help="Pairs of columns that matter together: searched for (auto, or at most N) or named, as in "
        "device*price,category*brand; device*price=spline:6 sets the knots.",
        rich_help_panel=LEARNER,
        show_default=False,
    ),
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other parameter of the learner's class; may be repeated.",
        rich_help_panel=LEARNER,
    ),
]
Validation: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DATA",
        help="Judged rows to choose on instead of left-out queries; with one alpha, --cv, --pairs or "
        "--features-at-most, they only evaluate the model.",
        rich_help_panel=CHOICE,
        show_default=False,
    ),
    Input(files_to_read),
]
