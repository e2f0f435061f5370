"""What the user says a column becomes (``"auto"``, ``"log"``, ``"spline:8"``, ...), and which interact."""

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


# A search adds so many interactions at most.
MOST_FOUND = 60


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
            "The 'columns' parameter must be 'auto', 'spline' or a dict with a code for each column, "
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
            f"The 'columns' parameter cannot encode every column as '{spec.kind}'; name the columns: "
            f"{{'column': {text!r}, '*': 'auto'}}."
        )
    return spec


def compares_rows(columns: Any) -> bool:
    """Whether some columns compare the rows of a query, so that these must be known."""
    _, entries = specs_of(columns)
    return any(spec.kind in RELATIVE for spec in entries.values())


@dataclass(frozen=True)
class InteractionSpec:
    """Two columns, with the number of knots and of categories of their axes; None is the default."""

    columns: tuple[str, str]
    knots: int | None = None
    categories: int | None = None

    @property
    def name(self) -> str:
        return f"({self.columns[0]!r}, {self.columns[1]!r})"


@dataclass(frozen=True)
class Wanted:
    """The pairs that the user named, or how many a search may find at most; 0 means no search."""

    named: tuple[InteractionSpec, ...] = ()
    at_most: int = 0


def wanted_interactions(interactions: Any) -> Wanted:
    """Read the parameter `interactions`: ``"auto"``, a number, or pairs of columns."""
    if interactions is None:
        return Wanted()
    if isinstance(interactions, str) and interactions == "auto":
        return Wanted(at_most=MOST_FOUND)
    if isinstance(interactions, int) and not isinstance(interactions, bool) and interactions >= 1:
        return Wanted(at_most=interactions)
    if isinstance(interactions, Mapping) and interactions:
        return Wanted(tuple(_spec(pair, how) for pair, how in interactions.items()))
    if isinstance(interactions, list | tuple) and interactions:
        return Wanted(tuple(_of_entry(entry) for entry in interactions))
    raise ParameterError(
        "The 'interactions' parameter must be 'auto', the largest number to search for, a list of pairs of "
        f"columns or a dict of what they become, such as {{('device', 'price'): 'spline:4'}}; got "
        f"{interactions!r:.100}."
    )


def _of_entry(entry: Any) -> InteractionSpec:
    """A pair of columns, or a pair and what it becomes, as files write the items of a dict."""
    if isinstance(entry, list | tuple) and len(entry) == 3:
        return _spec(entry[:2], entry[2])
    return _spec(entry, None)


def _spec(pair: Any, how: Any) -> InteractionSpec:
    are_names = isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(c, str) for c in pair)
    if not are_names:
        raise ParameterError(
            f"The 'interactions' parameter must name pairs of columns, such as ('device', 'price'); got "
            f"{pair!r:.100}."
        )
    columns = (pair[0], pair[1])
    if how is None:
        return InteractionSpec(columns)
    spec = spec_of(how, " × ".join(columns), "interactions")
    if spec.kind is ColumnKind.SPLINE:
        return InteractionSpec(columns, knots=spec.size)
    if spec.kind is ColumnKind.CATEGORY:
        return InteractionSpec(columns, categories=spec.size)
    raise ParameterError(
        f"The 'interactions' parameter makes {' × '.join(columns)} {how!r:.100}; expected "
        f"'spline:KNOTS', for its numbers, or 'category:COUNT', for its categories."
    )
