"""Preference graphs: explicit pairs of rows, for methods that treat each pair individually.

Paper E learns from such a graph: the full one (every pair of rows in a query with different scores, O(h²)
edges) or the reduced one (section 4, O(h) edges).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankwise.errors import DataError
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import Queries, nothing_to_learn
from rankwise.types import Floats, Ints, Matrix, Weighting

# Chooses the row that represents a level of equal scores from the level's rows (caller's row numbers).
Representative: TypeAlias = Callable[[Ints], int]

# Better rows, worse rows, and the weights of the pairs.
Edges: TypeAlias = tuple[Ints, Ints, Floats]


class GraphKind(StrEnum):
    """Which pairs of a query are compared."""

    FULL = "full"
    REDUCED = "reduced"


# Kernel values, and sums of their squares, that differ by this share are equal but for rounding.
_ROUNDING = 1e-9

# A pair costs about 40 bytes in the graph and in the path solver together.
BYTES_PER_PAIR = 40
MAX_GRAPH_BYTES = 2 << 30


@dataclass(frozen=True)
class PreferenceGraph:
    """Pairs of rows, the first above the second.

    Attributes
    ----------
    better, worse : Ints, shape (n_pairs,)
        The caller's row numbers.
    weight : Floats, shape (n_pairs,)
        Positive weights of the pairs' losses.
    n_rows : int
    """

    better: Ints
    worse: Ints
    weight: Floats
    n_rows: int

    @property
    def n_pairs(self) -> int:
        return len(self.better)

    @cached_property
    def ends(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """`better` and `worse` as the int32 arrays that kernels and files use."""
        return self.better.astype(np.int32), self.worse.astype(np.int32)

    @property
    def level_per_alpha(self) -> float:
        """λ = 2 W alpha: paper E minimizes Σ w hinge + (λ/2)‖f‖², and we divide by the total weight W."""
        return 2.0 * float(self.weight.sum())

    def differences(self, rows: Floats) -> Floats:
        """``P v``: each pair's better row minus its worse one."""
        return np.asarray(rows[self.better] - rows[self.worse])

    def adjoint(self, pairs: Floats) -> Floats:
        """``Pᵀ a``: the signed sum over each row's pairs."""
        return collect(self.better, self.worse, pairs, self.n_rows)


def collect(better: Ints, worse: Ints, values: Floats, n_rows: int) -> Floats:
    """Add each pair's value to its better row and subtract it from its worse one."""
    return np.asarray(np.bincount(better, values, n_rows) - np.bincount(worse, values, n_rows), np.float64)


def first_row(rows: Ints) -> int:
    """The first row of a level in the caller's order."""
    return int(rows[0])


def least_alike(
    K: Floats, queries: Queries, row_weight: Floats | None = None, features: Matrix | None = None
) -> Representative:
    """Represent a level by its row least similar to the query's rows: the smallest Σ_j s_j k(i, j)².

    A score that barely moves with those of the other rows acts as a threshold for them, and a star around
    it says little more than "above" or "below". The choice does not depend on the order of the rows: of rows
    whose sums are equal up to rounding, the first by features is chosen, or by sorted kernel values if there
    are no features, and of identical rows the heaviest. O(Σ h²) for queries of h rows.
    """
    likeness, rounding = np.empty(queries.n_rows), np.empty(queries.n_rows)
    peers: dict[int, Ints] = {}
    for rows in _rows_of_each(queries):
        own = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
        likeness[rows] = np.vecdot(own if row_weight is None else own * row_weight[rows], own)
        # Of a kernel value, what is below this is rounding.
        rounding[rows] = len(rows) * (_ROUNDING * float(own.diagonal().max())) ** 2
        if features is None:
            peers.update(dict.fromkeys(rows.tolist(), rows))

    def keys(rows: Ints) -> Floats:
        if features is None:
            return np.sort(K[np.ix_(rows, peers[int(rows[0])])], axis=1)
        return np.asarray(features[rows] if isinstance(features, np.ndarray) else features[rows].toarray())

    def choose(rows: Ints) -> int:
        least = likeness[rows].min()
        alike = rows[likeness[rows] <= least * (1.0 + _ROUNDING) + rounding[rows]]
        if len(alike) == 1:
            return int(alike[0])
        lighter = np.zeros(len(alike)) if row_weight is None else -row_weight[alike]
        return int(alike[np.lexsort((lighter, *keys(alike).T[::-1]))[0]])

    return choose


def full_graph(
    queries: Queries, y: Floats, *, weighting: Weighting = Weighting.QUERY, row_weight: Floats | None = None
) -> PreferenceGraph:
    """Return every pair of rows in a query with different scores."""
    check_graph_fits(queries, y)
    return _assemble(queries, y, _full_edges, weighting, row_weight)


