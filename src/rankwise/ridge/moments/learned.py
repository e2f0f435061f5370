"""Which queries were learned: digests of their labels and rows, and their weights.

Digests are 64-bit numbers. They tell mistakes from what was learned; they are no secret, and no protection
from someone who constructs rows with the same digest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.errors import DataError
from rankwise.preferences.digests import row_digests
from rankwise.preferences.queries import Queries
from rankwise.types import Floats, Ints, Matrix


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
    judged = np.column_stack([y, np.ones(len(y)) if weight is None else weight])
    grouped = queries.grouped(row_digests(X, judged))
    return np.add.reduceat(grouped, queries.offsets[:-1]).view(np.int64)
