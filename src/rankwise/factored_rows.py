"""Rows that combine few rows of a small matrix."""

from __future__ import annotations

from typing import Any, Protocol

from rankwise.types import Floats, Ints


class ComputedRows(Protocol):
    """Rows that are computed when they are indexed."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def __getitem__(self, rows: Ints | slice) -> Floats: ...


class FactoredRows:
    """Rows of ``X = P C``, of which neither X nor the product is stored.

    Each row of P has few entries. Products with vectors go through the factors, O(entries of P) each. Rows
    themselves are computed when they are indexed, a block at a time.

    Parameters
    ----------
    factors : tuple of CSR arrays
        P and C.
    computed : ComputedRows
        Rows of X, among others.
    places : Ints, optional
        Which of these are the rows of X; all of them by default.
    """

    ndim = 2

    def __init__(self, factors: tuple[Any, Any], computed: ComputedRows, places: Ints | None = None) -> None:
        self.factors, self._computed, self._places = factors, computed, places

    def __getitem__(self, rows: Ints | slice) -> Floats:
        """Selected rows, dense."""
        return self._computed[rows if self._places is None else self._places[rows]]

    def select(self, rows: Ints) -> FactoredRows:
        """Selected rows, which are not computed."""
        points, features = self.factors
        places = rows if self._places is None else self._places[rows]
        return FactoredRows((points[rows], features), self._computed, places)

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
