"""How a model was made and updated, of which data, and how good it was."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import rankwise
from rankwise.errors import ParameterError
from rankwise.files import as_path
from rankwise.validation import Problem

_PACKAGES = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}
_BLOCK = 1 << 20
UPDATE = "update"
# The parts of the data that a model is fitted to.
SEEN = ("training", "learned")


@dataclass(frozen=True)
class File:
    """The name, size and SHA-256 checksum of a file; of a store, those of its manifest of checksums.

    A pipe has neither size nor checksum.
    """

    name: str
    bytes: int | None = None
    sha256: str | None = None

    @classmethod
    def of(cls, path: Path) -> Self:
        from rankwise.readers.manifest import MANIFEST

        place = path / MANIFEST if path.is_dir() else path
        if not place.is_file():
            return cls(str(path))
        digest = hashlib.sha256()
        with place.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
        return cls(str(path), place.stat().st_size, digest.hexdigest())


@dataclass(frozen=True)
class UsedRows:
    """Rows that had a part in a step, such as those of training; None is what is not known.

    Attributes
    ----------
    part : str
        "training", "validation", "learned" or "forgotten".
    n_rows, n_queries : int or None
    label, qid : str or None
        The columns of a table that hold labels and queries.
    files : tuple of File
    """

    part: str
    n_rows: int | None = None
    n_queries: int | None = None
    label: str | None = None
    qid: str | None = None
    files: tuple[File, ...] = ()


@dataclass(frozen=True)
class Result:
    """The mean of a measure on some rows, and half the width of its 95 % interval."""

    part: str
    measure: str
    mean: float | None
    margin: float | None = None
    n_queries: int | None = None


@dataclass(frozen=True)
class Step:
    """A fit or an update.

    Attributes
    ----------
    method : str
        The method of the ranker that was called; updates are "update".
    date : str or None
        When, in UTC.
    versions : dict of str to str
        Of Python and packages.
    rows : tuple of UsedRows
    command : str or None
        The command line.
    results : tuple of Result
    notes : tuple of str
    closed : bool
        Whether it was saved, so that the next update is a step of its own.
    """

    method: str
    date: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[UsedRows, ...] = ()
    command: str | None = None
    results: tuple[Result, ...] = ()
    notes: tuple[str, ...] = ()
    closed: bool = field(default=False, compare=False)

    @classmethod
    def now(cls, method: str, *rows: UsedRows) -> Self:
        """A step that is made now, by these versions."""
        packages = {
            name: sys.modules[module].__version__
            for module, name in _PACKAGES.items()
            if module in sys.modules
        }
        versions = {"rankwise": rankwise.__version__, "python": platform.python_version(), **packages}
        return cls(method, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), versions, rows)

    def with_rows(self, *known: UsedRows) -> Self:
        """The step with what else is known of its rows, such as files, and with other parts of the data."""
        rows = {rows.part: rows for rows in (*self.rows, *known)}
        return replace(self, rows=tuple(rows.values()))


History = tuple[Step, ...]


def updated(history: History | None, learned: int | None) -> History:
    """The history of a model that has learned so many rows more; below 0, forgotten as many.

    Updates that were not saved in between are one step. None is a number that is not known.
    """
    before, step = history or (), Step.now(UPDATE)
    if before and before[-1].method == UPDATE and not before[-1].closed:
        step = replace(step, rows=before[-1].rows)
        before = before[:-1]
    if learned is None:
        return (*before, step)
    counts = {rows.part: rows.n_rows or 0 for rows in step.rows}
    part = "learned" if learned >= 0 else "forgotten"
    counts[part] = counts.get(part, 0) + abs(learned)
    return (*before, replace(step, rows=tuple(UsedRows(name, count) for name, count in counts.items())))


@dataclass(frozen=True)
class Origin:
    """Which version of rankwise made a model, of how much data, and how; None is what an old file lacks.

    Attributes
    ----------
    version : str or None
    n_rows : int or None
    n_queries : int or None
        None for rows without queries as well.
    fitted_with_qid : bool or None
    history : tuple of Step or None
        The fit and all updates, the last of which the others describe.
    """

    version: str | None = None
    n_rows: int | None = None
    n_queries: int | None = None
    fitted_with_qid: bool | None = None
    history: History | None = field(default=None, compare=False)

    @property
    def column_names(self) -> dict[str, str]:
        """The columns with the "label" and the "qid" of the rows that were learned last, as far as known.

        "" stands for the queries of a table that was learned as one ranking.
        """
        names: dict[str, str] = {}
        for rows in (rows for step in self.history or () for rows in step.rows if rows.part in SEEN):
            if rows.label is not None:
                names |= {"label": rows.label, "qid": rows.qid or ""}
            elif rows.qid is not None:  # the labels came from another file
                names["qid"] = rows.qid
        return names

    @classmethod
    def of(cls, problem: Problem, *, method: str = "fit") -> Origin:
        """The origin of a model that this version makes of these rows."""
        n_queries = problem.queries.n_queries if problem.has_queries else None
        return cls.now(problem.X.shape[0], n_queries, method=method)

    @classmethod
    def now(cls, n_rows: int, n_queries: int | None = None, *, method: str = "fit") -> Origin:
        """The origin of a model that this version makes; without queries, the rows form one ranking."""
        history = (Step.now(method, UsedRows("training", n_rows, n_queries)),)
        return cls(rankwise.__version__, n_rows, n_queries, n_queries is not None, history)

    def updated(self, n_rows: int, n_queries: int | None) -> Origin:
        """The origin of this model once it has learned of so many rows altogether."""
        learned = None if self.n_rows is None else n_rows - self.n_rows
        history = updated(self.history, learned)
        return replace(Origin.now(n_rows, n_queries), history=history)


def documented(
    history: History | None,
    *,
    note: str | None = None,
    results: Any = None,
    data: Any = None,
    date: bool = True,
) -> History:
    """A history whose last step has a note, results and the files of its rows; see `Ranker.save`."""
    if not history and note is None and results is None and data is None:
        return ()
    *before, step = history or (Step("fit"),)
    if note is not None:
        if not isinstance(note, str) or not note.strip():
            raise ParameterError(f"The 'note' parameter must be text; got {note!r:.100}.")
        step = replace(step, notes=(*step.notes, note))
    if results is not None:
        step = replace(step, results=(*step.results, *results_of(results)))
    if data is not None:
        first, *others = step.rows or (UsedRows("training"),)
        step = replace(step, rows=(replace(first, files=files_of(data)), *others))
    if not isinstance(date, bool):
        raise ParameterError(f"The 'date' parameter must be True or False; got {date!r:.100}.")
    return (*before, step) if date else without_dates((*before, step))


def without_dates(history: History) -> History:
    """So that the same steps are the same history."""
    return tuple(replace(step, date=None) for step in history)


def files_of(data: Any) -> tuple[File, ...]:
    """The files that one path names, or several."""
    one = isinstance(data, str | os.PathLike)
    if not one and not isinstance(data, list | tuple):
        raise ParameterError(
            f"The 'data' parameter must be the path of a file, or a list of them; got {data!r:.100}."
        )
    paths = [as_path(path) for path in ([data] if one else data)]
    for path in paths:
        path.stat()  # raises
    return tuple(map(File.of, paths))


def results_of(results: Any) -> tuple[Result, ...]:
    """Results as `save` takes them: those of test rows, or a dictionary of those of several parts."""
    several = isinstance(results, Mapping) and not (results and all(map(_is_mean, results.items())))
    parts = results if several else {"test": results}
    return tuple(one for part, found in parts.items() for one in _results_of_part(part, found))


def _results_of_part(part: Any, found: Any) -> Iterable[Result]:
    if isinstance(part, str) and hasattr(found, "means") and hasattr(found, "margins"):
        counts = {one.measure.name: one.n_queries for one in found.summaries}
        for measure, mean in found.means.items():
            yield Result(part, measure, _known(mean), _known(found.margins[measure]), counts[measure])
        return
    if not isinstance(part, str) or not isinstance(found, Mapping) or not all(map(_is_mean, found.items())):
        raise ParameterError(
            "The 'results' parameter must be an Evaluation or a dictionary of numbers by measure, or a "
            f"dictionary of these by part of the data, such as 'test'; got {found!r:.100}."
        )
    for measure, mean in found.items():
        yield Result(part, measure, _known(float(mean)))


def _is_mean(item: tuple[Any, Any]) -> bool:
    measure, mean = item
    return isinstance(measure, str) and hasattr(mean, "__float__") and not isinstance(mean, str)


def _known(number: float) -> float | None:
    return number if abs(number) <= sys.float_info.max else None
