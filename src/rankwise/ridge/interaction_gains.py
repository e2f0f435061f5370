"""How much products of two functions lower the squared error on queries that they are not fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankwise.preferences.queries import Queries
from rankwise.threads import one_blas_thread
from rankwise.types import Bools, Floats, Ints

# The penalty on the weight of a product, per unit of weight of all rows.
PENALTY = 0.02
# Sums of so many products are at hand at a time, which fit in the cache.
AT_A_TIME = 1 << 17

# The sums of each query are computed for functions of one layer with those of a later one.
Block: TypeAlias = tuple[slice, slice]


@dataclass(frozen=True)
class Gains:
    """What products of functions of two columns explain of residuals.

    Attributes
    ----------
    gain : Floats, shape (n_columns, n_columns)
        By how much a single product lowers the squared error on left-out queries, added up over the products
        of the two columns. Products that are alike count more than once: it is a score, not a forecast.
    z : Floats, shape (n_columns, n_columns)
        The gain in units of its standard error over queries.
    """

    gain: Floats
    z: Floats


# The products of a query are short: with two threads of a busy machine, they took ten times as long.
@one_blas_thread()
def interaction_gains(
    functions: Floats, starts: Ints, residuals: Floats, queries: Queries, weight: Floats
) -> Gains:
    """Score the interaction of every column with every other.

    For fixed residuals r, the weight of one product p that is fitted to all queries but q is
    ``β = (b − b_q) / (a − a_q + α₀)``, where ``b_q = pᵀ L_q r`` and ``a_q = pᵀ L_q p`` are sums over the rows
    of q, and b and a over all rows; it lowers the squared error on q by ``β (2 b_q − β a_q)``. The pairs of
    a query weigh ``1 / h`` for h rows, so that ``L_q = I − 11ᵀ / h``. O(m N²) for N functions, in products
    of matrices.

    Parameters
    ----------
    functions : Floats, shape (m, N)
        Functions of columns, at the rows.
    starts : Ints, shape (n_columns,)
        The first function of each column.
    residuals : Floats, shape (m,)
        What models that have not seen the row's query miss of its label.
    queries : Queries
    weight : Floats, shape (m,)
        A weight of 2 is equivalent to repeating the row.
    """
    layers = _Layers.of(starts, functions.shape[1])
    batches = list(_batches(queries, weight, len(layers.functions)))
    rows = _Rows(functions[:, layers.functions], residuals, weight)
    b, a = _totals(rows, batches)
    a += PENALTY * weight.sum()
    n_columns, n_queries = len(starts), sum(len(batch) for batch in batches)
    gain, squared = np.zeros((n_columns, n_columns)), np.zeros((n_columns, n_columns))
    for batch in batches:
        of_batch = rows.take(batch)
        of_pairs = np.zeros((len(batch), n_columns, n_columns))
        for first, second in layers.blocks():
            b_q, a_q = of_batch.sums(first, second)
            beta = b[first, second] - b_q
            beta /= a[first, second] - a_q
            a_q *= beta
            b_q *= 2.0
            b_q -= a_q
            b_q *= beta
            layers.add(of_pairs, b_q, first, second)
        gain += of_pairs.sum(axis=0)
        squared += np.einsum("qij,qij->ij", of_pairs, of_pairs)
    spread = squared - gain**2 / max(1, n_queries)
    error = np.sqrt(np.maximum(spread, 0.0) * n_queries / max(1, n_queries - 1))
    z = np.divide(gain, error, out=np.zeros_like(gain), where=error > 0.0)
    return Gains(*(of_columns[np.ix_(layers.places, layers.places)] for of_columns in (gain, z)))


@dataclass(frozen=True)
class _Layers:
    """The functions in another order: the first of every column, then the second ones, and so on.

    Columns with more functions come first, so those of a layer are the first columns, and what products of
    two layers gain is added to that of pairs of columns without a sum over short runs.

    Attributes
    ----------
    functions : Ints, shape (N,)
    offsets : list of int
        Where layers start, and the end of the last.
    places : Ints, shape (n_columns,)
        Where each column is now.
    """

    functions: Ints
    offsets: list[int]
    places: Ints

    @classmethod
    def of(cls, starts: Ints, n: int) -> _Layers:
        widths = np.diff(np.append(starts, n))
        columns = np.argsort(-widths, kind="stable")
        layers = [
            starts[columns[widths[columns] > depth]] + depth for depth in range(int(widths.max(initial=0)))
        ]
        offsets = np.cumsum([0, *(len(layer) for layer in layers)]).tolist()
        return cls(np.concatenate([*layers, np.zeros(0, dtype=np.int64)]), offsets, np.argsort(columns))

    def blocks(self) -> Iterator[Block]:
        """Every layer with itself and with every later one."""
        layers = [slice(*ends) for ends in zip(self.offsets, self.offsets[1:], strict=False)]
        for depth, layer in enumerate(layers):
            yield from ((layer, other) for other in layers[depth:])

    def add(self, of_pairs: Floats, of_products: Floats, first: slice, second: slice) -> None:
        """Add what the products of two layers gain to what pairs of columns gain."""
        i, j = of_products.shape[1:]
        of_pairs[:, :i, :j] += of_products
        if first != second:
            of_pairs[:, :j, :i] += of_products.transpose(0, 2, 1)


@dataclass(frozen=True)
class _Rows:
    """Functions, residuals and weights of all rows."""

    functions: Floats
    residuals: Floats
    weight: Floats

    def take(self, batch: Ints) -> _Batch:
        """Those of a batch; rows that only fill up have no weight."""
        w = np.where(batch >= 0, self.weight[batch], 0.0)
        r, total = self.residuals[batch], w.sum(axis=1, keepdims=True)
        centered = r - (w * r).sum(axis=1, keepdims=True) / total
        return _Batch(self.functions[batch], w, w * centered, np.sqrt(total))


class _Batch:
    """The rows of some queries, as many of each: shapes (n_queries, n_rows, N)."""

    def __init__(self, U: Floats, w: Floats, wr: Floats, root: Floats) -> None:
        self.U, self.squares = U, U * U
        self.of_residuals = (wr[:, :, None] * U).transpose(0, 2, 1)
        self.of_means = ((w / root)[:, :, None] * U).transpose(0, 2, 1)
        self.of_squares = (w[:, :, None] * self.squares).transpose(0, 2, 1)

    def sums(self, first: slice, second: slice) -> tuple[Floats, Floats]:
        """b_q and a_q of the products of some functions with others."""
        b = self.of_residuals[:, first] @ self.U[:, :, second]
        a = self.of_squares[:, first] @ self.squares[:, :, second]
        means = self.of_means[:, first] @ self.U[:, :, second]
        means *= means
        a -= means
        return b, a


def _totals(rows: _Rows, batches: list[Ints]) -> tuple[Floats, Floats]:
    """b and a of all queries."""
    n = rows.functions.shape[1]
    b, a = np.zeros((n, n)), np.zeros((n, n))
    for batch in batches:
        of_query = rows.take(batch).sums(slice(None), slice(None))
        b += of_query[0].sum(axis=0)
        a += of_query[1].sum(axis=0)
    return b, a


def _batches(queries: Queries, weight: Floats, n: int) -> Iterator[Ints]:
    """Rows of queries of about the same size in which rows can be compared, one line each; −1 fills up."""
    order = np.arange(queries.n_rows) if queries.order is None else queries.order
    compared: Bools = np.add.reduceat(weight[order] > 0.0, queries.offsets[:-1], dtype=np.int64) > 1
    by_size = np.flatnonzero(compared)[np.argsort(queries.sizes[compared], kind="stable")]
    at_a_time = max(1, AT_A_TIME // max(1, n * n))
    for start in range(0, len(by_size), at_a_time):
        some = by_size[start : start + at_a_time]
        sizes = queries.sizes[some]
        places = np.arange(sizes.max())
        rows = order[np.minimum(queries.offsets[some, None] + places, queries.n_rows - 1)]
        yield np.where(places < sizes[:, None], rows, -1)
