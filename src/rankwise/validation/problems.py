"""The arguments of `fit`, checked: what it learns from, and rows to validate on.

These are a data set, or X, y and qid, which may be mistaken for each other, or preferences.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.config import get_config
from rankwise.errors import DataError, QueryWarning, warn_caller
from rankwise.factored_rows import selected
from rankwise.features import Features, JudgedParts, JudgedRows, refuse_parts
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import Queries, group_rows, one_query, qid_from_group_sizes
from rankwise.types import Bools, Floats, Ints, Matrix
from rankwise.validation.arrays import (
    check_query_weight,
    check_row_weight,
    check_targets,
    check_weight_range,
)
from rankwise.validation.explicit_pairs import check_pairs

# With fewer rows per query than this, most rows have no other to be compared with.
FEWEST_ROWS_PER_QUERY = 1.1
# Fewer rows say nothing about how many belong to a query.
FEWEST_ROWS = 20

_MEANT = "the arguments are fit(X, y, qid, sample_weight)"


def taken_apart(
    X: Any, y: Any, qid: Any, sample_weight: Any = None, group: Any = None
) -> tuple[Any, Any, Any]:
    """y, qid and sample_weight, all of which a data set in place of X has; one without weights takes them.

    `group`, the sizes of consecutive queries, stands for a qid.
    """
    refuse_parts(X)
    if not isinstance(X, JudgedRows):
        return y, qid_of_sizes(group, qid, X), sample_weight
    if y is not None or qid is not None or group is not None:
        raise DataError(
            f"A {type(X).__name__} has its own labels and queries; pass it alone, without y and qid, "
            f"or pass its X."
        )
    if X.sample_weight is None:
        return X.y, X.qid, sample_weight
    if sample_weight is not None:
        raise DataError(f"This {type(X).__name__} has its own weights; pass it without sample_weight.")
    return X.y, X.qid, X.sample_weight


def qid_of_sizes(group: Any, qid: Any, X: Any, names: tuple[str, str] = ("group", "qid")) -> Any:
    """The qid of rows of which each query has as many, one after the other, as `group` says.

    Without a group, that is qid; beside one, it must say the same. `names` is what users call the two.
    """
    if group is None:
        return qid
    n_rows, (ours, theirs) = _count_of_rows(X), names
    try:
        found = qid_from_group_sizes(group)
    except DataError as error:
        raise DataError(f"{ours}: {error}") from error
    if len(found) != n_rows:
        raise DataError(
            f"The sizes of queries in {ours} must add up to the number of rows, {n_rows}; got {len(found)}."
        )
    if qid is None:
        return found
    differs = group_rows(qid, n_rows).query_of_row() != found
    if differs.any():
        raise DataError(
            f"{ours} and {theirs} contradict each other: row {differs.argmax()} belongs to query "
            f"{found[differs.argmax()]} by {ours}, but to another one by {theirs}; pass only one of them."
        )
    return qid


def _count_of_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def refuse_beside_parts(data: JudgedParts, **others: Any) -> None:
    """Reject other arguments of `fit` beside rows in parts, which have their own."""
    given = [argument for argument, value in others.items() if value is not None]
    if given:
        name = type(data).__name__
        raise DataError(f"A {name} has its own labels, queries and weights; pass it without {given[0]}.")
    if not data.has_queries:
        question_queries(None, one_query(data.n_rows))


def check_scaling(data: Any, like: Features) -> None:
    """Reject a table that is not scaled as that of a fit; by its names, its columns are found."""
    if isinstance(data, JudgedRows):
        like.check(Features(scaled_per_query=data.features.scaled_per_query))


def question_queries(qid: Any, queries: Queries) -> None:
    """Warn if qid was probably forgotten, or if it looks like another argument."""
    m = queries.n_rows
    if qid is None:
        if not get_config().one_ranking:
            warn_caller(
                f"fit was given no qid, so all {m} rows form one ranking. Pass the query of each row as qid "
                f"(in cross-validation and grid search as params={{'qid': qid}}, after "
                f"sklearn.set_config(enable_metadata_routing=True)); if you mean one ranking, call "
                f"rankwise.set_config(one_ranking=True).",
                QueryWarning,
            )
        return
    labels = queries.labels
    if labels is not None and labels.dtype.kind == "f" and not (labels == np.floor(labels)).all():
        fraction = labels[labels != np.floor(labels)][0]
        warn_caller(
            f"qid holds fractions such as {fraction:g}, which look like weights or labels; {_MEANT}.",
            QueryWarning,
        )
    elif m >= FEWEST_ROWS and m < FEWEST_ROWS_PER_QUERY * queries.n_queries:
        warn_caller(
            f"qid has {queries.n_queries} different labels for {m} rows, so most rows have no other row of "
            f"their query to be compared with; {_MEANT}.",
            QueryWarning,
        )


@dataclass(frozen=True)
class Problem:
    """Validated training rows, in the caller's order.

    `across_queries` is how much pairs of all rows count, beside those of rows of the same query.
    """

    X: Matrix
    y: Floats
    queries: Queries
    row_weight: Floats | None
    query_weight: Floats | None = None
    across_queries: float = 0.0

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
            X=selected(self.X, rows),
            y=self.y[rows],
            queries=queries,
            row_weight=None if self.row_weight is None else self.row_weight[rows],
            query_weight=self.weight_of_queries(queries, rows),
            across_queries=self.across_queries,
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
