"""What an estimator is asked to learn from: judged rows or preferences, and rows to validate on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.features import JudgedRows
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import Bools, Floats, Ints, Matrix
from rankwise.validation.arrays import (
    check_query_weight,
    check_row_weight,
    check_targets,
    check_weight_range,
)
from rankwise.validation.explicit_pairs import check_pairs
from rankwise.validation.fit_arguments import question_queries


@dataclass(frozen=True)
class Problem:
    """Validated training rows, in the caller's order."""

    X: Matrix
    y: Floats
    queries: Queries
    row_weight: Floats | None
    query_weight: Floats | None = None

    @property
    def has_queries(self) -> bool:
        """Whether there is a qid; otherwise, all rows form one ranking."""
        return self.queries.labels is not None

    @property
    def n_targets(self) -> int | None:
        """k, if y has columns."""
        return None if self.y.ndim == 1 else int(self.y.shape[1])

    def without(self, rows: Ints | Bools) -> Problem:
        """Return the problem with some rows excluded from learning: they stay, with weight 0."""
        weight = np.ones(len(self.y)) if self.row_weight is None else self.row_weight.copy()
        weight[rows] = 0.0
        return replace(self, row_weight=weight)

    def select(self, rows: Ints) -> Problem:
        """Return the problem of some rows."""
        queries, query_weight = self.queries.select(rows), self.query_weight
        if query_weight is not None:
            first = queries.grouped(rows)[queries.offsets[:-1]]
            query_weight = query_weight[self.queries.query_of_row()[first]]
        return Problem(
            X=self.X[rows],
            y=self.y[rows],
            queries=queries,
            row_weight=None if self.row_weight is None else self.row_weight[rows],
            query_weight=query_weight,
        )


def check_problem(
    X: Any,
    rows: Matrix,
    y: Any,
    qid: ArrayLike | Iterable[Hashable] | None,
    sample_weight: ArrayLike | None,
    query_weight: Any = None,
) -> Problem:
    """Check queries and weights of rows and labels that were checked; X is what the user gave for them."""
    row_weight = check_row_weight(sample_weight, rows.shape[0])
    check_weight_range("sample_weight", "row", row_weight)
    queries = group_rows(qid, rows.shape[0])
    if not isinstance(X, JudgedRows):
        question_queries(qid, queries)
    return Problem(rows, check_targets(y), queries, row_weight, check_query_weight(query_weight, queries))


def check_eval_parts(eval_set: Any, names: tuple[str, str, str]) -> tuple[Any, Any, Any]:
    """Return the parts of an eval_set; the third is optional and defaults to None."""
    if isinstance(eval_set, JudgedRows) and names[1] == "y":
        return eval_set, eval_set.y, eval_set.qid
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) not in (2, 3):
        found = f" of length {len(eval_set)}" if isinstance(eval_set, (tuple, list)) else ""
        raise DataError(
            f"eval_set must be ({', '.join(names[:2])}) or ({', '.join(names)}); "
            f"got {type(eval_set).__name__}{found}."
        )
    first, second, *third = eval_set
    return first, second, third[0] if third else None


def check_pairs_to_learn(
    pairs: Any, n_rows: int, magnitude: ArrayLike | None, weight: ArrayLike | None
) -> Pairs:
    """Check the pairs of `fit_preferences`."""
    checked = check_pairs(pairs, n_rows, magnitude, weight)
    check_weight_range("weight", "pair", checked.weight)
    return checked
