"""The arguments of `fit` that say what was judged: a data set, or X, y and qid that may be mistaken."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.config import get_config
from rankwise.errors import DataError, QueryWarning, warn_caller
from rankwise.features import Features, JudgedParts, JudgedRows
from rankwise.preferences.queries import Queries, group_rows, one_query, qid_from_group_sizes

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
            f"{ours} and {theirs} contradict each other: by {ours}, query {found[differs.argmax()]} has row "
            f"{differs.argmax()}, by {theirs} another has; pass one of them."
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


def refuse_parts(X: Any) -> None:
    """Reject rows that other processes hold."""
    if isinstance(X, JudgedParts):
        raise DataError(f"This method needs rows in this process; got {type(X).__name__}.")


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
                f"sklearn.set_config(enable_metadata_routing=True)); if one ranking is meant, say so with "
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
