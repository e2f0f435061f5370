"""Rows that combine few rows of a small matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from rankwise.types import Floats, Ints


class FactoredRows(ABC):
    """Rows of ``X = P C``, of which neither X nor the product is stored.

    Each row of P has few entries. Products with vectors go through the factors, O(entries of P) each. Rows
    themselves are computed when they are indexed, a block at a time.

    Parameters
    ----------
    factors : tuple of CSR arrays
        P and C.
    """

    ndim = 2

    def __init__(self, factors: tuple[Any, Any]) -> None:
        self.factors = factors

    @abstractmethod
    def __getitem__(self, rows: Ints | slice) -> Floats:
        """Selected rows, dense."""

    @abstractmethod
    def select(self, rows: Ints) -> Self:
        """Selected rows, which are not computed."""

    @property
    def shape(self) -> tuple[int, int]:
        points, features = self.factors
        return int(points.shape[0]), int(features.shape[1])

    @property
    def size(self) -> int:
        """The number of entries of X."""
        return self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]


def selected(X: Any, rows: Ints) -> Any:
    """Selected rows of any matrix; factored ones stay so."""
    return X.select(rows) if isinstance(X, FactoredRows) else X[rows]
