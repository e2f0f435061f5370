"""What the user says a column becomes: ``"auto"``, ``"log"``, ``"spline:8"``, ..."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rankwise.errors import ParameterError

DEFAULT_KNOTS = 10
DEFAULT_CATEGORIES = 100
# The key that stands for all columns without an entry of their own.
OTHERS = "*"


class ColumnKind(StrEnum):
    """What a column can become."""

    AUTO = "auto"
    NUMBER = "number"
    LOG = "log"
    SPLINE = "spline"
    CATEGORY = "category"
    FLAG = "flag"
    DATE = "date"
    SHARE = "share"
    RANK = "rank"
    DISTANCE = "distance"
    DROP = "drop"


@dataclass(frozen=True)
class Spec:
    """What one column is to become.

    Attributes
    ----------
    kind : ColumnKind
    size : int
        The number of knots of a spline, or the largest number of categories.
    numeric : ColumnKind
        What the age of a date, or what compares a row with its query, becomes: a number, its logarithm or a
        spline.
    """

    kind: ColumnKind
    size: int = 0
    numeric: ColumnKind = ColumnKind.NUMBER


_LEAST = {ColumnKind.SPLINE: 2, ColumnKind.CATEGORY: 1}
_DEFAULT = {ColumnKind.SPLINE: DEFAULT_KNOTS, ColumnKind.CATEGORY: DEFAULT_CATEGORIES}
# What numbers can become, and so the ages of dates and numbers that compare rows with their query.
_OF_NUMBERS = (ColumnKind.NUMBER, ColumnKind.LOG, ColumnKind.SPLINE)
RELATIVE = (ColumnKind.SHARE, ColumnKind.RANK, ColumnKind.DISTANCE)
_OPTIONS = {
    ColumnKind.SPLINE: ("KNOTS",),
    ColumnKind.CATEGORY: ("COUNT",),
    **dict.fromkeys((ColumnKind.DATE, *RELATIVE), _OF_NUMBERS),
}
_EXPECTED = ", ".join(
    text for kind in ColumnKind for text in (kind, *(f"{kind}:{option}" for option in _OPTIONS.get(kind, ())))
)


def spec_of(text: Any, column: str | None = None, parameter: str = "columns") -> Spec:
    """Read what a column becomes; an error names the parameter and the column."""
    of = "" if column is None else f" of column {column!r:.100}"
    fault = ParameterError(f"The {parameter!r} parameter{of} is {text!r:.100}; expected one of {_EXPECTED}.")
    word, colon, option = text.partition(":") if isinstance(text, str) else ("", "", "")
    if word not in list(ColumnKind):
        raise fault
    kind = ColumnKind(word)
    if not colon:
        return Spec(kind, _DEFAULT.get(kind, 0))
    if kind in (ColumnKind.DATE, *RELATIVE) and option in _OF_NUMBERS:
        return Spec(kind, DEFAULT_KNOTS, ColumnKind(option))
    if kind in _LEAST and re.fullmatch(r"[0-9]{1,9}", option) and _LEAST[kind] <= int(option):
        return Spec(kind, int(option))
    raise fault


def specs_of(columns: Any) -> tuple[Spec | None, dict[str, Spec]]:
    """Read the parameter: what columns without an entry become (None: they are not used), and the entries."""
    if isinstance(columns, str):
        return _spec_of_others(columns), {}
    if not isinstance(columns, Mapping) or not columns:
        raise ParameterError(
            "The 'columns' parameter must be 'auto', 'spline' or a dict of what each column becomes, "
            f"such as {{'price': 'log'}}; got {columns!r:.100}."
        )
    for name in columns:
        if not isinstance(name, str):
            raise ParameterError(
                f"The keys of the 'columns' parameter must be column names; got {name!r:.100}."
            )
    others = _spec_of_others(columns[OTHERS]) if OTHERS in columns else None
    return others, {name: spec_of(text, name) for name, text in columns.items() if name != OTHERS}


def _spec_of_others(text: Any) -> Spec:
    """What numbers without an entry become; flags, dates and text are recognized."""
    spec = spec_of(text)
    if spec.kind not in (ColumnKind.AUTO, *_OF_NUMBERS):
        raise ParameterError(
            f"The 'columns' parameter cannot make every column a {spec.kind}; name the columns: "
            f"{{'column': {text!r}, '*': 'auto'}}."
        )
    return spec


def compares_rows(columns: Any) -> bool:
    """Whether some columns compare the rows of a query, so that these must be known."""
    _, entries = specs_of(columns)
    return any(spec.kind in RELATIVE for spec in entries.values())