def check_graph_fits(queries: Queries, y: Floats) -> None:
    """Reject a full graph that is too large, before allocating it."""
    count = 0
    for levels in _levels(queries, y, None):
        sizes = np.array([len(rows) for rows in levels])
        count += int(sizes.sum() ** 2 - (sizes**2).sum()) // 2
    if count * BYTES_PER_PAIR > MAX_GRAPH_BYTES:
        raise DataError(
            f"graph='full' has {count:,} pairs, more than the {MAX_GRAPH_BYTES // BYTES_PER_PAIR:,} that fit "
            "in memory; graph='reduced' needs only about two pairs per row."
        )


def reduced_graph(
    queries: Queries,
    y: Floats,
    *,
    weighting: Weighting = Weighting.QUERY,
    row_weight: Floats | None = None,
    representative: Representative = first_row,
) -> PreferenceGraph:
    """Return a double star between every two adjacent score levels of a query (paper E, figure 3).

    One representative of the lower level is below every row of the upper level, and one of the upper level
    is above every other row of the lower: ``n_k + n_{k+1} − 1`` pairs instead of ``n_k n_{k+1}``, and none
    between levels that are not adjacent. Rows with zero weight are ignored.

    A row of weight 2 is the row twice, and only one copy represents the level: the weight of a representative
    counts up to 1 in the star around it, and the rest counts as another row of its level.
    """

    def edges(levels: list[Ints], s: Floats) -> Iterator[Edges]:
        chosen = [_choose(representative, rows) for rows in levels]
        for k in range(len(levels) - 1):
            low, high = chosen[k], chosen[k + 1]
            centre, top = min(1.0, s[low]), min(1.0, s[high])
            weight = centre * s[levels[k + 1]]
            weight[levels[k + 1] == high] += top * (s[low] - centre)
            yield levels[k + 1], np.full(len(weight), low), weight
            others = levels[k][levels[k] != low]
            yield np.full(len(others), high), others, top * s[others]

    return _assemble(queries, y, edges, weighting, row_weight)


def explicit_graph(pairs: Pairs, n_rows: int) -> PreferenceGraph:
    """Return the caller's own pairs; cycles and repeats are allowed, as noise. Magnitudes are ignored."""
    weight = pairs.weights()
    kept = weight > 0
    return PreferenceGraph(pairs.better[kept], pairs.worse[kept], weight[kept], n_rows)


def _rows_of_each(queries: Queries) -> Iterator[Ints]:
    order = np.arange(queries.n_rows) if queries.order is None else queries.order
    for q in range(queries.n_queries):
        yield order[queries.offsets[q] : queries.offsets[q + 1]]


def _levels(queries: Queries, y: Floats, row_weight: Floats | None) -> Iterator[list[Ints]]:
    """Yield the rows of each query by ascending score level, without rows of zero weight."""
    for rows in _rows_of_each(queries):
        if row_weight is not None:
            rows = rows[row_weight[rows] > 0]
        if len(rows):
            rows = rows[np.argsort(y[rows], kind="stable")]
            yield np.split(rows, np.flatnonzero(np.diff(y[rows])) + 1)


def _full_edges(levels: list[Ints], s: Floats) -> Iterator[Edges]:
    for k in range(1, len(levels)):
        lower = np.concatenate(levels[:k])
        yield (
            np.repeat(levels[k], len(lower)),
            np.tile(lower, len(levels[k])),
            np.multiply.outer(s[levels[k]], s[lower]).ravel(),
        )


def _assemble(
    queries: Queries,
    y: Floats,
    edges: Callable[[list[Ints], Floats], Iterator[Edges]],
    weighting: Weighting,
    row_weight: Floats | None,
) -> PreferenceGraph:
    """Return the edges of all queries, with weights normalized by `weighting` (see `Weighting`)."""
    better, worse, weight = [], [], []
    s = np.ones(queries.n_rows) if row_weight is None else row_weight
    for levels in _levels(queries, y, row_weight):
        parts = list(edges(levels, s))
        if not parts:
            continue
        above, below, own = (np.concatenate(column) for column in zip(*parts, strict=True))
        size = s[np.concatenate(levels)].sum()
        total = {Weighting.EXAMPLE: size, Weighting.PAIR: 1.0, Weighting.QUERY: own.sum()}[weighting]
        better.append(above)
        worse.append(below)
        weight.append(own / total)
    if not better:
        raise nothing_to_learn(queries)
    return PreferenceGraph(
        np.concatenate(better), np.concatenate(worse), np.concatenate(weight), queries.n_rows
    )


def _choose(representative: Representative, rows: Ints) -> int:
    row = representative(rows)
    if not isinstance(row, (int, np.integer)) or row not in rows:
        raise DataError(
            f"representative returned {row!r}, which is not among the rows of the level, {rows.tolist()}."
        )
    return int(row)
