"""Training and test rows that share no query, no text of a query, and no time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.errors import DataError
from rankwise.preferences.queries import Queries, group_rows
from rankwise.types import AnyArray, Bools, Floats
from rankwise.validation import check_number, check_random_state


@dataclass(frozen=True, eq=False)
class RowSplit:
    """Which rows are on which side; a row on neither would tell training of the time of the test.

    Attributes
    ----------
    training, test : Bools
    """

    training: Bools
    test: Bools


def plain_text(text: str) -> str:
    """A text without case, and with single spaces."""
    return " ".join(text.casefold().split())


def split_rows(
    queries: Queries,
    fraction: float,
    *,
    texts: AnyArray | None = None,
    times: Floats | None = None,
    random_state: int = 0,
) -> RowSplit:
    """Put about a fraction of the rows into the test, in whole queries; O(m log m).

    Parameters
    ----------
    queries : Queries
    fraction : float
        Of the rows, for the test.
    texts : array, shape (m,), optional
        The text of the query of each row: queries whose texts are equal but for case and spaces are on the
        same side. By default, the labels of the queries are their texts.
    times : Floats, shape (m,), optional
        When each row was seen. The test has the queries that are first seen last, and rows of training
        queries that are seen after that are left out.
    random_state : int
        Draws the queries, if there are no times.
    """
    fraction = check_number("fraction", fraction, minimum=0.0, maximum=1.0, exclusive=True)
    group = _groups(queries, texts)
    n_groups, n_rows = int(group.max()) + 1, len(group)
    if times is None:
        order = check_random_state("random_state", random_state).permutation(n_groups)
    else:
        first = np.full(n_groups, np.inf)
        np.minimum.at(first, group, times)
        order = np.argsort(-first, kind="stable")
    reached = np.cumsum(np.bincount(group, minlength=n_groups)[order])
    n_test = 1 + int(np.searchsorted(reached, fraction * n_rows))
    if n_test >= n_groups:
        raise DataError(f"The data has only {n_groups} different queries, too few to split.")
    is_test = np.zeros(n_groups, dtype=bool)
    is_test[order[:n_test]] = True
    test: Bools = is_test[group]
    training: Bools = ~test
    if times is not None:
        training &= times < times[test].min()
    if not training.any():
        raise DataError("No row is earlier than the test rows; the queries must differ in time.")
    return RowSplit(training, test)


def _groups(queries: Queries, texts: AnyArray | None) -> AnyArray:
    """The number of the group of each row, whose rows must be on the same side."""
    query = queries.query_of_row()
    if texts is None:
        if queries.labels is None:
            raise DataError("Rows are split by query, but the data has no queries.")
        labels = queries.labels[query]
    else:
        labels = texts
    plain = [plain_text(label) if isinstance(label, str) else label for label in labels.tolist()]
    return _joined(query, group_rows(plain, len(query)).query_of_row())


def _joined(one: AnyArray, other: AnyArray) -> AnyArray:
    """Groups of rows that are linked by either of two groupings."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n_one, n_other = int(one.max()) + 1, int(other.max()) + 1
    size = n_one + n_other
    links = coo_matrix((np.ones(len(one)), (one, n_one + other)), shape=(size, size))
    _, component = connected_components(links, directed=False)
    groups: AnyArray = component[one]
    return np.unique(groups, return_inverse=True)[1]
