"""What the columns of a matrix are called, remembered for the matrices of data sets.

An array has no column names. A data set registers its matrix here, by identity, so that
``fit(data.X, data.y, data.qid)`` finds them; a copy or a slice of the matrix is an array without names.
"""

from __future__ import annotations

import weakref
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
    scaled_per_query: bool


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


_remembered: dict[int, tuple[weakref.ref[Any], Features]] = {}


def remember_features(X: Matrix, features: Features) -> None:
    """Remember the features of a matrix for as long as it exists."""
    if features != Features():
        key = id(X)
        _remembered[key] = weakref.ref(X, lambda _: _remembered.pop(key, None)), features


def features_of(X: Any) -> Features:
    """The features of a matrix; without names or numbers if it is not the matrix of a data set."""
    matrix, features = _remembered.get(id(X), (None, Features()))
    return features if matrix is not None and matrix() is X else Features()
