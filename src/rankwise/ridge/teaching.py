"""Which documents or pairs of rows would teach a linear RankRLS model most.

A judgment is worth by how much it reduces the variance of the differences that matter (A-optimal design on
differences). That depends on features only, so a whole budget can be planned before the first judgment.
Judgments are chosen one after the other, each given those before it; a query is looked at again only when,
by what it was worth last, it would be the next (lazy greedy choice). Worth rarely grows with what is known,
so this finds what looking at every candidate every time would find, or something about as good.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankwise.operators.blocks import dense
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import Queries
from rankwise.ridge.knowledge import Knowledge
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Bools, Floats, Ints, Matrix

# Of a query with more rows, pairs are sought among those of which least is known.
MOST_ROWS_IN_PAIRS = 256


@dataclass(frozen=True)
class Proposal:
    """Something to judge.

    Attributes
    ----------
    rows : tuple of int
        The row to judge; the two rows to compare; or the first two rows to judge of a query.
    worth : float
        By how much the variance of the differences that matter falls, per judgment.
    """

    rows: tuple[int, ...]
    worth: float


class Candidates(Protocol):
    """What can be judged, by query."""

    @property
    def queries(self) -> Queries: ...

    def best(self, query: int, known: Knowledge, wanted: Floats) -> Proposal | None:
        """The judgment of a query that is worth most; None if nothing is left to judge."""
        ...

    def after(self, query: int, chosen: Proposal, known: Knowledge) -> Knowledge:
        """What is known after it, except for the weights, which depend on the judgment."""
        ...


def wanted_differences(X: Matrix, queries: Queries, row_weight: Floats | None = None) -> Floats:
    """``M = XᵀLX`` of all rows to be ranked, judged or not: the differences that matter.

    Parameters
    ----------
    X : array or CSR matrix, shape (m, n)
    queries : Queries
    row_weight : Floats, optional, shape (m,)
        How much it matters where a row is ranked; 1 by default.
    """
    anything = np.zeros(X.shape[0])
    differences = QueryDifferences(queries, anything, row_weight=row_weight)
    return MatrixDesign(X, reference=differences.reference()).difference_system(differences, anything)[0]


def proposals(candidates: Candidates, known: Knowledge, wanted: Floats) -> Iterator[Proposal]:
    """Judgments in the order in which they should be made, each chosen given those before it.

    Parameters
    ----------
    candidates : Documents or PairsToCompare
    known : Knowledge
        What the judgments so far say.
    wanted : Floats, shape (n, n)
        ``M = Σ zzᵀ`` over the differences z that matter, such as ``XᵀLX`` of all rows to be ranked.
    """
    heap: list[tuple[float, int, int]] = []
    found: dict[int, Proposal] = {}
    step = 0

    def look(query: int) -> None:
        best = candidates.best(query, known, wanted)
        if best is not None:
            found[query] = best
            heapq.heappush(heap, (-best.worth, query, step))

    for query in range(candidates.queries.n_queries):
        look(query)
    while heap:
        _, query, looked = heapq.heappop(heap)
        if looked < step:
            look(query)
            continue
        chosen = found[query]
        yield chosen
        known = candidates.after(query, chosen, known)
        step += 1
        look(query)


class Documents:
    """Rows without a judgment; judging one compares it with the judged rows of its query.

    The first judgment of a query teaches nothing by itself, so a query is opened by the two rows that teach
    most together, and each is worth half of that.

    Parameters
    ----------
    X : array or CSR matrix, shape (m, n)
    queries : Queries
    judged : array of bool, shape (m,)
        Judged rows, each with weight 1.
    """

    def __init__(self, X: Matrix, queries: Queries, judged: Bools) -> None:
        self._X, self.queries, self._judged = X, queries, judged.copy()

    def best(self, query: int, known: Knowledge, wanted: Floats) -> Proposal | None:
        rows, X = _rows_of(self._X, self.queries, query)
        judged = self._judged[rows]
        if judged.all():
            return None
        if not judged.any():
            return _best_pair(rows, X, known, wanted, weight=0.5, n_judgments=2) if len(rows) > 1 else None
        differences, weight = self._differences(X[~judged], X[judged])
        worth = known.reductions(differences, np.full(len(differences), weight), wanted)
        best = int(worth.argmax())
        return Proposal((int(rows[~judged][best]),), float(worth[best]))

    def after(self, query: int, chosen: Proposal, known: Knowledge) -> Knowledge:
        rows, X = _rows_of(self._X, self.queries, query)
        for row in chosen.rows:
            judged = self._judged[rows]
            if judged.any():
                (difference,), weight = self._differences(X[rows == row], X[judged])
                known = known.after(difference, weight=weight)
            self._judged[row] = True
        return known

    @staticmethod
    def _differences(X: Floats, judged: Floats) -> tuple[Floats, float]:
        return X - judged.mean(axis=0), len(judged) / (len(judged) + 1.0)


class PairsToCompare:
    """Pairs of rows of a query, each to be compared once: "this above that".

    Parameters
    ----------
    X : array or CSR matrix, shape (m, n)
    queries : Queries
    compared : iterable of (row, row)
        Pairs that have been compared already, in either order.
    """

    def __init__(
        self, X: Matrix, queries: Queries, compared: Ints | list[tuple[int, int]] | None = None
    ) -> None:
        self._X, self.queries = X, queries
        pairs = [] if compared is None else np.asarray(compared).reshape(-1, 2).tolist()
        self._compared = {frozenset(pair) for pair in pairs}

    def best(self, query: int, known: Knowledge, wanted: Floats) -> Proposal | None:
        rows, X = _rows_of(self._X, self.queries, query)
        if len(rows) < 2:
            return None
        return _best_pair(rows, X, known, wanted, excluded=self._compared)

    def after(self, query: int, chosen: Proposal, known: Knowledge) -> Knowledge:
        first, second = (dense(self._X[[row]])[0].astype(np.float64) for row in chosen.rows)
        self._compared.add(frozenset(chosen.rows))
        return known.after(first - second)


def _rows_of(X: Matrix, queries: Queries, query: int) -> tuple[Ints, Floats]:
    """The numbers of the rows of a query, and the rows measured from the first, which keeps their digits."""
    rows = queries.rows_of(query)
    values = dense(X[rows]).astype(np.float64)
    return rows, values - values[0]


def _best_pair(
    rows: Ints,
    X: Floats,
    known: Knowledge,
    wanted: Floats,
    *,
    weight: float = 1.0,
    n_judgments: int = 1,
    excluded: set[frozenset[int]] | None = None,
) -> Proposal | None:
    """The pair of rows that teaches most, from products of rows rather than from all differences."""
    if len(rows) > MOST_ROWS_IN_PAIRS:
        kept = np.sort(np.argsort(-known.variance(X - X.mean(axis=0)), kind="stable")[:MOST_ROWS_IN_PAIRS])
        rows, X = rows[kept], X[kept]
    with one_blas_thread(len(known.coef) <= SMALL):
        learned = X @ known.covariance
        variance = _of_differences(learned @ X.T)
        taught = _of_differences(learned @ wanted @ learned.T)
    worth = weight * taught / (1.0 + weight * variance)
    worth[np.tril_indices(len(rows))] = -1.0
    if excluded:
        place = {row: at for at, row in enumerate(rows.tolist())}
        for pair in excluded:
            if pair <= place.keys():
                first, second = sorted(place[row] for row in pair)
                worth[first, second] = -1.0
    best = divmod(int(worth.argmax()), len(rows))
    if worth[best] < 0.0:
        return None
    return Proposal((int(rows[best[0]]), int(rows[best[1]])), float(worth[best]) / n_judgments)


def _of_differences(products: Floats) -> Floats:
    """``(xᵢ − xⱼ)ᵀ S (xᵢ − xⱼ)`` of all pairs from ``xᵢᵀ S xⱼ``; never negative."""
    squares = np.diag(products)
    return np.maximum(squares[:, None] + squares[None, :] - products - products.T, 0.0)
