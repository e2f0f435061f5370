"""Explicit pairs of rows, the first preferred to the second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rankwise.errors import DataError
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import Bools, Floats, Ints


class PreferencePairs(NamedTuple):
    """Preferences between rows, as accepted by ``fit_preferences(X, load_pairs(path))``.

    Attributes
    ----------
    pairs : Ints, shape (n_pairs, 2)
        Row numbers from 0, the preferred row first.
    weight : Floats or None, shape (n_pairs,)
        None gives every pair a weight of 1.
    """

    pairs: Ints
    weight: Floats | None = None


@dataclass(frozen=True)
class Pairs:
    """Statements that row ``better[e]`` is above row ``worse[e]``, by how much, and with what weight.

    Contradictions and cycles are allowed: squared and hinge losses treat them as noise (paper C).

    Attributes
    ----------
    better, worse : Ints, shape (l,)
    magnitude : Floats, shape (l,)
        The target difference of scores.
    weight : Floats or None, shape (l,)
        None gives every pair a weight of 1.
    """

    better: Ints
    worse: Ints
    magnitude: Floats
    weight: Floats | None = None

    def __len__(self) -> int:
        return len(self.better)

    def weights(self) -> Floats:
        """Return the weight of every pair; raise an error if all are 0, as there is nothing to learn."""
        weight = self.given_weights()
        if not weight.any():
            raise DataError("There is nothing to learn: no pair has a positive weight.")
        return weight

    def given_weights(self) -> Floats:
        return np.ones(len(self)) if self.weight is None else self.weight

    def chosen(self, places: Ints | Bools) -> Pairs:
        """Return the selected pairs."""
        weight = None if self.weight is None else self.weight[places]
        return Pairs(self.better[places], self.worse[places], self.magnitude[places], weight)

    def without(self, places: Ints) -> Pairs:
        """Return all pairs except the selected ones."""
        return self.chosen(np.delete(np.arange(len(self)), places))

    def components(self, n_rows: int) -> Queries:
        """Rows that pairs connect, directly or not."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        edges = sparse.coo_array((np.ones(len(self)), (self.better, self.worse)), shape=(n_rows, n_rows))
        return group_rows(connected_components(edges, directed=False)[1], n_rows)

    def on_own_rows(self) -> tuple[Ints, Pairs]:
        """Return the rows that occur, and the pairs renumbered to refer to these rows."""
        rows, places = np.unique(np.concatenate([self.better, self.worse]), return_inverse=True)
        return rows, replace(self, better=places[: len(self)], worse=places[len(self) :])

    @property
    def target(self) -> Floats:
        """``t``: the magnitudes, scaled as `PairDifferences` scales differences."""
        return self.magnitude if self.weight is None else np.sqrt(self.weight) * self.magnitude
