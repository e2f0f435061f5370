"""Entries of a journal: what a rater said about documents, and when; and what the page sends, checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple, Self

from rankwise.errors import DataError

# Longer lines are no judgments, and so are larger grades.
LONGEST_LINE = 1 << 16
LARGEST_GRADE = 1e6


class Kind(StrEnum):
    """What an entry says."""

    GRADE = "grade"  # the document has this grade
    ABOVE = "above"  # the first document is better than the second
    SAME = "same"  # two documents are equally good
    SKIP = "skip"  # the rater cannot say
    UNDO = "undo"  # another entry does not count, or counts again


class Reason(StrEnum):
    """Why these documents were judged, and no others."""

    RANDOM = "random"  # drawn at random, so that estimates on them are unbiased
    TEACHES = "teaches"  # the judgment was expected to teach the model most
    CHOSEN = "chosen"  # by the rater


_N_DOCS = {Kind.GRADE: (1,), Kind.ABOVE: (2,), Kind.SAME: (2,), Kind.SKIP: (1, 2), Kind.UNDO: (0,)}


@dataclass(frozen=True)
class Entry:
    """One line of a journal.

    Attributes
    ----------
    number : int
        1 for the first entry of the journal.
    time : str
        When it was written, in UTC.
    rater : str
    kind : Kind
    query : str or None
    docs : tuple of str
        One document, or the two that were compared, the better one first.
    grade : float or None
    undone : int or None
        The number of the entry that an "undo" reverses.
    reason : Reason
    """

    number: int
    time: str
    rater: str
    kind: Kind
    query: str | None = None
    docs: tuple[str, ...] = ()
    grade: float | None = None
    undone: int | None = None
    reason: Reason = Reason.CHOSEN

    def __post_init__(self) -> None:
        if len(self.docs) not in _N_DOCS[self.kind] or len(set(self.docs)) < len(self.docs):
            raise DataError(f"an entry of kind '{self.kind}' cannot have the documents {self.docs!r:.80}")
        if (self.query is None) != (self.kind is Kind.UNDO):
            raise DataError(f"an entry of kind '{self.kind}' has {'no' if self.query is None else 'a'} query")
        if (self.grade is None) != (self.kind is not Kind.GRADE):
            raise DataError(f"an entry of kind '{self.kind}' cannot have the grade {self.grade!r}")
        if self.grade is not None and not abs(self.grade) <= LARGEST_GRADE:
            raise DataError(f"the grade must be a number up to {LARGEST_GRADE:g}; got {self.grade!r}")
        is_earlier = self.undone is not None and 1 <= self.undone < self.number
        if is_earlier != (self.kind is Kind.UNDO):
            raise DataError(f"an entry of kind '{self.kind}' cannot reverse the entry {self.undone!r}")

    def line(self) -> bytes:
        """The entry as a line of a journal."""
        fields = {name: value for name, value in asdict(self).items() if value is not None and value != ()}
        return json.dumps(fields, ensure_ascii=True, allow_nan=False).encode() + b"\n"

    @classmethod
    def of_line(cls, line: bytes) -> Self:
        """Read a line that `line` made; anything else is a DataError."""
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            raise DataError("the line is not JSON") from None
        types = {"number": int, "time": str, "rater": str, "kind": str, "query": str, "docs": list}
        types |= {"grade": float, "undone": int, "reason": str}
        if not isinstance(fields, dict) or not fields.keys() <= types.keys():
            raise DataError("the line is not an entry of a journal")
        if isinstance(fields.get("grade"), int) and not isinstance(fields["grade"], bool):
            fields["grade"] = float(fields["grade"])
        for name, value in fields.items():
            if type(value) is not types[name]:
                raise DataError(f"the field '{name}' cannot be {value!r:.60}")
        docs = fields.get("docs", [])
        if not all(isinstance(doc, str) for doc in docs):
            raise DataError("the field 'docs' must hold text")
        try:
            known = {"kind": Kind(fields["kind"]), "reason": Reason(fields["reason"]), "docs": tuple(docs)}
            return cls(**{**fields, **known})
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the line is not an entry of a journal ({error})") from None


def now() -> str:
    """The time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
