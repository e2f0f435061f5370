"""Measures, prepared once for given labels and then called for many score vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwise.config import resolve_threads
from rankwise.errors import DataError
from rankwise.held_out import improves
from rankwise.metrics import pair_formulas
from rankwise.metrics.arranged_rows import ArrangedRows, Formula
from rankwise.metrics.conventions import Conventions, TiedScores
from rankwise.metrics.kinds import KINDS
from rankwise.metrics.own_formula import OwnFormula
from rankwise.metrics.pair_formulas import ScoreTable, ScoreVectors
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import AnyArray, Bools, Floats, Ints
from rankwise.validation import check_labels, check_row_weight, check_scores, check_vectors

# An existing partition, or the query label of each row; None is one global ranking.
QueryLike = Queries | ArrayLike | Iterable[Hashable] | None

# Rows evaluated at once for many score vectors.
ROWS_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class Measure:
    """What to measure: a kind, a cutoff and conventions. Created by `get_measure`.

    See Also
    --------
    get_measure : Creates it from a name.
    evaluate : Several measures at once.

    Examples
    --------
    >>> y, scores, qid = [2, 0, 1], [0.9, 0.1, 0.5], ["a", "a", "a"]
    >>> from rankwise.metrics import get_measure
    >>> measure = get_measure("ndcg@2", preset="letor")
    >>> measure(y, scores, qid)  # the mean over queries
    1.0
    >>> ndcg = measure.prepare(y, qid)  # everything independent of the scores, once
    >>> max(([0.1, 0.9, 0.5], scores), key=ndcg)  # then one call per score vector
    [0.9, 0.1, 0.5]
    """

    kind: str
    cutoff: int | None = None
    conventions: Conventions = field(default_factory=Conventions)
    words: str = ""
    function: Callable[[Floats, Floats], float] | None = None

    @property
    def name(self) -> str:
        return f"{self.kind}{self.words}" + ("" if self.cutoff is None else f"@{self.cutoff}")

    @property
    def higher_is_better(self) -> bool:
        if self.function is not None:
            return bool(getattr(self.function, "higher_is_better", True))
        return KINDS[self.kind].higher_is_better

    def is_better(self, value: float, than: float) -> bool:
        """Whether one mean is strictly better than another; any number is better than NaN."""
        return improves(value, than, self.higher_is_better)

    def prepare(
        self,
        y: ArrayLike,
        queries: QueryLike = None,
        sample_weight: ArrayLike | None = None,
        *,
        docs: ArrayLike | None = None,
    ) -> PreparedMeasure:
        """Prepare the measure for fixed labels; each score vector then costs one sort and a few passes.

        Parameters
        ----------
        y : array-like, shape (m,)
            Finite labels; masked ones are rows that were not judged, which count as 0.
        queries : Queries, array-like of query labels, or None
            None is one global ranking.
        sample_weight : array-like, optional
            Row weights s; a pair then has weight s_i s_j. Only for pairwise_error and auc.
        docs : array-like, optional
            Document labels, for conventions that break ties by them.
        """
        labels, unjudged = split_labels(y, queries.n_rows if isinstance(queries, Queries) else None)
        if not len(labels):
            raise DataError("There are no rows to evaluate: y is empty.")
        if not isinstance(queries, Queries):
            queries = group_rows(queries, len(labels))
        if len(labels) >= 2**32 and int(queries.sizes.max()) >= 2**32:
            raise DataError("A query may have at most 2^32 - 1 rows.")
        rows = queries.order
        if self.conventions.ties is TiedScores.DOC_DESCENDING and docs is not None:
            rows = _by_document(queries, np.asarray(docs))
        weight = check_row_weight(sample_weight, len(labels))
        judged = ArrangedRows(
            y=labels if rows is None else labels[rows],
            offsets=queries.offsets,
            rows=rows,
            weight=weight if rows is None or weight is None else weight[rows],
            n_threads=resolve_threads(),
            unjudged=unjudged if rows is None or unjudged is None else unjudged[rows],
        )
        return PreparedMeasure(self, queries, self._formula_for(judged))

    def _formula_for(self, judged: ArrangedRows) -> Formula:
        if self.function is not None:
            return OwnFormula(judged, self.function, self.name)
        return KINDS[self.kind].formula(judged, self.cutoff, self.conventions)

    def per_query(self, y: ArrayLike, scores: ArrayLike, queries: QueryLike = None, **options: Any) -> Floats:
        """The value of each query, in order of first appearance; NaN for excluded queries."""
        return self.prepare(y, queries, **options).per_query(scores)

    def __call__(self, y: ArrayLike, scores: ArrayLike, queries: QueryLike = None, **options: Any) -> float:
        """The mean over queries."""
        return self.prepare(y, queries, **options)(scores)


@dataclass(frozen=True)
class PreparedMeasure:
    """A measure prepared for fixed labels and queries, to call with scores in the caller's row order.

    Attributes
    ----------
    measure : Measure
        What is measured.
    queries : Queries
        The partition of the rows into queries.

    See Also
    --------
    Measure : `prepare` returns it.

    Examples
    --------
    >>> from rankwise.metrics import get_measure
    >>> prepared = get_measure("map").prepare([2, 1, 0, 1, 0], [1, 1, 1, 2, 2])
    >>> prepared([0.9, 0.8, 0.1, 0.2, 0.7]), prepared([0.9, 0.8, 0.1, 0.7, 0.2])
    (0.75, 1.0)
    """

    measure: Measure
    queries: Queries
    _formula: Formula

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """Queries that have no value, whatever the scores, and are excluded from the mean."""
        formula = self._formula
        return formula.empty if math.isnan(formula.empty_value) else np.zeros_like(formula.empty)

    @property
    def left_out_reason(self) -> str:
        return self._formula.empty_reason

    @property
    def query_weight(self) -> Floats:
        """The weight of each query in the mean: 1, or its number of pairs for micro averages."""
        weight = self._formula.weight
        return np.ones(self.queries.n_queries) if weight is None else weight

    def per_query(self, scores: ArrayLike) -> Floats:
        """The value of each query, in order of first appearance; NaN for excluded queries.

        In a masked array, masked rows were not retrieved: they come after all others, and contribute nothing
        to measures of ranked lists, but are still relevant or not.
        """
        given = check_scores(scores, self.queries.n_rows)
        values = self._formula.values(self._formula.judged.arranged(given))
        values[self._formula.empty] = self._formula.empty_value
        return values

    def mean(self, values: Floats) -> float:
        """The weighted mean of the values from `per_query`; NaN if every query is excluded."""
        return float(self._means(values[None])[0])

    def __call__(self, scores: ArrayLike) -> float:
        return self.mean(self.per_query(scores))

    def many(self, scores: ArrayLike) -> Floats:
        """The means of many score vectors, one per row of `scores`, as if called with each of them.

        For pair measures, a vector whose order is close to the previous one costs O(rows + pairs that change
        order), without a sort. Other measures process many vectors at a time.
        """
        table = np.ascontiguousarray(check_vectors(scores, self.queries.n_rows))
        return self.along(ScoreTable(table))

    def along(self, vectors: ScoreVectors) -> Floats:
        """Like `many`, for finite vectors that are generated on the fly."""
        formula = self._formula
        if isinstance(formula, pair_formulas.PairFormula):
            parts = formula.values_of_many(vectors)
        else:
            parts = map(self._side_by_side, vectors.tables())
        means = []
        for values in parts:
            values[:, formula.empty] = formula.empty_value
            means.append(self._means(values))
        return np.concatenate(means)

    def _side_by_side(self, table: Floats) -> Floats:
        """Values of many score vectors, whose queries are treated as separate queries."""
        table = self._formula.judged.arranged(table)
        n_vectors, n_rows = table.shape
        at_once = max(1, min(n_vectors, ROWS_AT_ONCE // n_rows))
        formula = self.measure._formula_for(self._formula.judged.repeated(at_once))
        values = np.empty((n_vectors, self.queries.n_queries))
        piece = np.zeros((at_once, n_rows))
        for start in range(0, n_vectors, at_once):
            size = min(at_once, n_vectors - start)
            piece[:size] = table[start : start + size]
            values[start : start + size] = formula.values(piece.ravel()).reshape(at_once, -1)[:size]
        return values

    def _means(self, values: Floats) -> Floats:
        """The result of `mean` for each row of values."""
        return means_over_queries(values, self.left_out, self.query_weight)


def split_labels(y: ArrayLike, n_rows: int | None = None) -> tuple[Floats, Bools | None]:
    """Finite labels, 0 where a masked array says that a row was not judged, and which rows these are."""
    if not isinstance(y, np.ma.MaskedArray):
        return check_labels(y, n_rows), None
    unjudged = np.ma.getmaskarray(y)
    return check_labels(np.ma.filled(y, 0), n_rows), unjudged if unjudged.any() else None


def means_over_queries(values: Floats, left_out: Bools, weight: Floats) -> Floats:
    """The weighted mean of each row of values over the queries that are not left out; NaN if all are."""
    counted = ~left_out
    if not counted.any():
        return np.full(len(values), np.nan)
    weight = weight[counted]
    # In C order every row is summed as it would be by itself.
    weighted = np.multiply(values[:, counted], weight, order="C")
    return np.asarray(np.add.reduce(weighted, axis=1) / weight.sum())


def _by_document(queries: Queries, docs: AnyArray) -> Ints:
    """Rows by query and, within a query, by descending document label, compared as text."""
    if docs.shape != (queries.n_rows,):
        raise DataError(f"docs must have one entry per row: expected {queries.n_rows}, got {docs.shape}.")
    _, codes = np.unique(docs.astype(str), return_inverse=True)
    return np.lexsort((-codes, queries.query_of_row())).astype(np.int64)
