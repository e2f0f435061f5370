"""Features, the one place where they are matched, and judged rows as `fit` takes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from rankwise.errors import DataError
from rankwise.types import AnyArray, Floats, Matrix


@dataclass(frozen=True)
class Features:
    """The columns of rows: what they are called, how many there are, and how they were scaled.

    Attributes
    ----------
    names : tuple of str or None
    numbered_from : int or None
        0 or 1, for columns that a file only numbers.
    count : int or None
        None if it is not known.
    scaled_per_query : bool or None
        Whether they were scaled within each query; None if that is not known, as for arrays.
    of_frame : bool
        Whether the names are those of a frame, which rows without names are then expected to be as well.
    """

    names: tuple[str, ...] | None = None
    numbered_from: int | None = None
    count: int | None = None
    scaled_per_query: bool | None = None
    of_frame: bool = False

    def label(self, column: int) -> str:
        """What to call a column: its name, its number in the file, or ``x0``, ``x1``, ..."""
        if self.names is not None:
            return str(self.names[column])
        return f"x{column}" if self.numbered_from is None else str(self.numbered_from + column)

    @property
    def labels(self) -> list[str]:
        """What to call each column."""
        assert self.count is not None
        return [self.label(column) for column in range(self.count)]

    def check(self, other: Features, ours: str = "the model", theirs: str = "the data") -> None:
        """Raise an error unless others are the same, as far as both are known."""
        difference = self.difference(other, ours, theirs)
        if difference is not None:
            raise DataError(f"The features differ: {difference}.")

    def difference(self, other: Features, ours: str, theirs: str) -> str | None:
        """How others differ from these, as far as both are known; None if they do not.

        `ours` and `theirs` are what to call those who have them.
        """
        if self.names is not None and other.names is not None and self.names != other.names:
            for has, names, lacks, others in (
                (ours, self.names, theirs, set(other.names)),
                (theirs, other.names, ours, set(self.names)),
            ):
                only = next((name for name in names if name not in others), None)
                if only is not None:
                    return f"{lacks} has no {only!r}, but {has} has"
            return f"{theirs} has them in another order"
        if _differ(self.count, other.count):
            return f"{ours} has {self.count} and {theirs} has {other.count}"
        if _differ(self.numbered_from, other.numbered_from):
            numbers = f"{ours} numbers them from {self.numbered_from}, {theirs} from {other.numbered_from}"
            return f"{numbers}; load the files together, or set zero_based"
        if _differ(self.scaled_per_query, other.scaled_per_query):
            scaled, raw = (ours, theirs) if self.scaled_per_query else (theirs, ours)
            return f"those of {scaled} were scaled within each query, those of {raw} were not"
        return None


def _differ(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one != other


#: Columns of which nothing is known.
UNNAMED = Features()


class JudgedRows:
    """What `fit` takes in place of X, y, qid and sample_weight; `rankwise.RankingData` is one."""

    X: Matrix
    y: Floats
    qid: AnyArray | None
    sample_weight: Floats | None
    features: Features


class JudgedParts(ABC):
    """What `fit` takes if other processes hold the rows; `rankwise.dask.DistributedData` is one.

    Attributes
    ----------
    n_rows, n_features : int
    features : Features
    has_queries : bool
    """

    n_rows: int
    n_features: int
    features: Features
    has_queries: bool

    @abstractmethod
    def problem(self) -> Any:
        """The rows to learn from, for which losses and spaces have functions of their own."""

    @abstractmethod
    def preferences(self, pairs: Any) -> tuple[Any, Any]:
        """The rows and explicit pairs of them to learn from, with functions of their own as well."""

    @abstractmethod
    def scored_by(self, model: Any) -> Any:
        """The scores of a `Model`, which stay where the rows are."""

    @abstractmethod
    def evaluated(self, scores: Any, measures: Sequence[Any]) -> Any:
        """The `Evaluation` of scores; rows are not gathered."""


def features_of(X: Any) -> Features:
    """The features of a data set or a frame; an array has neither names nor numbers of its columns."""
    if isinstance(X, JudgedRows):
        return X.features
    columns = column_names(X)
    if columns is None:
        return UNNAMED
    names = _listed(columns)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        odd = names[texts.index(False)]
        raise DataError(f"Column names must be text; got {odd!r}, a name of type {type(odd).__name__}.")
    return Features(tuple(names), of_frame=True) if any(texts) else UNNAMED


def _listed(columns: Any) -> list[Any]:
    """The names as a list; an index of pandas makes it ten times faster than a loop over it."""
    return list(columns.tolist() if hasattr(columns, "tolist") else columns)


def column_names(X: Any) -> Any:
    """The names of the columns of a frame, of any type; None if X has none."""
    names = getattr(X, "column_names", None)  # of pyarrow, where the columns are arrays
    return getattr(X, "columns", None) if names is None else names


def named_columns(X: Any) -> tuple[str, ...] | None:
    """The names of the columns of a frame, if all of them are text."""
    columns = column_names(X)
    names = None if columns is None else tuple(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def checked_names(names: Any, n_features: int) -> tuple[str, ...]:
    """Names given for features: a list of distinct ones, one per column."""
    if isinstance(names, str | Set) or not isinstance(names, Iterable):
        raise DataError(f"feature_names must be a list of names, one per column of X; got {names!r:.100}.")
    listed = tuple(names)
    if len(listed) != n_features:
        raise DataError(f"feature_names must have one name per column of X: {n_features}; got {len(listed)}.")
    seen: set[str] = set()
    for name in listed:
        if not isinstance(name, str):
            raise DataError(f"feature_names must contain strings; got {name!r}.")
        if name in seen:
            raise DataError(f"feature_names must be unique; {name!r} appears more than once.")
        seen.add(name)
    return listed


def matrix_of(X: Any) -> Any:
    """The matrix or table of a data set; anything else unchanged."""
    return X.X if isinstance(X, JudgedRows) else X


def refuse_parts(X: Any) -> None:
    """Reject rows that other processes hold."""
    if isinstance(X, JudgedParts):
        raise DataError(f"This method needs all rows in this process; got {type(X).__name__}.")
