"""Rows that combine few rows of a small matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from rankwise.operators.blocks import MeasuredRows, block_rows, pieces
from rankwise.types import Floats, Ints


class FactoredRows(ABC):
    """Rows of ``X = P C``, of which neither X nor the product is stored.

    Each row of P has few entries. Products with vectors go through the factors, O(entries of P) each. Rows
    themselves are computed when they are indexed, a block at a time.
    """

    ndim = 2

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]: ...

    @property
    @abstractmethod
    def factors(self) -> tuple[Any, Any]:
        """P and C, both CSR."""

    @abstractmethod
    def __getitem__(self, rows: Ints | slice) -> Floats:
        """Selected rows, dense."""

    def __len__(self) -> int:
        return self.shape[0]

    def column_ranges(self, reference: Ints) -> tuple[Floats, Floats]:
        """The largest absolute value of each column in the reference rows, and less them."""
        origins, measured = np.unique(reference), MeasuredRows(self, reference)
        offset, spread = np.zeros((2, self.shape[1]))
        for place in pieces(0, len(origins), block_rows(self)):
            np.maximum(offset, np.abs(self[origins[place]]).max(axis=0), out=offset)
        for place in pieces(0, len(self), block_rows(self)):
            np.maximum(spread, np.abs(measured[place]).max(axis=0), out=spread)
        return offset, spread

    @property
    def size(self) -> int:
        """The number of entries of X."""
        return self.shape[0] * self.shape[1]
