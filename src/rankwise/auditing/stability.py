"""How far the values of a column have moved, and how far they would by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from rankwise.columns.codes import CategoryCode, Code
from rankwise.columns.profile import ColumnProfile, numbers_of
from rankwise.preferences.queries import Queries
from rankwise.types import AnyArray, Floats, Ints, Reading

# So many of the most frequent categories have bins of their own.
MOST_CATEGORIES = 20
# Shares below this count as this: one row in ten thousand is no evidence of what never occurred.
LEAST_SHARE = 1e-4
# A least value that so many have, such as 0, has a bin of its own.
ATOM = 0.05
# Shares are sums and ratios; a single row of a billion is more than this.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class BinnedColumn:
    """Rows of a column in bins: its tenths in training, its categories, what is new, and what is missing.

    Attributes
    ----------
    expected : Floats
        The share of each bin in training.
    place : Ints, shape (m,)
        The bin of each new row.
    new : tuple of int
        The bins of values that training had none of, or that the model does not know by name: those below and
        above the range, or unknown categories.
    """

    expected: Floats
    place: Ints
    new: tuple[int, ...]

    @property
    def observed(self) -> Floats:
        """The share of each bin now; differences that are only rounding noise are none."""
        shares = np.bincount(self.place, minlength=len(self.expected)) / len(self.place)
        return np.where(np.abs(shares - self.expected) <= ROUNDING, self.expected, shares)

    @property
    def share_of_new(self) -> float:
        return float(self.observed[list(self.new)].sum())


def binned(known: ColumnProfile, values: AnyArray, code: Code | None) -> BinnedColumn:
    """New values of a column in bins.

    Parameters
    ----------
    known : ColumnProfile
    values : array, shape (m,)
        As the model reads them.
    code : Code or None
        What the column becomes; None if it is a feature.
    """
    if known.reading is Reading.TEXT:
        assert isinstance(code, CategoryCode)
        return _of_texts(known, values, code)
    if known.reading is Reading.FLAG:
        expected = np.array(
            [*(known.frequencies.get(name, 0.0) for name in ("false", "true")), known.missing]
        )
        return BinnedColumn(expected, np.where(np.isnan(values), 2, values != 0.0).astype(np.int64), ())
    return _of_numbers(known, numbers_of(values, known.reading))


def _of_numbers(known: ColumnProfile, values: Floats) -> BinnedColumn:
    edges, reached = known.steps if known.quantiles else (np.zeros(0), np.zeros(0))
    least = edges[:1]
    if len(edges) > 1 and reached[0] < ATOM:
        edges, reached = edges[1:], reached[1:]
    within = np.diff(reached, prepend=0.0) * (1.0 - known.missing)
    expected = np.array([0.0, *within, 0.0, known.missing])
    place = 1 + np.searchsorted(edges, values)
    place[values < least] = 0  # without any value in training, none is below
    place[np.isnan(values)] = len(expected) - 1
    return BinnedColumn(expected, place, (0, len(edges) + 1))


def _of_texts(known: ColumnProfile, texts: AnyArray, code: CategoryCode) -> BinnedColumn:
    shares = np.array([known.frequencies.get(category, 0.0) for category in code.categories])
    frequent = np.argsort(-shares, kind="stable")[:MOST_CATEGORIES]
    rest, unknown, missing = (len(frequent) + k for k in range(3))
    bin_of = np.full(len(shares) + 3, rest)  # also of "other" and "missing", and of none, at -1
    bin_of[frequent] = np.arange(len(frequent))
    bin_of[len(shares) :] = unknown
    place = bin_of[code.places(texts)]
    place[[text is None for text in texts.tolist()]] = missing
    few = float(np.delete(shares, frequent).sum())
    expected = np.array([*shares[frequent], few, known.other, known.missing])
    return BinnedColumn(expected, place, (unknown,))


def stability_index(column: BinnedColumn) -> float:
    """The population stability index ``Σ_b (p_b − q_b) log(p_b / q_b)``, p of new and q of old rows."""
    new, old = (np.maximum(shares, LEAST_SHARE) for shares in (column.observed, column.expected))
    return float(((new - old) * np.log(new / old)).sum())


def chance_of_shift(column: BinnedColumn, n_known: int, queries: Queries) -> float:
    """The probability that shares of bins differ this much if nothing has changed, a p-value; O(m + Q b²).

    The statistic is ``Σ_b (p_b − q_b)² / d_b``, with the shares d of all rows. Rows of a query are alike, so
    its distribution is that of fewer rows: it depends on the covariance of the shares between queries (Rao
    and Scott, 1984), and is approximated by an F with as many degrees of freedom as that has (Thomas and
    Rao, 1987). Of the old rows, only the shares are known; they are taken to be as alike as the new ones.

    Parameters
    ----------
    column : BinnedColumn
    n_known : int
        The number of old rows.
    queries : Queries
        Those of the new rows; without labels, every row is one.
    """
    p, q, n_new = column.observed, column.expected, len(column.place)
    pooled = (n_known * q + n_new * p) / (n_known + n_new)
    kept = pooled > 0.0
    root = np.sqrt(pooled[kept])
    difference = float((((p - q)[kept] / root) ** 2).sum())
    if difference == 0.0:
        return 1.0
    deviations, n_groups = _deviations(column, queries)
    if n_groups <= 1.0:
        return 1.0
    deviations = deviations[:, kept] / root
    new = deviations.T @ deviations
    alike, old = n_new / n_known * new, q[kept]
    unrelated = (np.diag(old) - np.outer(old, old)) / np.outer(root, root) / n_known
    covariance = new + max(alike, unrelated, key=np.trace)  # new rows that are all the same vary too little
    trace, squares = float(np.trace(covariance)), float((covariance**2).sum())
    if trace <= 0.0:
        return 0.0
    freedom = trace**2 / squares
    return float(fdtrc(freedom, freedom * (n_groups - 1.0), difference / trace))


def _deviations(column: BinnedColumn, queries: Queries) -> tuple[Floats, float]:
    """How far the shares of bins are from those without each query, scaled so that the squares are variances.

    These are the terms of a jackknife. Also the number of queries, of which large ones count for fewer.
    """
    n_bins, n_rows = len(column.expected), len(column.place)
    group = np.arange(n_rows) if queries.labels is None else queries.query_of_row()
    sizes = np.bincount(group)
    n_groups = len(sizes)
    if n_groups < 2:
        return np.zeros((n_groups, n_bins)), 1.0
    counts = np.bincount(group * n_bins + column.place, minlength=n_groups * n_bins)
    residuals = counts.reshape(n_groups, n_bins) - sizes[:, None] * column.observed
    deviations = residuals / (n_rows - sizes)[:, None] * np.sqrt((n_groups - 1) / n_groups)
    return deviations, n_rows**2 / float((sizes**2.0).sum())
