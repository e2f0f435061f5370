"""Preferences between named documents: lines of ``qid, preferred, other[, weight]`` below a header."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from rankwise.data.ranking import RankingData
from rankwise.errors import FileFormatError

HEADER = ("qid", "preferred", "other", "weight")


def header_of(line: bytes) -> tuple[str, list[str]] | None:
    """The delimiter and column names of a header of preferences; None if the line is not such a header."""
    text = line.decode("utf-8-sig", errors="replace").strip().lower()
    delimiter = "," if "," in text else "\t" if "\t" in text else " "
    names = [name.strip().strip('"') for name in text.split(delimiter)]
    is_header = {"preferred", "other"} <= set(names) <= set(HEADER) and len(set(names)) == len(names)
    return (delimiter, names) if is_header else None


def named_preferences(
    lines: Iterable[tuple[int, bytes]], delimiter: str, names: list[str], data: RankingData, path: Path
) -> Iterator[tuple[int, int, int, str | None]]:
    """The line number, preferred row, other row and unparsed weight of each line."""
    rows = _rows_by_name(data, path)
    for number, line in lines:
        try:
            (fields,) = csv.reader([line.decode("utf-8", errors="replace").strip()], delimiter=delimiter)
        except csv.Error as error:
            raise FileFormatError(path, f"the line cannot be parsed: {error}", number) from None
        if len(fields) != len(names):
            raise FileFormatError(
                path, f"expected {len(names)} fields as in the header, found {len(fields)}", number
            )
        entry = dict(zip(names, map(str.strip, fields), strict=True))
        pair = [_row(rows, entry["qid"], entry[side], path, number) for side in ("preferred", "other")]
        yield number, pair[0], pair[1], entry.get("weight")


def _rows_by_name(data: RankingData, path: Path) -> dict[tuple[str, str], list[int]]:
    if data.qid is None or data.docs is None:
        missing = "query" if data.qid is None else "document"
        message = f"the file refers to documents by query and name, but the data has no {missing} labels"
        raise FileFormatError(path, message)
    rows: dict[tuple[str, str], list[int]] = {}
    for row, (qid, doc) in enumerate(zip(data.qid.tolist(), data.docs.tolist(), strict=True)):
        rows.setdefault((str(qid), str(doc)), []).append(row)
    return rows


def _row(rows: dict[tuple[str, str], list[int]], qid: str, doc: str, path: Path, number: int) -> int:
    found = rows.get((qid, doc), [])
    if len(found) != 1:
        times = f"contains the document {doc!r} {len(found)} times" if found else f"has no document {doc!r}"
        raise FileFormatError(path, f"the query {qid!r} of the data {times}", number)
    return found[0]
