"""What the page sends, checked: anyone can send anything to a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rankwise.errors import DataError
from rankwise.judging.entries import Kind


class Told(NamedTuple):
    """A judgment as it was sent: an entry without number, time, rater and reason."""

    kind: Kind
    query: str
    docs: tuple[str, ...]
    grade: float | None


def told(said: dict[str, Any], grades: Sequence[float]) -> Told:
    """Read a judgment, whose grade is one of those that documents can have."""
    kind, docs, grade = said.get("kind"), said.get("docs"), said.get("grade")
    if kind not in (Kind.GRADE, Kind.ABOVE, Kind.SAME, Kind.SKIP):
        raise DataError(f"A judgment cannot be of the kind {kind!r:.40}.")
    query = text_of("query", said.get("query"))
    if not isinstance(docs, list) or not 1 <= len(docs) <= 2:
        raise DataError("A judgment has one document or two.")
    is_number = isinstance(grade, int | float) and not isinstance(grade, bool)
    if kind == Kind.GRADE and not (is_number and grade in grades):
        known = ", ".join(f"{one:g}" for one in grades)
        raise DataError(f"The grade must be one of {known}; got {grade!r:.40}.")
    value = float(grade) if kind == Kind.GRADE and grade is not None else None
    return Told(Kind(kind), query, tuple(text_of("doc", doc) for doc in docs), value)


def text_of(field: str, value: Any) -> str:
    """The text that a field holds."""
    if not isinstance(value, str):
        raise DataError(f"The field '{field}' must be text; got {value!r:.40}.")
    return value
