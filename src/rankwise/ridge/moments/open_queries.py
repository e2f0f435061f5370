"""Queries of which more rows may follow.

All pairs of a query with row weights s (sum S), query weight c and levels l of equal label (sum S_l, mean
x̄_l, scatter ``M_l = Σ sᵢ (xᵢ − x̄_l)(xᵢ − x̄_l)ᵀ``) contribute

- ties kept:    ``c S M``, with one level of all rows;
- ties dropped: ``Σ_l c (S − S_l) M_l + c S Σ_l S_l (x̄_l − x̄)(x̄_l − x̄)ᵀ``.

Two parts of a level merge as in Chan's update: means are averaged, scatters are added, together with
``S₁S₂/(S₁ + S₂) δδᵀ`` for the difference δ of the means. If the factor of a scatter is known before the
query is complete, because it is 1 or because the sizes were told, the scatter is summed with those of other
queries; otherwise the open query carries it. Features and labels form one vector here.

There may be many queries with few rows, so both queries and their levels are tables of numbers.

Chan, Golub and LeVeque, "Algorithms for computing the sample variance" (1983).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from rankwise.errors import DataError
from rankwise.ridge.moments.pool import LevelWeights, Pool, level_keys, places
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.types import AnyArray, Bools, Floats, Ints, Ties

# Sums of weights in another order differ by rounding.
_SAME_WEIGHT = 1e-9


@dataclass(frozen=True, eq=False)
class OpenLevels:
    """The rows seen so far of each level of some queries; one entry per level, those of a query adjacent.

    Attributes
    ----------
    query : Ints
        The position of the query; ascending.
    level : Floats
        Their label or, where ties are kept, `ONE_LEVEL`.
    count : Ints
    weight : Floats
        The sum of the row weights.
    origin, shift : Floats, shape (n_groups, n + k)
        The mean, as a row and the mean difference from it: far from zero, a rounded mean would lose the
        digits of differences between means.
    scatter : array of Quadratic or None
        Their scatter; None where it is summed with that of other queries.
    """

    query: Ints
    level: Floats
    count: Ints
    weight: Floats
    origin: Floats
    shift: Floats
    scatter: AnyArray

    @property
    def keys(self) -> AnyArray:
        return level_keys(self.query, self.level)

    @property
    def starts(self) -> Ints:
        """The first group of each query."""
        return np.flatnonzero(np.diff(self.query, prepend=-1))

    @property
    def weights(self) -> LevelWeights:
        return LevelWeights(self.query, self.level, self.weight)

    @property
    def is_pooled(self) -> Bools:
        return np.array([scatter is None for scatter in self.scatter.tolist()], dtype=np.bool_)

    def of_queries(self, position: Ints) -> OpenLevels:
        """The groups of queries with a position of at least 0, which they have from now on."""
        moved = position[self.query]
        return replace(self, query=moved).chosen(np.flatnonzero(moved >= 0))

    def chosen(self, rows: Ints) -> OpenLevels:
        return OpenLevels(*(getattr(self, column.name)[rows] for column in fields(self)))

    def merged(self, other: OpenLevels, pool: Pool, factors: Floats) -> OpenLevels:
        """The rows of both.

        With z as below, ``zzᵀ`` is what the scatter of all rows of a level has besides those of the two
        parts. Times its factor, it goes into the pool, unless the group carries its scatter.
        """
        place = places(self.keys, other.keys)
        theirs, mine = np.flatnonzero(place >= 0), place[place >= 0]
        weight = self.weight[mine] + other.weight[theirs]
        delta = (other.origin[theirs] - self.origin[mine]) + (other.shift[theirs] - self.shift[mine])
        share = np.divide(other.weight[theirs], weight, out=np.zeros(len(mine)), where=weight > 0.0)
        z = np.sqrt(self.weight[mine] * share)[:, None] * delta
        count = self.count[mine] + other.count[theirs]
        pooled = self.is_pooled[mine]
        pool.add(z[pooled], factors[theirs[pooled]], count[pooled])
        ours = OpenLevels(*(getattr(self, column.name).copy() for column in fields(self)))
        ours.count[mine], ours.weight[mine] = count, weight
        ours.shift[mine] += share[:, None] * delta
        for at in np.flatnonzero(~pooled).tolist():
            between = Quadratic.of_rows(z[at : at + 1], pool.shape, int(count[at]))
            ours.scatter[mine[at]] = ours.scatter[mine[at]] + other.scatter[theirs[at]] + between
        return ours.joined(other.chosen(np.flatnonzero(place < 0)))

    def joined(self, other: OpenLevels) -> OpenLevels:
        """The groups of both, which are different levels."""
        if len(other.query) == 0:
            return self
        pairs = ((getattr(self, column.name), getattr(other, column.name)) for column in fields(self))
        both = OpenLevels(*map(np.concatenate, pairs))
        return both.chosen(np.argsort(both.query, kind="stable"))


@dataclass(frozen=True, eq=False)
class OpenQueries:
    """Queries of which more rows may follow.

    Attributes
    ----------
    digests : Ints
        Of the labels.
    labels : array of str
    contents : array of uint64
        The digests of the rows seen so far.
    weights : Floats
        The weights of the queries.
    groups : OpenLevels
        Every query has one.
    told : LevelWeights
        The weights that complete queries will have, of those whose sizes were told.
    """

    digests: Ints
    labels: AnyArray
    contents: AnyArray
    weights: Floats
    groups: OpenLevels
    told: LevelWeights

    @classmethod
    def none(cls) -> OpenQueries:
        integers, numbers, objects = (np.zeros(0, dtype=kind) for kind in (np.int64, np.float64, object))
        rows = np.zeros((0, 0))
        groups = OpenLevels(integers, numbers, integers, numbers, rows, rows, objects)
        return cls(integers, objects, integers.view(np.uint64), numbers, groups, LevelWeights.none())

    def __len__(self) -> int:
        return len(self.digests)

    @property
    def is_told(self) -> Bools:
        told = np.zeros(len(self), dtype=np.bool_)
        told[self.told.query] = True
        return told

    def names(self, chosen: Any = slice(None)) -> str:
        """The labels of some queries, for a message."""
        labels = self.labels[chosen].tolist()
        return ", ".join(labels[:3]) + (", ..." if len(labels) > 3 else "")

    def chosen(self, kept: Bools) -> OpenQueries:
        position = np.where(kept, np.cumsum(kept) - 1, -1)
        return OpenQueries(
            self.digests[kept],
            self.labels[kept],
            self.contents[kept],
            self.weights[kept],
            self.groups.of_queries(position),
            self.told.of_queries(position),
        )

    def __mul__(self, factor: float) -> OpenQueries:
        return replace(self, weights=factor * self.weights)

    def merged(self, other: OpenQueries, pool: Pool) -> OpenQueries:
        """All rows of both; scatter with known factors goes into the pool."""
        if len(self) == 0 or len(other) == 0:
            return self if len(other) == 0 else other
        place = places(self.digests, other.digests)
        is_new = place < 0
        position = np.where(is_new, len(self) + np.cumsum(is_new) - 1, place)
        self._check_same(place[~is_new], other, ~is_new)
        told = self.told + other.told.of_queries(np.where(is_new, position, -1))
        labels = np.concatenate([self.labels, other.labels[is_new]])
        weights = np.concatenate([self.weights, other.weights[is_new]])
        contents = np.concatenate([self.contents, other.contents[is_new]])
        contents[place[~is_new]] += other.contents[~is_new]
        theirs = replace(other.groups, query=position[other.groups.query])
        factors = weights[theirs.query] * pool.factors(theirs.query, theirs.level, told, labels)
        return OpenQueries(
            np.concatenate([self.digests, other.digests[is_new]]),
            labels,
            contents,
            weights,
            self.groups.merged(theirs, pool, factors),
            told,
        )

    def _check_same(self, mine: Ints, other: OpenQueries, theirs: Bools) -> None:
        """Reject parts of the same queries that contradict each other."""
        ours, others = self.weights[mine], other.weights[theirs]
        for at in np.flatnonzero(ours != others)[:1].tolist():
            raise DataError(
                f"Query {self.labels[mine[at]]} has the weight {ours[at]:g} in one part and {others[at]:g} "
                f"in another."
            )
        for at in np.flatnonzero(self.is_told[mine] != other.is_told[theirs])[:1].tolist():
            raise DataError(
                f"The size of query {self.labels[mine[at]]} was given for one part, but not for another."
            )

    def close(self, pool: Pool) -> int:
        """Put everything into the pool, and return the number of pairs; the queries must be complete."""
        self._check_are_complete()
        groups, weights = self.groups, self.groups.weights
        factors = np.ones(len(groups.query))
        if not groups.is_pooled.all():
            factors = pool.factors(groups.query, groups.level, weights, self.labels)
        pool.add_scatters(groups.scatter, self.weights[groups.query] * factors)
        n_rows = np.add.reduceat(groups.count, groups.starts)
        if pool.ties is Ties.KEEP:
            return int((n_rows * (n_rows - 1) // 2).sum())
        total = weights.totals(len(self))
        first = groups.starts[groups.query]
        means = (groups.origin - groups.origin[first]) + groups.shift
        sums = np.add.reduceat(groups.weight[:, None] * means, groups.starts)
        centres = np.where(total > 0.0, sums.T / np.where(total > 0.0, total, 1.0), means[groups.starts].T).T
        scale = (self.weights * pool.pair_weights(weights, self.labels) * total)[groups.query] * groups.weight
        pool.add(means - centres[groups.query], scale, n_rows)
        return int((n_rows**2 - np.add.reduceat(groups.count**2, groups.starts)).sum() // 2)

    def _check_are_complete(self) -> None:
        was_told, told, groups = self.is_told, self.told, self.groups
        said = np.concatenate([told.weight, told.at(groups.query, groups.level)])
        found = np.concatenate([groups.weights.at(told.query, told.level), groups.weight])
        query = np.concatenate([told.query, groups.query])
        off = was_told[query] & (np.abs(found - said) > _SAME_WEIGHT * np.maximum(said, found))
        for at in np.flatnonzero(off)[:1].tolist():
            raise DataError(
                f"Query {self.labels[query[at]]} is not complete: its rows should weigh {said[at]:g} "
                f"in total, but those added so far weigh {found[at]:g}."
            )
