"""Files of lines that name rows by query and document, below a header."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import chain
from os import PathLike
from pathlib import Path

from rankwise.errors import DataError, FileFormatError
from rankwise.files import replacing_file
from rankwise.readers.text import create_text
from rankwise.rows.documents import RowsByName, find_row, rows_by_name
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray


def header_of(line: bytes, required: set[str], known: set[str]) -> tuple[str, list[str]] | None:
    """The delimiter and column names of a header; None if the line is not such a header."""
    text = line.decode("utf-8-sig", errors="replace").strip().lower()
    delimiter = "," if "," in text else "\t" if "\t" in text else " "
    names = [name.strip().strip('"') for name in text.split(delimiter)]
    is_header = required <= set(names) <= known and len(set(names)) == len(names)
    return (delimiter, names) if is_header else None


def named_fields(
    lines: Iterable[tuple[int, bytes]], delimiter: str, names: list[str], path: Path
) -> Iterator[tuple[int, dict[str, str]]]:
    """The line number and the fields of each line by name."""
    for number, line in lines:
        try:
            text = line.decode("utf-8", errors="replace").strip(None if delimiter == " " else "\r\n")
            (fields,) = csv.reader([text], delimiter=delimiter)
        except csv.Error as error:
            raise FileFormatError(path, f"the line cannot be parsed: {error}", number) from None
        if len(fields) != len(names):
            raise FileFormatError(
                path, f"expected {len(names)} fields as in the header, found {len(fields)}", number
            )
        yield number, dict(zip(names, fields, strict=True))


def rows_named_in(path: Path, data: RankingData) -> RowsByName:
    """`rows_by_name` for a file that names documents."""
    try:
        return rows_by_name(data)
    except DataError as error:
        raise FileFormatError(path, str(error)) from error


def write_fields(path: str | PathLike[str], columns: dict[str, AnyArray]) -> None:
    """Write lines that `named_fields` reads back below a header, compressed according to the name."""
    entries = {name: column.tolist() for name, column in columns.items()}
    for label in chain.from_iterable(entries.values()):
        if isinstance(label, str) and not {"\n", "\r"}.isdisjoint(label):
            raise DataError(f"The label {label[:40]!r} contains a line break, so a line cannot hold it.")
    with (
        replacing_file(path) as beside,
        create_text(beside) as file,
        io.TextIOWrapper(file, encoding="utf-8", newline="") as text,
    ):
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(entries)
        writer.writerows(zip(*entries.values(), strict=True))


def row_named(rows: RowsByName, qid: str, doc: str, path: Path, number: int) -> int:
    """The row that a line of a file names; an error if there is none or several."""
    try:
        row = find_row(rows, qid, doc)
    except DataError as error:
        raise FileFormatError(path, str(error), number) from None
    if row is None:
        raise FileFormatError(path, f"the query {qid!r} of the data has no document {doc!r}", number)
    return row
