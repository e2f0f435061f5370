"""Faults of labels and queries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwise.auditing.faults import EXAMPLES, Fault, Repair, Severity, rows_shown
from rankwise.auditing.raw_table import UsableRows
from rankwise.preferences.queries import Queries
from rankwise.rendering import counted
from rankwise.rows.column import Column
from rankwise.selection.splitting import plain_text
from rankwise.types import AnyArray, Floats, Ints, Reading

# A query with fewer rows says little, and measures up to the tenth place see less than they should.
FEW_ROWS = 5
# Shallow queries are worth a note if there are at least this many of them, as a share.
MANY_SHALLOW = 0.2
# Grades are skewed if the most frequent one has more than this share of the rows.
SKEWED = 0.95
# Labels with at most this many different values are grades.
MAX_GRADES = 20
_DROPPED = "Training stops at the first of them."


def label_faults(column: Column, name: str) -> tuple[Floats, list[Fault]]:
    """The labels, NaN where there is none, and what is wrong with them."""
    y, others = column.numbers_among()
    rows = {
        "missing labels": np.flatnonzero(np.isnan(y) & ~others),
        "unreadable labels": np.flatnonzero(others),
        "infinite labels": np.flatnonzero(np.isinf(y)),
    }
    what = {
        "missing labels": "no label",
        "unreadable labels": "a label that is not a number",
        "infinite labels": "an infinite label",
    }
    faults = [
        Fault(
            kind,
            Severity.MUST_FIX,
            name,
            len(found),
            f"{name!r}: {counted(len(found), 'row has', 'rows have')} {what[kind]}",
            _DROPPED,
            "",
            _with_values(column, found) if kind == "unreadable labels" else rows_shown(found),
            Repair.DROP_ROWS,
            found,
        )
        for kind, found in rows.items()
        if len(found)
    ]
    if column.reading is Reading.TEXT and not others.all() and len(rows["missing labels"]) < len(y):
        n_texts = int(np.isfinite(y).sum())
        found = f"{name!r}: {counted(n_texts, 'label is', 'labels are')} text"
        training = "Training expects numbers in a column of numbers."
        faults.append(
            Fault("text labels", Severity.MUST_FIX, name, n_texts, found, training, "", repair=Repair.READ)
        )
    return y, faults


def _with_values(column: Column, rows: Ints) -> tuple[str, ...]:
    return tuple(f"{column.values[row]!r:.40} in row {row}" for row in rows[:EXAMPLES].tolist())


def query_faults(column: Column, name: str) -> Iterator[Fault]:
    """Rows without a query, and queries that differ only in case or spaces."""
    rows = np.flatnonzero(column.missing())
    if len(rows):
        found = f"{name!r}: {counted(len(rows), 'row has', 'rows have')} no query"
        yield Fault(
            "missing queries",
            Severity.MUST_FIX,
            name,
            len(rows),
            found,
            _DROPPED,
            "",
            rows_shown(rows),
            Repair.DROP_ROWS,
            rows,
        )
    if column.reading is Reading.TEXT:
        first: dict[str, str] = {}
        alike = [
            (text, first[plain])
            for text in dict.fromkeys(column.values.tolist())
            if text is not None and first.setdefault(plain := plain_text(text), text) != text
        ]
        if alike:
            yield Fault(
                "queries spelled in several ways",
                Severity.LOOK,
                name,
                len(alike),
                f"{name!r}: {counted(len(alike), 'query differs', 'queries differ')} from another one only "
                "in case or spaces",
                "Training treats them as different queries.",
                "'rankwise split' keeps them on one side.",
                tuple(f"{one!r} and {other!r}" for one, other in alike[:EXAMPLES]),
            )


def judgment_faults(judged: UsableRows, *, named: bool = True) -> Iterator[Fault]:
    """What labels and queries cannot be learned from, together."""
    y, queries = judged.y, judged.queries
    if not len(y):
        return
    grouped, starts = queries.grouped(y), queries.offsets[:-1]
    tied = np.minimum.reduceat(grouped, starts) == np.maximum.reduceat(grouped, starts)
    if tied.all():
        every = "No query has" if queries.labels is not None else "The rows do not have"
        yield Fault(
            "no pairs",
            Severity.MUST_FIX,
            None,
            queries.n_queries,
            f"{every} two different labels",
            "There is nothing to learn.",
            "Is it the right --label and --qid?" if named else "",
        )
        return
    if tied.any():
        n_tied = int(tied.sum())
        yield Fault(
            "queries without pairs",
            Severity.NOTE,
            None,
            n_tied,
            f"{counted(n_tied, 'query', 'queries')} of {queries.n_queries:,} "
            f"{'has' if n_tied == 1 else 'have'} only one label",
            "Training learns nothing from such queries, and no measure counts them.",
            "",
            queries_shown(queries, np.flatnonzero(tied)),
        )
    yield from _shallow(queries)
    yield from _skewed(y)


def _shallow(queries: Queries) -> Iterator[Fault]:
    shallow = np.flatnonzero(queries.sizes < FEW_ROWS)
    if queries.labels is not None and len(shallow) >= MANY_SHALLOW * queries.n_queries:
        yield Fault(
            "shallow queries",
            Severity.NOTE,
            None,
            len(shallow),
            f"{counted(len(shallow), 'query', 'queries')} of {queries.n_queries:,} have fewer than "
            f"{FEW_ROWS} judged rows",
            "",
            "Measures such as ndcg@10 are higher on them than on whole result lists.",
            queries_shown(queries, shallow),
        )


def _skewed(y: Floats) -> Iterator[Fault]:
    grades, counts = np.unique(y, return_counts=True)
    share = counts.max() / len(y)
    if len(grades) <= MAX_GRADES and share > SKEWED:
        most = grades[counts.argmax()]
        yield Fault(
            "skewed grades",
            Severity.NOTE,
            None,
            int(counts.max()),
            f"{share:.1%} of the rows have the label {most:g}",
            "Few pairs are left to learn from.",
            "Queries in which a row has another label count most.",
        )


def queries_shown(queries: Queries, numbers: Ints) -> tuple[str, ...]:
    """The labels of the first queries."""
    labels: AnyArray | None = queries.labels
    return () if labels is None else tuple(_label(labels[q]) for q in numbers[:EXAMPLES].tolist())


def _label(label: object) -> str:
    """As it was written: numbers of a column are read as float64."""
    return f"{label:.15g}" if isinstance(label, float) else f"{label!s:.40}"
