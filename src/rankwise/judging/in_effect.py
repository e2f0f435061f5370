"""What the entries of a journal say together: the grades and the comparisons that are in effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean

from rankwise.errors import DataError
from rankwise.judging.entries import Entry, Kind, Reason

# What an entry is about: documents of a query, two of them in the order of their names.
Subject = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Judged:
    """What raters say about one subject: for each of them, the last entry that counts."""

    entries: tuple[Entry, ...]

    @property
    def grade(self) -> float | None:
        """The mean grade of the raters of a document; None if all of them skipped it."""
        grades = [entry.grade for entry in self.entries if entry.grade is not None]
        return fmean(grades) if grades else None

    @property
    def comparisons(self) -> list[Entry]:
        """The entries that compare two documents."""
        return [entry for entry in self.entries if entry.kind in (Kind.ABOVE, Kind.SAME)]

    @property
    def is_random(self) -> bool:
        """Whether the subject was drawn at random."""
        return bool(self.entries) and all(entry.reason is Reason.RANDOM for entry in self.entries)


class Judgments:
    """Entries by what they are about, so that any of them can be replaced or undone.

    A rater who judges something again replaces their earlier judgment. An entry that is undone does not
    count, and the one before it does again; undoing the "undo" brings it back.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: list[Entry] = []
        self._undone: set[int] = set()
        self._about: dict[Subject, dict[str, list[Entry]]] = {}
        self._of_query: dict[str, set[Subject]] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> Subject:
        """Take in the next entry; returns what it changes."""
        if entry.undone is not None:
            judgment = self._reversed(entry.undone)
            self._undone ^= {judgment.number}
        else:
            judgment = entry
            subject = subject_of(entry)
            self._about.setdefault(subject, {}).setdefault(entry.rater, []).append(entry)
            self._of_query.setdefault(subject[0], set()).add(subject)
        self.entries.append(entry)
        return subject_of(judgment)

    def check(self, entry: Entry) -> None:
        """Refuse an entry that `add` cannot take."""
        if entry.undone is not None:
            self._reversed(entry.undone)

    def _reversed(self, number: int) -> Entry:
        """The judgment that reversing an entry changes."""
        target = self.entries[number - 1]
        judgment = target if target.undone is None else self.entries[target.undone - 1]
        counts = judgment.number not in self._undone
        if judgment.undone is not None or counts != (target.undone is None):
            raise DataError(f"Entry {number} cannot be undone: it is no longer in effect.")
        return judgment

    def counts(self, entry: Entry) -> bool:
        """Whether an entry says something that was not undone."""
        return entry.undone is None and entry.number not in self._undone

    def about(self, subject: Subject) -> Judged:
        """What is said of a subject now."""
        last = ([e for e in own if self.counts(e)][-1:] for own in self._about.get(subject, {}).values())
        return Judged(tuple(entry for one in last for entry in one))

    def of_query(self, query: str) -> Iterator[tuple[tuple[str, ...], Judged]]:
        """What is said of a query: the documents of each subject, and the judgments."""
        for subject in sorted(self._of_query.get(query, ())):
            judged = self.about(subject)
            if judged.entries:
                yield subject[1], judged

    def of_all(self) -> Iterator[tuple[str, tuple[str, ...], Judged]]:
        """The same of all queries, in the order in which they were first judged."""
        for query in self._of_query:
            for docs, judged in self.of_query(query):
                yield query, docs, judged

    @property
    def last(self) -> Entry | None:
        """The last judgment that counts."""
        return next(filter(self.counts, reversed(self.entries)), None)


def subject_of(entry: Entry) -> Subject:
    """What a judgment is about."""
    assert entry.query is not None
    return entry.query, tuple(sorted(entry.docs))
