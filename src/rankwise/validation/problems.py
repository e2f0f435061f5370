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
from rankwise.validation.fit_arguments import qid_of_sizes, question_queries


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
        queries = self.queries.select(rows)
        return Problem(
            X=self.X[rows],
            y=self.y[rows],
            queries=queries,
            row_weight=None if self.row_weight is None else self.row_weight[rows],
            query_weight=self.weight_of_queries(queries, rows),
        )

    def weight_of_queries(self, queries: Queries, rows: Ints) -> Floats | None:
        """The weights of the queries of some rows."""
        if self.query_weight is None:
            return None
        first = queries.grouped(rows)[queries.offsets[:-1]]
        return np.asarray(self.query_weight[self.queries.query_of_row()[first]])


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


def check_eval_parts(
    eval_set: Any, names: tuple[str, str, str], called: str = "eval_set"
) -> tuple[Any, Any, Any]:
    """Return the parts of an eval_set; the third is optional and defaults to None."""
    if isinstance(eval_set, JudgedRows) and names[1] == "y":
        return eval_set, eval_set.y, eval_set.qid
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) not in (2, 3):
        found = f" of length {len(eval_set)}" if isinstance(eval_set, (tuple, list)) else ""
        raise DataError(
            f"{called} must be ({', '.join(names[:2])}) or ({', '.join(names)}); "
            f"got {type(eval_set).__name__}{found}."
        )
    first, second, *third = eval_set
    return first, second, third[0] if third else None


def check_eval_sets(eval_set: Any, group: Any, qid: Any) -> list[tuple[str, Any, Any, Any]]:
    """Return what to call each eval_set, its X, y and qid: one of `check_eval_parts`, or a list of these.

    `group` and `qid`, of which each set has one entry, are the arguments eval_group and eval_qid of `fit`.
    """
    if eval_set is None:
        if group is not None or qid is not None:
            raise DataError(f"{'eval_qid' if group is None else 'eval_group'} needs an eval_set.")
        return []
    several = isinstance(eval_set, (tuple, list)) and all(
        isinstance(one, tuple | JudgedRows) or (isinstance(one, list) and len(eval_set) == 1)
        for one in eval_set
    )
    sets = list(eval_set) if several and eval_set else [eval_set]
    groups, qids = (_of_each_set(given, len(sets), name) for given, name in ((group, "group"), (qid, "qid")))
    found = []
    for place, (one, own_group, own_qid) in enumerate(zip(sets, groups, qids, strict=True)):
        called, names = ("eval_set", "") if len(sets) == 1 else (f"eval_set[{place}]", f"[{place}]")
        X, y, own = check_eval_parts(one, ("X", "y", "qid"), called)
        if own is not None and own_qid is not None:
            raise DataError(f"{called} has a qid; pass it without eval_qid.")
        own = own_qid if own is None else own
        rows = X.X if isinstance(X, JudgedRows) else X
        own = qid_of_sizes(own_group, own, rows, (f"eval_group{names}", f"the qid of {called}"))
        found.append((called, X, y, own))
    return found


def _of_each_set(given: Any, n_sets: int, name: str) -> list[Any]:
    """One entry for each eval_set; that of a single set may stand alone."""
    if given is None:
        return [None] * n_sets
    listed = list(given)
    if n_sets == 1 and not (len(listed) == 1 and np.ndim(listed[0]) == 1):
        return [given]
    if len(listed) != n_sets:
        raise DataError(f"eval_{name} must have one entry for each eval_set: {n_sets}; got {len(listed)}.")
    return listed


def check_pairs_to_learn(
    pairs: Any, n_rows: int, magnitude: ArrayLike | None, weight: ArrayLike | None
) -> Pairs:
    """Check the pairs of `fit_preferences`."""
    checked = check_pairs(pairs, n_rows, magnitude, weight)
    check_weight_range("weight", "pair", checked.weight)
    return checked
