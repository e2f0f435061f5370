"""Judged rows as `fit` takes them, and what their features are called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankwise.errors import DataError
from rankwise.types import AnyArray, Floats, Matrix


@dataclass(frozen=True)
class Features:
    """The columns of rows: what they are called, how many there are, and how they were scaled.

    Attributes
    ----------
    names : sequence of str or None
    numbered_from : int or None
        0 or 1, for columns that a file only numbers.
    count : int or None
        None if it is not known.
    scaled_per_query : bool or None
        Whether they were scaled within each query; None if that is not known, as for arrays.
    of_frame : bool
        Whether the names are those of a frame, which rows without names are then expected to be as well.
    """

    names: Sequence[str] | None = None
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


class JudgedRows:
    """What `fit` takes in place of X, y and qid; `rankwise.RankingData` is one."""

    X: Matrix
    y: Floats
    qid: AnyArray | None
    feature_names: tuple[str, ...] | None
    scaled_per_query: bool
    numbered_from: int | None


class JudgedParts(ABC):
    """What `fit` takes if other processes hold the rows; `rankwise.dask.DistributedData` is one.

    Attributes
    ----------
    n_rows, n_features : int
    features : Features
    has_queries, scaled_per_query : bool
    """

    n_rows: int
    n_features: int
    features: Features
    has_queries: bool
    scaled_per_query: bool

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
        return Features(X.feature_names, X.numbered_from, scaled_per_query=X.scaled_per_query)
    columns = column_names(X)
    names = [] if columns is None else list(columns)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        odd = names[texts.index(False)]
        raise DataError(f"Column names must be text; got {odd!r}, a name of type {type(odd).__name__}.")
    return Features(tuple(names), of_frame=True) if any(texts) else Features()


def column_names(X: Any) -> Any:
    """The names of the columns of a frame, of any type; None if X has none."""
    names = getattr(X, "column_names", None)  # of pyarrow, where the columns are arrays
    return getattr(X, "columns", None) if names is None else names


def matrix_of(X: Any) -> Any:
    """The matrix or table of a data set; anything else unchanged."""
    return X.X if isinstance(X, JudgedRows) else X
