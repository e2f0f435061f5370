"""Columns that give the label away: one of them alone orders rows as no honest feature does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankwise.auditing.faults import Fault, Severity
from rankwise.auditing.raw_table import RawTable, UsableRows
from rankwise.metrics.measure import PreparedMeasure
from rankwise.metrics.named_measures import get_measure
from rankwise.preferences.queries import Queries, members
from rankwise.rows.column import Column
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray, Floats, Ints, Reading

# Rows of whole queries that are looked at, and the least that can tell.
SAMPLED_ROWS, LEAST_QUERIES, LEAST_PAIRS = 100_000, 10, 100
# The share of pairs that a column orders if it gives the label away.
REVEALS = 0.99
# What training looks at, in passing.
FEW_ROWS, FEW_COLUMNS = 10_000, 500
# Quantiles and categories of a column whose mean labels are learned on one half of the queries.
N_BINS, MAX_CATEGORIES = 32, 1000
# A column is far ahead if it orders at least this share of the pairs, and its odds are so many times those of
# the best of the other columns.
AHEAD, ODDS = 0.9, 4.0
# As many columns can be ahead of the others together.
MAX_AHEAD = 3


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of whole queries, and how well scores order them.

    Attributes
    ----------
    rows : Ints
        Rows of the table.
    y : Floats
    query : Ints
        The number of the query of each row.
    error : PreparedMeasure
        The share of pairs with different labels that scores order wrongly.
    """

    rows: Ints
    y: Floats
    query: Ints
    error: PreparedMeasure

    @classmethod
    def of(cls, judged: UsableRows, n_rows: int = SAMPLED_ROWS) -> Sample | None:
        """At most `n_rows` rows; None if they are too few to tell."""
        queries = judged.queries
        order = np.random.default_rng(0).permutation(queries.n_queries)
        chosen = order[: int((np.cumsum(queries.sizes[order]) <= n_rows).sum())]
        _, places, _ = members(queries.offsets, np.sort(chosen))
        rows = np.sort(places if queries.order is None else queries.order[places])
        if len(rows) == 0:
            return None
        own: Queries = queries.select(rows)
        y = judged.y[rows]
        error = get_measure("pairwise_error_micro").prepare(y, own)
        with_pairs = ~error.left_out
        n_pairs = error.query_weight[with_pairs].sum()
        if with_pairs.sum() < LEAST_QUERIES or n_pairs < LEAST_PAIRS:
            return None
        return cls(judged.rows[rows], y, own.query_of_row(), error)

    def ordered(self, column: Column) -> float:
        """The share of pairs that a column alone orders as labels do, judged on queries it has not seen."""
        found = [self._by_bins(column)]
        if column.values.dtype.kind in "fM":
            x = column.values.astype(np.float64)
            x[column.missing()] = np.nan
            if not np.isnan(x).all():
                share = 1.0 - self.error(np.nan_to_num(x, nan=float(np.nanmedian(x))))
                found += [share, 1.0 - share]
        return max(found)

    def _by_bins(self, column: Column) -> float:
        """By the mean label of its bin, relative to the query, in the other half of the queries."""
        bins = _bins(column)
        half = self.query % 2
        n_queries = int(self.query.max()) + 1
        mean = np.bincount(self.query, self.y, n_queries) / np.bincount(self.query, minlength=n_queries)
        centred = self.y - mean[self.query]
        score = np.zeros(len(self.y))
        for this, other in ((0, 1), (1, 0)):
            learned = half == other
            total = np.bincount(bins[learned], centred[learned], bins.max() + 1)
            count = np.bincount(bins[learned], minlength=bins.max() + 1)
            score[half == this] = (total / np.maximum(count, 1))[bins[half == this]]
        return 1.0 - float(self.error(score))


def _bins(column: Column) -> Ints:
    """A small number for each value: its category, or the quantiles that it is between; 0 if missing."""
    missing = column.missing()
    if column.values.dtype.kind == "O":
        return _categories(column.values)
    x = column.values.astype(np.float64)
    present = x[~missing & np.isfinite(x)]
    edges = np.unique(np.quantile(present, np.linspace(0.0, 1.0, N_BINS + 1))) if len(present) else present
    return np.where(missing, 0, 1 + np.searchsorted(edges, x, side="right"))


def _categories(values: AnyArray) -> Ints:
    numbers: dict[object, int] = {None: 0}
    return np.array(
        [numbers.setdefault(text, min(len(numbers), MAX_CATEGORIES)) for text in map(_hashable, values)],
        dtype=np.int64,
    )


def _hashable(value: object) -> object:
    return value if value is None or isinstance(value, str) else str(value)


def leak_faults(ordered: dict[str, float], reveals: float, *, named: bool = True) -> Iterator[Fault]:
    """The columns that order at least a share of the pairs, and those that are far ahead of all others.

    Only columns that are `named` can be excluded by an option.
    """
    ahead = _far_ahead(ordered)
    for name, share in sorted(ordered.items(), key=lambda item: -item[1]):
        surely = share >= reveals
        if surely or name in ahead:
            leave_out = f"Use --exclude {name}" if named else "Leave it out of the data"
            far = "" if surely else ", far more than the columns after it"
            yield Fault(
                "leak",
                Severity.MUST_FIX if surely else Severity.LOOK,
                name,
                1,
                f"{name!r} alone orders {share:.1%} of the pairs of rows{far}: it may be derived from the "
                "label, or known only afterwards",
                "Training would rely on it, and the measured quality would be meaningless.",
                f"{leave_out}, unless it is known at ranking time.",
            )


def leaks_in(data: RankingData) -> list[Fault]:
    """Columns of rows to train on that give the label away, by a small sample of the rows.

    Nothing is said of sparse rows, and of more columns than can be looked at in a moment.
    """
    table = RawTable.of_data(data)
    sample = Sample.of(UsableRows(np.arange(data.n_rows), data.y, data.queries), FEW_ROWS)
    if sample is None or len(table.names) > FEW_COLUMNS:
        return []
    columns = {name: table.column(name)[sample.rows] for name in table.names}
    ordered = {
        name: sample.ordered(column)
        for name, column in columns.items()
        if readable(column) and not column.missing().all()
    }
    return list(leak_faults(ordered, REVEALS, named=table.named))


def _far_ahead(ordered: dict[str, float]) -> set[str]:
    names = sorted(ordered, key=lambda name: -ordered[name])
    odds = [ordered[name] / max(1.0 - ordered[name], 1e-12) for name in names]
    for n in range(min(MAX_AHEAD, len(names) - 1), 0, -1):
        if ordered[names[n - 1]] >= AHEAD and odds[n - 1] >= ODDS * odds[n]:
            return set(names[:n])
    return set()


def readable(column: Column) -> bool:
    """Whether there is one kind of values, which can be compared."""
    return column.reading in (Reading.NUMBER, Reading.FLAG, Reading.DATE, Reading.TEXT)
