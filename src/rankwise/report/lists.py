"""The ranked lists of queries: where each ranker places each row, and of which parts its score consists.

Not every row of every query is kept: the page must open quickly. Queries with the largest changes come first,
then those with the lowest values; rows that a ranker places high, or that are relevant, come before others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.operators.blocks import dense
from rankwise.report.entrants import Entrant
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.types import Floats, Ints

# Numbers to keep in all, which are about 2 MB of text, and per query.
MAX_NUMBERS, MAX_ROWS, MAX_COLUMNS = 200_000, 40, 20
MAX_NAME = 200
# Digits of scores and contributions; sums of a few contributions agree with differences of scores to more
# digits than are shown.
DIGITS = 7


def list_facts(entrants: Sequence[Entrant], judged: RankingData, order: Sequence[int]) -> dict[str, Any]:
    """The lists of as many queries as there is room for.

    Parameters
    ----------
    entrants : sequence of Entrant
    judged : RankingData
    order : sequence of int
        Positions of queries, those to keep first.
    """
    kept: list[dict[str, Any]] = []
    n_numbers = 0
    for query in order:
        one = _query(entrants, judged, query)
        n_numbers += _size(one)
        if kept and n_numbers > MAX_NUMBERS:
            break
        kept.append(one)
    parts = {one.name: one.terms for one in entrants if one.terms is not None}
    return {
        "columns": {name: list(map(short_name, one.columns)) for name, one in parts.items()},
        "sources": {name: one.sources for name, one in parts.items()},
        "queries": kept,
        "n_queries": judged.queries.n_queries,
        "max_rows": MAX_ROWS,
    }


def _size(query: dict[str, Any]) -> int:
    per_row = 2 + 2 * len(query["scores"]) + len(query["values"])
    per_row += sum(len(parts["columns"]) + 1 for parts in query["parts"].values())
    return per_row * len(query["docs"])


def _query(entrants: Sequence[Entrant], judged: RankingData, query: int) -> dict[str, Any]:
    rows = judged.queries.rows_of(query)
    y = judged.y[rows]
    ranks = {one.name: ranks_of(one.scores[rows]) for one in entrants}
    ideal = ranks_of(y)
    shown = _rows_to_show([*ranks.values(), ideal])
    parts = {one.name: _parts(one.terms.of_rows(rows, shown)) for one in entrants if one.terms is not None}
    names = rows if judged.docs is None else judged.docs[rows]
    return {
        "query": query,
        "rows": len(rows),
        "docs": [short_name(name) for name in names[shown].tolist()],
        "labels": rounded(y[shown]),
        "ideal": ideal[shown].tolist(),
        "ranks": {name: _unless_masked(rank[shown]) for name, rank in ranks.items()},
        "scores": {one.name: _unless_masked(one.scores[rows][shown]) for one in entrants},
        "parts": parts,
        "values": _values(judged, rows[shown], _sources(entrants, parts)),
    }


def ranks_of(scores: Floats) -> Any:
    """Ranks from 1 by descending score; ties in the order of the rows, and masked where scores are."""
    hidden = np.ma.getmaskarray(scores)
    order = np.lexsort((-np.ma.getdata(scores), hidden))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return np.ma.masked_array(ranks, hidden)


def _rows_to_show(ranks: Sequence[Any]) -> Ints:
    """Positions of the rows that some ranker, or the ideal order, places highest; best of the ideal first."""
    best = np.min([np.ma.filled(rank, len(rank)) for rank in ranks], axis=0)
    shown = np.argsort(best, kind="stable")[:MAX_ROWS]
    return shown[np.argsort(ranks[-1][shown], kind="stable")]


def _parts(contributions: Floats) -> dict[str, Any]:
    """The columns that differ most between the rows, and the sum of all others."""
    spread = np.ptp(contributions, axis=0)
    columns = np.sort(np.argsort(-spread, kind="stable")[:MAX_COLUMNS])
    columns = columns[spread[columns] > 0.0]
    others = contributions.sum(axis=1) - contributions[:, columns].sum(axis=1)
    return {
        "columns": columns.tolist(),
        "contributions": [rounded(row) for row in contributions[:, columns]],
        "others": rounded(others - others[0]),
        "n_others": contributions.shape[1] - len(columns),
    }


def _sources(entrants: Sequence[Entrant], parts: dict[str, Any]) -> list[int]:
    """The columns of the data that the kept contributions are functions of."""
    found = {
        one.terms.sources[column]
        for one in entrants
        if one.terms is not None
        for column in parts[one.name]["columns"]
    }
    return sorted(found - {-1})


def _values(judged: RankingData, rows: Ints, columns: list[int]) -> dict[str, list[Any]]:
    """The values of some columns, by their number."""
    if not columns:
        return {}
    if isinstance(judged.X, Table):
        shown = [column.shown() for column in judged.X[rows].columns.values()]
        return {str(column): [short_name(value) for value in shown[column]] for column in columns}
    values = dense(judged.X[rows][:, columns])
    return {str(column): rounded(one) for column, one in zip(columns, values.T, strict=True)}


def _unless_masked(values: Any) -> list[Any]:
    hidden = np.ma.getmaskarray(values)
    return [None if out else one for one, out in zip(rounded(np.ma.getdata(values)), hidden, strict=True)]


def short_name(name: Any) -> str:
    """A name as text, cut where no page has room for it."""
    text = str(name)
    return text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 1]}…"


def rounded(values: Any) -> list[Any]:
    """Numbers with as many digits as a page needs; whole numbers stay short."""
    return [short(value) for value in values.tolist()]


def short(value: Any) -> Any:
    if isinstance(value, int):
        return value
    number = float(f"{value:.{DIGITS}g}")
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
