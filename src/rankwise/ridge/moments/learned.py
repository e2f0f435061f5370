"""Which queries were learned: digests of their labels and rows, and their weights.

Digests are 64-bit numbers. They tell mistakes from what was learned; they are no secret, and no protection
from someone who constructs rows with the same digest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankwise.errors import DataError
from rankwise.preferences.digests import repeated, row_digests
from rankwise.preferences.queries import Queries
from rankwise.types import Bools, Floats, Ints, Matrix


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
    places : Ints or None
        The number by which digests know each feature, if some were added since the first query: those have
        the last numbers, wherever they are. None if the features are in order.
    """

    labels: Ints
    contents: Ints
    weights: Floats
    places: Ints | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: LearnedQueries) -> LearnedQueries:
        return replace(
            self,
            labels=np.concatenate([self.labels, other.labels]),
            contents=np.concatenate([self.contents, other.contents]),
            weights=np.concatenate([self.weights, other.weights]),
        )

    def __mul__(self, factor: float) -> LearnedQueries:
        return replace(self, weights=factor * self.weights)

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

    def holds(self, labels: Ints, contents: Ints) -> Bools:
        """Which of these queries were learned; none, unless one of them has rows that no other query has."""
        pairs = set(zip(self.labels.tolist(), self.contents.tolist(), strict=True))
        queries = zip(labels.tolist(), contents.tolist(), strict=True)
        known = np.fromiter((query in pairs for query in queries), dtype=np.bool_, count=len(labels))
        shared = np.concatenate([repeated(self.contents), repeated(contents)])
        return known & bool((known & ~np.isin(contents, shared)).any())

    def without(self, positions: Ints) -> LearnedQueries:
        kept = np.ones(len(self), dtype=np.bool_)
        kept[positions] = False
        columns = {name: getattr(self, name)[kept] for name in ("labels", "contents", "weights")}
        return replace(self, **columns)

    def with_features(self, at: Ints, n_features: int) -> LearnedQueries:
        """The same queries, whose features are now at these places among others, all of which are 0."""
        n_old = len(at)
        places = np.full(n_features, -1)
        places[at] = np.arange(n_old) if self.places is None else self.places
        # Labels and weights, which follow the first features, have two numbers.
        places[places < 0] = n_old + 2 + np.arange(n_features - n_old)
        return replace(self, places=places)


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


def query_digests(
    X: Matrix, y: Floats, weight: Floats | None, queries: Queries, places: Ints | None = None
) -> Ints:
    """The sum of the digests of the rows of each query, which does not depend on their order or storage.

    `places` are the numbers of the features, if they are not in order.
    """
    judged = np.column_stack([y, np.ones(len(y)) if weight is None else weight])
    if places is not None:
        others = np.setdiff1d(np.arange(X.shape[1] + judged.shape[1]), places)
        places = np.concatenate([places, others])
    grouped = queries.grouped(row_digests(X, judged, places=places))
    return np.add.reduceat(grouped, queries.offsets[:-1]).view(np.int64)
