"""Which queries were learned: digests of their labels and rows, and their weights.

Digests are 64-bit numbers. They tell mistakes from what was learned; they are no secret, and no protection
from someone who constructs rows with the same digest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.errors import DataError
from rankwise.preferences.queries import Queries
from rankwise.types import Floats, Ints, Matrix, is_sparse

_ROWS_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class LearnedQueries:
    """One entry per query; all arrays have the same length.

    Attributes
    ----------
    labels : Ints
        Digests of the labels; that of the rows for a ranking without one.
    contents : Ints
        Digests of the rows in any order, with their labels and weights.
    weights : Floats
        The weight with which the query counts now.
    """

    labels: Ints
    contents: Ints
    weights: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: LearnedQueries) -> LearnedQueries:
        return LearnedQueries(
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.contents, other.contents]),
            np.concatenate([self.weights, other.weights]),
        )

    def __mul__(self, factor: float) -> LearnedQueries:
        return LearnedQueries(self.labels, self.contents, factor * self.weights)

    def find(self, labels: Ints, contents: Ints) -> Ints:
        """The position of each of these queries; different ones even for queries learned twice.

        Raises
        ------
        DataError
            If one of them was never learned, or with other rows.
        """
        places: dict[tuple[int, int], list[int]] = {}
        for place in np.flatnonzero(np.isin(self.labels, labels)).tolist():
            places.setdefault((int(self.labels[place]), int(self.contents[place])), []).append(place)
        positions = []
        for at, query in enumerate(zip(labels.tolist(), contents.tolist(), strict=True)):
            if not places.get(query):
                raise NeverLearnedError(at, bool(np.isin(labels[at], self.labels)))
            positions.append(places[query].pop())
        return np.array(positions, dtype=np.int64)

    def without(self, positions: Ints) -> LearnedQueries:
        kept = np.ones(len(self), dtype=np.bool_)
        kept[positions] = False
        return LearnedQueries(self.labels[kept], self.contents[kept], self.weights[kept])


class NeverLearnedError(DataError):
    """A query to forget was never learned; `at` is its position among those to forget."""

    def __init__(self, at: int, label_is_known: bool) -> None:
        super().__init__(at, label_is_known)
        self.at = at

    def __str__(self) -> str:
        return f"The query at position {self.at} {self.reason}, so it cannot be forgotten."

    @property
    def reason(self) -> str:
        _, label_is_known = self.args
        return "was learned with other rows, labels or weights" if label_is_known else "was never learned"


def query_digests(X: Matrix, y: Floats, weight: Floats | None, queries: Queries) -> Ints:
    """The sum of the digests of the rows of each query, which does not depend on their order or storage."""
    table = np.column_stack([y, np.ones(len(y)) if weight is None else weight])
    n_features, n_others = X.shape[1], table.shape[1]
    factors = np.random.PCG64(2026).random_raw(n_features + n_others) | np.uint64(1)
    rows = _row_sums(X, factors[:n_features]) + _row_sums(table, factors[n_features:])
    grouped = queries.grouped(_mixed(rows))
    return np.add.reduceat(grouped, queries.offsets[:-1]).view(np.int64)


def _row_sums(X: Matrix, factors: Any) -> Any:
    """``Σ_j bits(x_ij) k_j`` modulo 2⁶⁴; entries that are 0 contribute nothing, stored or not."""
    if is_sparse(X):
        from scipy import sparse

        stored: Any = X
        return sparse.csr_array((_bits(X.data), stored.indices, stored.indptr), shape=X.shape) @ factors
    sums = np.empty(X.shape[0], dtype=np.uint64)
    for first in range(0, X.shape[0], _ROWS_AT_ONCE):
        place = slice(first, first + _ROWS_AT_ONCE)
        sums[place] = np.einsum("ij,j->i", _bits(X[place]), factors)
    return sums


def _bits(values: Any) -> Any:
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)  # −0.0 + 0.0 is 0.0


def _mixed(numbers: Any) -> Any:
    """The finalizer of splitmix64: sums of its results are not sums of the numbers."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
