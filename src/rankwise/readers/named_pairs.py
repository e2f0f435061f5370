"""Preferences between named documents: lines of ``qid, preferred, other[, weight]`` below a header."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from rankwise.errors import DataError
from rankwise.preferences.pairs import Pairs
from rankwise.readers.named_rows import named_fields, row_named, rows_named_in, write_fields
from rankwise.rows.documents import names_of
from rankwise.rows.ranking import RankingData

HEADER = ("qid", "preferred", "other", "weight")


def named_preferences(
    lines: Iterable[tuple[int, bytes]], delimiter: str, names: list[str], data: RankingData, path: Path
) -> Iterator[tuple[int, int, int, str | None]]:
    """The line number, preferred row, other row and unparsed weight of each line."""
    rows = rows_named_in(path, data)
    for number, fields in named_fields(lines, delimiter, names, path):
        entry = {name: field.strip() for name, field in fields.items()}
        preferred, other = (
            row_named(rows, entry["qid"], entry[side], path, number) for side in ("preferred", "other")
        )
        yield number, preferred, other, entry.get("weight")


def write_named_pairs(pairs: Pairs, data: RankingData, path: str | PathLike[str]) -> None:
    """Write lines that `named_preferences` reads back; both rows of a pair must be of one query."""
    qid, docs = names_of(data)
    query = data.queries.query_of_row()
    apart = query[pairs.better] != query[pairs.worse]
    if apart.any():
        at = int(apart.argmax())
        raise DataError(f"Pair {at} compares rows {pairs.better[at]} and {pairs.worse[at]} of two queries.")
    columns = dict(zip(HEADER, (qid[pairs.better], docs[pairs.better], docs[pairs.worse]), strict=False))
    write_fields(path, columns if pairs.weight is None else {**columns, HEADER[-1]: pairs.weight})
