"""Measures that users define: a function of the labels and scores of one query."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.metrics.arranged_rows import ArrangedRows
from rankwise.types import Floats


class OwnFormula:
    """A function called for one query after the other, with labels and scores in the order of the rows.

    Queries for which it is NaN even if the labels are the scores are left out.
    """

    empty_value = math.nan
    weight: Floats | None = None

    def __init__(self, judged: ArrangedRows, function: Callable[[Floats, Floats], float], name: str) -> None:
        if judged.weight is not None:
            raise ParameterError(f"The measure '{name}' does not accept sample_weight; pairwise_error does.")
        self.judged = judged
        self.empty_reason = f"{name} is undefined"
        self._function, self._name = function, name
        self.empty = np.zeros(judged.n_queries, dtype=np.bool_)
        self.empty = np.isnan(self._values(judged.y, may_be_nan=True))

    def values(self, scores: Floats) -> Floats:
        return self._values(scores, may_be_nan=False)

    def _values(self, scores: Floats, may_be_nan: bool) -> Floats:
        values = np.full(self.judged.n_queries, np.nan)
        offsets = self.judged.offsets.tolist()
        for query in np.flatnonzero(~self.empty).tolist():
            rows = slice(offsets[query], offsets[query + 1])
            value = self._checked(self._function(self.judged.y[rows].copy(), scores[rows].copy()), query)
            if math.isnan(value) and not may_be_nan:
                raise DataError(f"The measure '{self._name}' is NaN for the scores of query {query}.")
            values[query] = value
        return values

    def _checked(self, value: Any, query: int) -> float:
        if np.ndim(value) == 0 and isinstance(value, (int, float, np.number, np.bool_)):
            return float(value)
        raise DataError(
            f"The measure '{self._name}' must return a number; for query {query}, it returned {value!r:.60}."
        )
