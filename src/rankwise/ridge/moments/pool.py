"""What open queries contribute to the sums of all queries, and the weights on which that depends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwise.preferences.differences import query_weights
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.types import AnyArray, Floats, Ints, Ties, Weighting

# The level of all rows, where ties are kept; otherwise, rows of a level have the same label.
ONE_LEVEL = 0.0


def places(keys: AnyArray, wanted: AnyArray) -> Ints:
    """Where each of the wanted keys is among the keys, which are distinct; −1 if it is not."""
    if len(keys) == 0:
        return np.full(len(wanted), -1)
    order = np.argsort(keys)
    found = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    return np.where(keys[found] == wanted, found, -1)


def level_keys(query: Ints, level: Floats) -> AnyArray:
    """Pairs of query and level as numbers that sort like pairs: NumPy compares real parts first."""
    keys = np.empty(len(query), dtype=np.complex128)
    keys.real, keys.imag = query, level
    return keys


@dataclass(frozen=True, eq=False)
class LevelWeights:
    """The sum of the row weights of each level of some queries; one entry per level.

    Attributes
    ----------
    query : Ints
        The position of the query.
    level : Floats
    weight : Floats
    """

    query: Ints
    level: Floats
    weight: Floats

    @classmethod
    def none(cls) -> LevelWeights:
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    def totals(self, n_queries: int) -> Floats:
        return np.bincount(self.query, self.weight, n_queries).astype(np.float64)  # integers if it is empty

    def at(self, query: Ints, level: Floats) -> Floats:
        """The weights of these levels; 0 for those without an entry."""
        place = places(level_keys(self.query, self.level), level_keys(query, level))
        return np.where(place >= 0, np.append(self.weight, 0.0)[place], 0.0)

    def of_queries(self, position: Ints) -> LevelWeights:
        """The entries of queries with a position of at least 0, which they have from now on."""
        kept = position[self.query] >= 0
        return LevelWeights(position[self.query[kept]], self.level[kept], self.weight[kept])

    def __add__(self, other: LevelWeights) -> LevelWeights:
        """The entries of both, which are of different queries."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("query", "level", "weight"))
        return LevelWeights(*map(np.concatenate, pairs))


@dataclass(eq=False)
class Pool:
    """What open queries contribute to the sums of all queries."""

    ties: Ties
    weighting: Weighting
    shape: tuple[int, ...]
    tables: list[Floats] = field(default_factory=list)
    scatters: list[Quadratic] = field(default_factory=list)
    depth: int = 1

    @property
    def needs_sizes(self) -> bool:
        """Whether scatter can be summed before a query is complete only if its sizes were told."""
        return self.ties is Ties.DROP or self.weighting is not Weighting.EXAMPLE

    def pair_weights(self, weights: LevelWeights, labels: AnyArray) -> Floats:
        """c of each query, for the weights of all its levels."""
        total = weights.totals(len(labels))
        pairs = total * (total - 1.0) / 2.0
        if self.ties is Ties.DROP:
            others = total[weights.query] - weights.weight
            pairs = np.bincount(weights.query, weights.weight * others, len(labels)) / 2.0
        return query_weights(self.weighting, total, pairs, labels)

    def factors(self, query: Ints, level: Floats, weights: LevelWeights, labels: AnyArray) -> Floats:
        """What the scatter of each level is multiplied by; weights that do not matter may be unknown."""
        if not self.needs_sizes:
            return np.ones(len(query))
        others = weights.totals(len(labels))[query]
        if self.ties is Ties.DROP:
            others = others - weights.at(query, level)
        return np.asarray(self.pair_weights(weights, labels)[query] * others)

    def add(self, table: Floats, factor: Floats, depth: Ints) -> None:
        """Add ``Σ factor zzᵀ`` over the rows z of a table, each the result of a sum of `depth` terms."""
        if len(table):
            self.tables.append(np.sqrt(factor)[:, None] * table)
            self.depth = max(self.depth, int(depth.max()))

    def add_scatters(self, scatters: AnyArray, factors: Floats) -> None:
        """Add those that are not None."""
        pairs: Any = zip(scatters, factors.tolist(), strict=True)
        self.scatters.extend(scatter * factor for scatter, factor in pairs if scatter is not None)

    def total(self) -> Quadratic:
        width = self.shape[0] + int(np.prod(self.shape[1:], dtype=np.int64))
        table = np.concatenate([np.zeros((0, width)), *self.tables])
        total = Quadratic.of_rows(table, self.shape, self.depth)
        for scatter in self.scatters:
            total = total + scatter
        return total
