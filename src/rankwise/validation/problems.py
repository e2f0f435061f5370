"""What an estimator is asked to learn from: judged rows or preferences, and rows to validate on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.features import JudgedParts, JudgedRows
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import Bools, Floats, Ints, Matrix
from rankwise.validation.arrays import (
    check_labels,
    check_query_weight,
    check_row_weight,
    check_targets,
    check_weight_range,
)
from rankwise.validation.judgments import (
    check_scaling,
    parts_problem,
    question_queries,
    record_parts,
    taken_apart,
)
from rankwise.validation.pairs import check_pairs
from rankwise.validation.rows import check_eval_rows, validated


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
    estimator: Any,
    X: Any,
    y: Any,
    qid: ArrayLike | Iterable[Hashable] | None,
    sample_weight: ArrayLike | None,
    *,
    query_weight: Any = None,
    multi_output: bool = False,
    reset: bool = True,
) -> Any:
    """Check the arguments of `fit`, and record the features on the estimator as scikit-learn expects.

    X may be a data set, which stands for y and qid as well; the result is a `Problem`, or what stands for it
    if other processes hold the rows. The estimator first discards any earlier fit,
    which may have had other features. Without `reset`, as for `partial_fit`, the rows must have the features
    of the earlier fit instead.
    """
    if reset:
        estimator._forget()
        if isinstance(X, JudgedParts):
            others = {"y": y, "qid": qid, "sample_weight": sample_weight, "query_weight": query_weight}
            return parts_problem(estimator, X, **others)
    else:
        check_scaling(estimator, X)
    data, (_, y, qid) = X, taken_apart(X, y, qid)
    least = 2 if reset else 1
    X, y = validated(
        estimator, data, y, reset=reset, ensure_min_samples=least, multi_output=multi_output, y_numeric=True
    )
    row_weight = check_row_weight(sample_weight, X.shape[0])
    check_weight_range("sample_weight", "row", row_weight)
    queries = group_rows(qid, X.shape[0])
    if isinstance(data, JudgedRows):
        estimator.scaled_per_query_ = data.scaled_per_query
    else:
        question_queries(qid, queries)
    return Problem(X, check_targets(y), queries, row_weight, check_query_weight(query_weight, queries))


def check_eval_set(estimator: Any, eval_set: Any, training: Problem) -> Problem:
    """Check validation data, ``(X, y)``, ``(X, y, qid)`` or a data set, against the training data."""
    X, y, qid = check_eval_parts(eval_set, ("X", "y", "qid"))
    if qid is None and training.has_queries:
        raise DataError("eval_set must be (X, y, qid) because fit was given a qid.")
    rows = check_eval_rows(estimator, X)
    return Problem(
        X=rows,
        y=check_labels(y, rows.shape[0], name="y in eval_set"),
        queries=group_rows(qid, rows.shape[0]),
        row_weight=None,
    )


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


def check_preferences(
    estimator: Any, X: Any, pairs: Any, magnitude: ArrayLike | None, weight: ArrayLike | None
) -> tuple[Matrix, Pairs]:
    """Check the arguments of `fit_preferences`, as `check_problem` does for `fit`."""
    estimator._forget()
    if isinstance(X, JudgedParts):
        record_parts(estimator, X)
        return X.preferences(_checked_pairs(pairs, X.n_rows, magnitude, weight))
    rows: Matrix = validated(estimator, X, ensure_min_samples=2)
    if isinstance(X, JudgedRows):
        estimator.scaled_per_query_ = X.scaled_per_query
    return rows, _checked_pairs(pairs, rows.shape[0], magnitude, weight)


def _checked_pairs(pairs: Any, n_rows: int, magnitude: ArrayLike | None, weight: ArrayLike | None) -> Pairs:
    checked = check_pairs(pairs, n_rows, magnitude, weight)
    check_weight_range("weight", "pair", checked.weight)
    return checked
