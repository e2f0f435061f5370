"""Journals as files of judgments, of ratings and of pairs, which other commands read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rankwise.judging.entries import Entry, Kind
from rankwise.judging.in_effect import Judgments
from rankwise.readers.delimited import write_delimited

Row = tuple[Any, ...]


def judgment_rows(judgments: Judgments) -> list[Row]:
    """The grade of each document: the mean of its raters."""
    return [
        (query, docs[0], judged.grade)
        for query, docs, judged in judgments.of_all()
        if judged.grade is not None
    ]


def rating_rows(judgments: Judgments) -> list[Row]:
    """The grade that each rater gave a document, and when."""
    return [
        (query, docs[0], one.grade, one.rater, one.time)
        for query, docs, judged in judgments.of_all()
        for one in judged.entries
        if one.grade is not None
    ]


def pair_rows(judgments: Judgments) -> list[Row]:
    """The documents that were compared, the better one first; files have no words for those equally good."""
    return [
        (query, *one.docs)
        for query, _, judged in judgments.of_all()
        for one in judged.comparisons
        if one.kind is Kind.ABOVE
    ]


#: The files that a journal becomes: for `train` and `audit`, for `raters`, and for `train --pairs`.
TABLES: dict[str, tuple[Sequence[str], Callable[[Judgments], list[Row]]]] = {
    "judgments.csv": (("qid", "doc", "label"), judgment_rows),
    "ratings.csv": (("qid", "doc", "label", "rater", "time"), rating_rows),
    "pairs.csv": (("qid", "preferred", "other"), pair_rows),
}


def write_table(name: str, path: Path, entries: Iterable[Entry]) -> int:
    """Write one of `TABLES`; returns the number of its rows."""
    header, rows_of = TABLES[name]
    rows = rows_of(Judgments(entries))
    write_delimited(path, header, rows)
    return len(rows)
