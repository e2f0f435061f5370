"""A session of judging: one journal, one model, and whoever looks at them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankwise.errors import DataError
from rankwise.judging.choosing import Chooser
from rankwise.judging.entries import Entry, Kind, Reason, Told, now, text_of, told
from rankwise.judging.in_effect import Judgments, Subject
from rankwise.judging.journal import Journal
from rankwise.judging.live_model import Said
from rankwise.judging.reserve_quality import ReserveQuality, left_out_quality
from rankwise.judging.saving import TABLES, write_table
from rankwise.judging.starting import Start
from rankwise.judging.views import changes, query_view
from rankwise.model.models import save_model
from rankwise.types import Floats

MODEL = "model.safetensors"
# Judgments in a row of one query before another comes next.
IN_A_ROW = 10
# So many past judgments are shown at a time.
SHOWN = 50


class Session:
    """Takes judgments, one at a time whoever sends them, and answers with what the page shows.

    A judgment is in the journal, and on the disk, before it changes anything else.

    Parameters
    ----------
    start : Start
    journal : Journal
    rater : str
    grades : sequence of float
        Those that documents can have.
    random_state : int, optional
        What is drawn at random.
    """

    def __init__(
        self,
        start: Start,
        journal: Journal,
        rater: str,
        grades: Sequence[float] = (0, 1, 2, 3, 4),
        random_state: int | None = None,
    ) -> None:
        self.collection, self._initial = start.collection, start.grades
        self.start, self.journal, self.rater, self.grades = start, journal, rater, tuple(map(float, grades))
        self.judgments = Judgments()
        for number, entry in enumerate(journal.entries, start=1):
            try:
                self._check_names(entry)
                self.judgments.check(entry)
                self.judgments.add(entry)
            except DataError as error:
                raise DataError(f"{journal.path}, line {number}: {error}") from None
        self.model = start.model
        queries = {self.collection.query(str(entry.query)) for entry in journal.entries if entry.query}
        queries |= {int(q) for q in self.collection.queries.query_of_row()[[*self._initial]]}
        self.model.say_all({query: self._said(query) for query in queries})
        self.chooser = Chooser(self.collection, np.random.default_rng(random_state))
        self._offered: dict[Subject, Reason] = {}
        self._in_a_row = 0
        self._lock = threading.RLock()
        self.quality: ReserveQuality | None = None
        self._measured = -1
        self._to_measure = threading.Event()
        self._to_measure.set()

    @property
    def version(self) -> int:
        """Grows with every judgment."""
        return len(self.journal.entries)

    def judge(self, said: dict[str, Any]) -> dict[str, Any]:
        """Take in one judgment, and return the view after it, what moved, and why.

        Parameters
        ----------
        said : dict
            ``kind``, ``query``, ``docs``, perhaps ``grade``; and ``blind`` and ``pairs``, as in `next`.
        """
        with self._lock:
            entry = self._entry(told(said, self.grades))
            before, query = self.model.coef, self.collection.query(str(entry.query))
            self._record(entry)
            self._offered.pop((str(entry.query), tuple(sorted(entry.docs))), None)
            self._in_a_row += 1
            return self._after(query, before, said)

    def undo(self, said: dict[str, Any]) -> dict[str, Any]:
        """Undo an entry, by its number, or the last that counts."""
        with self._lock:
            number = said.get("entry")
            if number is None:
                last = self.judgments.last
                if last is None:
                    raise DataError("There is nothing to undo.")
                number = last.number
            if type(number) is not int or not 1 <= number <= self.version:
                raise DataError(f"There is no entry {number!r:.40} to undo.")
            entry = Entry(self.version + 1, now(), self.rater, Kind.UNDO, undone=number)
            self.judgments.check(entry)
            before = self.model.coef
            return self._after(self._record(entry), before, said)

    def next(self, said: dict[str, Any]) -> dict[str, Any]:
        """What to judge next: in the query that is named, or in another one, which comes next.

        Parameters
        ----------
        said : dict
            ``query`` to stay in, or None; ``other`` to leave it; ``pairs`` for two documents to compare;
            ``blind`` to hide scores and order.
        """
        with self._lock:
            name = said.get("query")
            present = None if name is None else self.collection.query(text_of("query", name))
            if said.get("other") or present is None:
                self._in_a_row = 0
                present = self.chooser.query(
                    self.judgments, self.model, pairs=bool(said.get("pairs")), but=present
                )
            if present is None:
                return {"version": self.version, "task": None, "done": True}
            task = self._task(present, pairs=bool(said.get("pairs")))
            return self._view(present, self.model.coef, bool(said.get("blind")), task)

    def state(self, said: dict[str, Any] | None = None) -> dict[str, Any]:
        """What there is besides a query: counts, quality, and past judgments before some entry."""
        with self._lock:
            before = (said or {}).get("before")
            last = self.version if type(before) is not int else max(0, min(before - 1, self.version))
            entries = self.journal.entries[max(0, last - SHOWN) : last]
            return {
                "version": self.version,
                "counts": self._counts(),
                "quality": None if self.quality is None else asdict(self.quality),
                "measured": self._measured,
                "entries": [
                    {**asdict(entry), "counts": self.judgments.counts(entry)} for entry in reversed(entries)
                ],
                "more": last > SHOWN,
            }

    def about(self) -> dict[str, Any]:
        """What stays the same during a session."""
        return {
            "rater": self.rater,
            "journal": str(self.journal.path),
            "grades": list(self.grades),
            "fields": list(self.collection.shown),
            "queries": list(self.collection.names),
            "reserved": len(self.chooser.reserve),
        }

    def measure(self, seconds: float | None = None) -> bool:
        """Wait for judgments, then measure the model on the reserve; False if none came in time.

        For a thread of its own: it holds up no judgment, since sums and judgments are never changed in place.
        """
        if not self._to_measure.wait(seconds):
            return False
        with self._lock:
            self._to_measure.clear()
            model, version = self.model.copy(), self.version
            judgments = Judgments(self.journal.entries)
        found = left_out_quality(model, judgments, self.collection, self.chooser.reserve)
        with self._lock:
            self.quality, self._measured = found, version
        return True

    @property
    def files(self) -> list[str]:
        """The names of the files that `file` makes."""
        return [*TABLES, MODEL]

    def file(self, name: str) -> bytes:
        """The judgments as a table, or the model, as a file."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            with self._lock:
                entries, model = list(self.journal.entries), self.model.copy()
            if name == MODEL:
                save_model(self.start.fitted(model), path)
            else:
                write_table(name, path, entries)
            return path.read_bytes()

    def _entry(self, told: Told) -> Entry:
        subject = told.query, tuple(sorted(told.docs))
        # What was drawn at random stays so when it is judged again.
        drawn = self.judgments.about(subject).is_random
        reason = Reason.RANDOM if drawn else self._offered.get(subject, Reason.CHOSEN)
        entry = Entry(
            self.version + 1,
            now(),
            self.rater,
            told.kind,
            told.query,
            told.docs,
            grade=told.grade,
            reason=reason,
        )
        self._check_names(entry)
        return entry

    def _check_names(self, entry: Entry) -> None:
        for doc in entry.docs:
            self.collection.row(str(entry.query), doc)

    def _record(self, entry: Entry) -> int:
        """Write an entry, then learn it; returns the query that it changes."""
        self.journal.append(entry)
        query = self.collection.query(self.judgments.add(entry)[0])
        self.model.say(query, self._said(query))
        self._to_measure.set()
        return query

    def _after(self, query: int, before: Floats, said: dict[str, Any]) -> dict[str, Any]:
        blind, pairs = bool(said.get("blind")), bool(said.get("pairs"))
        task = self._task(query, pairs=pairs) if self._in_a_row < IN_A_ROW else None
        view = self._view(query, before, blind, task)
        if not blind:
            view["why"] = changes(self.collection, query, before, self.model.coef)
        return view

    def _view(self, query: int, before: Floats, blind: bool, task: dict[str, Any] | None) -> dict[str, Any]:
        view = query_view(
            self.collection,
            self.judgments,
            self._initial,
            self.model,
            query,
            before=before,
            blind=blind,
            wanted=[] if task is None else task["docs"],
        )
        return view | {"task": task, "version": self.version, "counts": self._counts(), "done": False}

    def _task(self, query: int, *, pairs: bool) -> dict[str, Any] | None:
        """What to judge next of a query; None if nothing is left."""
        choose = self.chooser.pair if pairs else self.chooser.document
        found = choose(query, self.judgments, self.model)
        if found is None:
            return None
        rows, reason = found
        docs = [self.collection.docs[row] for row in (rows if isinstance(rows, tuple) else (rows,))]
        self._offered[self.collection.name(query), tuple(sorted(docs))] = reason
        return {"docs": docs, "reason": str(reason)}

    def _counts(self) -> dict[str, int]:
        counted = [entry for entry in self.journal.entries if self.judgments.counts(entry)]
        return {
            "grades": sum(entry.kind is Kind.GRADE for entry in counted),
            "pairs": sum(entry.kind in (Kind.ABOVE, Kind.SAME) for entry in counted),
            "skips": sum(entry.kind is Kind.SKIP for entry in counted),
            "random": sum(entry.reason is Reason.RANDOM and entry.kind is not Kind.SKIP for entry in counted),
        }

    def _said(self, query: int) -> Said:
        """All that is said of a query, by row."""
        name = self.collection.name(query)
        grades = {
            r: self._initial[r] for r in self.collection.queries.rows_of(query).tolist() if r in self._initial
        }
        pairs: list[list[int]] = []
        margins: list[float] = []
        for docs, judged in self.judgments.of_query(name):
            if judged.grade is not None:
                grades[self.collection.row(name, docs[0])] = judged.grade
            for entry in judged.comparisons:
                pairs.append([self.collection.row(name, doc) for doc in entry.docs])
                margins.append(1.0 if entry.kind is Kind.ABOVE else 0.0)
        return Said(
            np.array(list(grades), dtype=np.int64),
            np.array(list(grades.values()), dtype=np.float64),
            np.array(pairs, dtype=np.int64).reshape(-1, 2),
            np.array(margins),
        )
