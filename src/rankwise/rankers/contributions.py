"""What each column adds to the scores of rows, and how much that tells rows of a query apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.columns.inputs import Inputs
from rankwise.errors import DataError, ParameterError
from rankwise.mapped import is_on_disk, rows_at
from rankwise.operators.blocks import centred, runs
from rankwise.rows.table import Table
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.functions import FeatureFunction, ScoringFunction
from rankwise.types import Floats, Ints, Matrix, is_sparse
from rankwise.validation import Problem

# Effects are measured on so many rows, and on so many numbers.
MOST_ROWS, MOST_NUMBERS = 1 << 14, 2_000_000
# Rows of a query beyond so many times the mean number of those that are wanted are thinned.
LONGEST = 8
# Numbers that are centred at once.
BLOCK = 1 << 18


def contributions(function: ScoringFunction, inputs: Inputs, rows: Any) -> Any:
    """What each column of the rows adds to their scores; a matrix that is sparse if the rows are.

    What two columns add together is shared equally, as Shapley values are.
    """
    if isinstance(function, AdditiveFunction):
        return _of_columns(function, inputs, rows)
    weights = function.weights
    if weights is None:
        raise ParameterError(
            "contributions needs scores that are sums over columns, as those of a linear ranker; "
            "explain compares two rows by any model."
        )
    if weights.ndim != 1:
        raise DataError(f"contributions needs one score per row; this model predicts {len(weights)} targets.")
    if is_sparse(rows):
        return rows.multiply(weights).tocsr()
    return np.asarray(rows, dtype=np.float64) * weights


def _of_columns(function: AdditiveFunction, inputs: Inputs, rows: Table) -> Floats:
    assert inputs.encoding is not None
    parts, places = function.contributions(rows), inputs.encoding.places
    found = np.zeros((rows.n_rows, len(inputs.encoding.columns)))
    for part, columns in zip(parts.T, places, strict=True):
        for column in columns:
            found[:, column] += part / len(columns)
    return found


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Evenly spaced queries of the rows of a fit, on which effects of columns are measured.

    Attributes
    ----------
    X : Matrix
        Their features.
    sizes : Ints
        The number of rows of each query.
    order : Ints or None
        Where the rows of the queries are, one query after the other; None if they are in this order.
    """

    X: Matrix
    sizes: Ints
    order: Ints | None = None

    @classmethod
    def of(cls, problem: Problem) -> SampledRows:
        """Of a query that is much larger than others, evenly spaced rows; all rows if there are few."""
        X: Any = problem.X
        queries = problem.queries
        per_row = X.nnz / X.shape[0] if is_sparse(X) else X.shape[1]
        most = int(min(MOST_ROWS, max(2, MOST_NUMBERS // max(per_row, 1))))
        if queries.n_rows <= most and not is_on_disk(X):
            return cls(X, queries.sizes, queries.order)
        wanted = max(1, int(most * queries.n_queries / queries.n_rows))
        chosen = np.unique(np.linspace(0, queries.n_queries - 1, wanted).astype(np.int64))
        longest = max(2, min(most, LONGEST * most // len(chosen)))
        step = -(-queries.sizes[chosen] // longest)
        sizes = -(-queries.sizes[chosen] // step)
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        places = np.repeat(queries.offsets[chosen], sizes) + np.repeat(step, sizes) * within
        return cls(rows_at(X, places if queries.order is None else queries.order[places]), sizes)

    def effects(self, function: FeatureFunction, inputs: Inputs) -> Floats | None:
        """The standard deviation within queries of what each column adds; None unless that adds up."""
        weights = function.weights
        if weights is None or weights.ndim != 1:
            return None
        shares = None if inputs.encoding is None else inputs.encoding.shares()
        squares = np.zeros(len(weights) if shares is None else shares.shape[1])
        X: Any = self.X if self.order is None else self.X[self.order]
        offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        at_once = BLOCK // max(1, len(weights)) if isinstance(X, np.ndarray) else 1
        for first, last in runs(offsets, at_once):
            start, stop = offsets[[first, last]].tolist()
            used, values = _occupied(X[start:stop])
            # Centred before they are multiplied, features far from 0 keep their digits.
            groups = offsets[first : last + 1] - start
            values = centred(values, np.arange(len(values)), groups, np.ones(len(values))) * weights[used]
            if shares is not None:
                used, values = slice(None), values @ shares[used]
            squares[used] += (values**2).sum(axis=0)
        return np.asarray(np.sqrt(squares / self.sizes.sum()))


def effects_of(
    sample: SampledRows | Floats | None, function: FeatureFunction, inputs: Inputs
) -> Floats | None:
    """The effects on sampled rows, or those that a copy of a ranker has in place of rows."""
    return sample.effects(function, inputs) if isinstance(sample, SampledRows) else sample


def _occupied(rows: Any) -> tuple[Any, Floats]:
    """The columns with entries, and the values in them as a dense array."""
    if not is_sparse(rows):
        return slice(None), np.asarray(rows, dtype=np.float64)
    used = np.unique(rows.indices)
    return used, np.asarray(rows[:, used].toarray(), dtype=np.float64)
