"""What the user says about interactions: ``"auto"``, a number, or pairs of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankwise.columns.specs import ColumnKind, spec_of
from rankwise.errors import ParameterError

# A search adds so many interactions at most.
MOST_FOUND = 60


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
    """Read the parameter."""
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
