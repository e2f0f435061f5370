"""Judged rows as `fit` takes them, and what their features are called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankwise.types import AnyArray, Floats, Matrix


@dataclass(frozen=True)
class Features:
    """The names of columns, or the number of the first one in the file they were read from.

    Attributes
    ----------
    names : sequence of str or None
    numbered_from : int or None
        0 or 1, for columns that a file only numbers.
    """

    names: Sequence[str] | None = None
    numbered_from: int | None = None

    def label(self, column: int) -> str:
        """What to call a column: its name, its number in the file, or ``x0``, ``x1``, ..."""
        if self.names is not None:
            return str(self.names[column])
        return f"x{column}" if self.numbered_from is None else str(self.numbered_from + column)


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
        """The scores of a `ScoringModel`, which stay where the rows are."""

    @abstractmethod
    def evaluated(self, scores: Any, measures: Sequence[Any]) -> Any:
        """The `Evaluation` of scores; rows are not gathered."""


def features_of(X: Any) -> Features:
    """The features of a data set; an array has neither names nor numbers of its columns."""
    return Features(X.feature_names, X.numbered_from) if isinstance(X, JudgedRows) else Features()


def column_names(X: Any) -> Any:
    """The names of the columns of a frame, of any type; None if X has none."""
    names = getattr(X, "column_names", None)  # of pyarrow, where the columns are arrays
    return getattr(X, "columns", None) if names is None else names


def matrix_of(X: Any) -> Any:
    """The matrix or table of a data set; anything else unchanged."""
    return X.X if isinstance(X, JudgedRows) else X
