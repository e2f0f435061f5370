"""Queries of which more rows may follow.

All pairs of a query with row weights s (sum S), query weight c and levels l of equal label (sum S_l, mean
x̄_l, scatter ``M_l = Σ sᵢ (xᵢ − x̄_l)(xᵢ − x̄_l)ᵀ``) contribute

- ties kept:    ``c S M``, with one level of all rows;
- ties dropped: ``Σ_l c (S − S_l) M_l + c S Σ_l S_l (x̄_l − x̄)(x̄_l − x̄)ᵀ``.

Two parts of a level merge as in Chan's update: means are averaged, scatters are added, together with
``S₁S₂/(S₁ + S₂) δδᵀ`` for the difference δ of the means. If the factor of a scatter is known before the
query is complete, because it is 1 or because the sizes were told, the scatter is summed with those of other
queries; otherwise the open query carries it. Features and labels form one vector here.

Chan, Golub and LeVeque, "Algorithms for computing the sample variance" (1983).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from rankwise.errors import DataError
from rankwise.preferences.differences import query_weights
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.types import Floats, Ties, Weighting

# A label or, where ties are kept and all rows form one level, 0.
Level: TypeAlias = float
ONE_LEVEL: Level = 0.0
# Sums of weights in another order differ by rounding.
_SAME_WEIGHT = 1e-9


@dataclass(frozen=True, eq=False)
class Group:
    """The rows of a level seen so far.

    Attributes
    ----------
    count : int
    weight : float
        The sum of the row weights.
    origin, shift : Floats, shape (n + k,)
        The mean, as a row and the mean difference from it: far from zero, a rounded mean would lose the
        digits of differences between means.
    scatter : Quadratic or None
        Their scatter; None if it is summed with that of other queries.
    """

    count: int
    weight: float
    origin: Floats
    shift: Floats
    scatter: Quadratic | None = None

    def merged(self, other: Group) -> tuple[Group, Floats]:
        """The rows of both, and z, where ``zzᵀ`` is what the scatter of all has besides theirs."""
        weight = self.weight + other.weight
        delta = (other.origin - self.origin) + (other.shift - self.shift)
        share = other.weight / weight if weight > 0.0 else 0.0
        z = np.sqrt(self.weight * share) * delta
        count, scatter = self.count + other.count, None
        if self.scatter is not None and other.scatter is not None:
            between = Quadratic.of_rows([z], self.scatter.shape, count)
            scatter = self.scatter + other.scatter + between
        return Group(count, weight, self.origin, self.shift + share * delta, scatter), z


@dataclass(frozen=True, eq=False)
class OpenQuery:
    """A query of which more rows may follow.

    Attributes
    ----------
    label : str
    content : int
        The digest of the rows seen so far.
    weight : float
        The weight of the query.
    groups : dict of Level to Group
    told : dict of Level to float, or None
        The sums of weights that the complete query will have, if they were told.
    """

    label: str
    content: int
    weight: float
    groups: Mapping[Level, Group]
    told: Mapping[Level, float] | None = None

    def merged(self, other: OpenQuery, pooled: Pool) -> OpenQuery:
        """Rows of another part added; scatter with known factors goes into the pool."""
        if self.weight != other.weight:
            raise DataError(
                f"Query {self.label} has the weight {self.weight:g} in one part and {other.weight:g} in "
                f"another."
            )
        if (self.told is None) != (other.told is None):
            raise DataError(f"The sizes of query {self.label} were told for one part, but not for another.")
        groups = dict(self.groups)
        for level, group in other.groups.items():
            if level in groups:
                groups[level], z = groups[level].merged(group)
                if groups[level].scatter is None:
                    pooled.add(
                        z, self.weight * pooled.factor(level, self.told, self.label), groups[level].count
                    )
            else:
                groups[level] = group
        content = (self.content + other.content) % 2**64
        return replace(self, content=content, groups=groups)

    def close(self, pooled: Pool) -> int:
        """Put everything into the pool, and return the number of pairs; the query must be complete."""
        self._check_is_complete()
        groups = list(self.groups.values())
        weights = {level: group.weight for level, group in self.groups.items()}
        for level, group in self.groups.items():
            if group.scatter is not None:
                pooled.add_scatter(group.scatter, self.weight * pooled.factor(level, weights, self.label))
        n_rows = sum(group.count for group in groups)
        if pooled.ties is Ties.KEEP:
            return n_rows * (n_rows - 1) // 2
        total = sum(weights.values())
        means = np.stack([(group.origin - groups[0].origin) + group.shift for group in groups])
        shares = np.array(list(weights.values()))
        centre = shares @ means / total if total > 0.0 else means[0]
        for share, mean in zip(shares.tolist(), means, strict=True):
            scale = self.weight * pooled.pair_weight(weights, self.label) * total * share
            pooled.add(mean - centre, scale, n_rows)
        return (n_rows**2 - sum(group.count**2 for group in groups)) // 2

    def _check_is_complete(self) -> None:
        if self.told is None:
            return
        for level in self.told.keys() | self.groups.keys():
            told = self.told.get(level, 0.0)
            found = self.groups[level].weight if level in self.groups else 0.0
            if abs(found - told) > _SAME_WEIGHT * max(told, found):
                raise DataError(
                    f"Query {self.label} is not complete: its rows were said to weigh {told:g} in total, "
                    f"but those that came weigh {found:g}."
                )


@dataclass(eq=False)
class Pool:
    """What open queries contribute to the sums of all queries."""

    ties: Ties
    weighting: Weighting
    shape: tuple[int, ...]
    rows: list[Floats] = field(default_factory=list)
    scatters: list[Quadratic] = field(default_factory=list)
    depth: int = 1

    def knows_factors(self, told: Mapping[Level, float] | None) -> bool:
        """Whether scatter can be summed before a query is complete."""
        return told is not None or (self.ties is Ties.KEEP and self.weighting is Weighting.EXAMPLE)

    def pair_weight(self, weights: Mapping[Level, float], label: str) -> float:
        """c, for the sums of weights of all levels of a query."""
        total = sum(weights.values())
        pairs = total * (total - 1.0) / 2.0
        if self.ties is Ties.DROP:
            pairs = sum(weight * (total - weight) for weight in weights.values()) / 2.0
        sums, counts, labels = np.array([total]), np.array([pairs]), np.array([label])
        return float(query_weights(self.weighting, sums, counts, labels)[0])

    def factor(self, level: Level, weights: Mapping[Level, float] | None, label: str) -> float:
        """What the scatter of a level is multiplied by; weights may be unknown if they do not matter."""
        if self.ties is Ties.KEEP and self.weighting is Weighting.EXAMPLE:
            return 1.0
        assert weights is not None
        total = sum(weights.values())
        others = total - weights.get(level, 0.0) if self.ties is Ties.DROP else total
        return self.pair_weight(weights, label) * others

    def add(self, z: Floats, factor: float, depth: int) -> None:
        self.rows.append(np.sqrt(factor) * z)
        self.depth = max(self.depth, depth)

    def add_scatter(self, scatter: Quadratic, factor: float) -> None:
        self.scatters.append(scatter * factor)

    def total(self) -> Quadratic:
        total = Quadratic.of_rows(self.rows, self.shape, self.depth)
        for scatter in self.scatters:
            total = total + scatter
        return total


def merge_open(
    ours: Mapping[int, OpenQuery], theirs: Mapping[int, OpenQuery], pooled: Pool
) -> dict[int, OpenQuery]:
    """The open queries of two parts, by the digests of their labels."""
    merged = dict(ours)
    for digest, query in theirs.items():
        merged[digest] = merged[digest].merged(query, pooled) if digest in merged else query
    return merged


def names_of(queries: Iterable[OpenQuery]) -> str:
    """The labels of some queries, for a message."""
    labels = [query.label for query in queries]
    return ", ".join(labels[:3]) + (", ..." if len(labels) > 3 else "")
