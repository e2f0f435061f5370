"""Faults of a table: what is wrong with it, what training makes of it, and what handles it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from rankwise.types import Ints

# Examples of each fault that are shown.
EXAMPLES = 3


class Severity(StrEnum):
    """How bad a fault is."""

    MUST_FIX = "must fix"
    LOOK = "look"
    NOTE = "note"


class Repair(StrEnum):
    """What ``rankwise audit --fix`` does about a fault."""

    DROP_ROWS = "rows dropped"
    BLANK = "values made missing"
    DROP_COLUMN = "column dropped"


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with a table, or that its owner should know before training.

    Attributes
    ----------
    kind : str
        The name of the check, such as ``"missing labels"``.
    severity : Severity
    column : str or None
        The column it is about; None if it is about rows or queries.
    count : int
        How many rows, values or queries have it.
    found, training, remedy : str
        Sentences: what it is, what training makes of it, and the option that handles it.
    examples : tuple of str
    repair : Repair or None
        What fixing does; None if only the owner of the table can tell what is right.
    rows : Ints
        The rows that a repair concerns.
    """

    kind: str
    severity: Severity
    column: str | None
    count: int
    found: str
    training: str
    remedy: str
    examples: tuple[str, ...] = ()
    repair: Repair | None = None
    rows: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, without the rows."""
        return {name: value for name, value in asdict(self).items() if name != "rows"}

    def __str__(self) -> str:
        shown = f" ({', '.join(self.examples)})" if self.examples else ""
        return " ".join(filter(None, [f"{self.found}{shown}.", self.training, self.remedy]))


def in_order(faults: Sequence[Fault]) -> list[Fault]:
    """The worst first; those of the same severity as they were found."""
    order = list(Severity)
    return sorted(faults, key=lambda fault: order.index(fault.severity))


def rows_shown(rows: Ints) -> tuple[str, ...]:
    """The first rows, counting from 0."""
    return tuple(f"row {row}" for row in rows[:EXAMPLES].tolist())
