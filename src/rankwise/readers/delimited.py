"""Text whose lines hold fields between commas, tabs or spaces: judgments, preferences, TREC runs and qrels.

Tables with a column per feature are read by pyarrow instead (`rankwise.readers.tables`): there, columns have
types, and speed counts.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import IO, Any

from rankwise.errors import DataError, FileFormatError
from rankwise.files import replacing_file
from rankwise.numerals import read_float, read_whole
from rankwise.readers.text import BYTE_ORDER_MARK, create_text, decoded, numbered_lines, open_text

# Digits, and perhaps a sign: more may not fit into 64 bits.
_LONGEST_WHOLE_NUMBER = 18


class DelimitedReader:
    """Reads lines as dictionaries of fields by name, like `csv.DictReader`; blank lines are skipped.

    Attributes
    ----------
    names : sequence of str
        The columns; a line with more or fewer fields is an error. Set by `take_header` or by the caller.
    delimiter : str or None
        A comma or a tab, if the first line contains one, between fields that may be quoted; otherwise None,
        for white space.
    line : int or None
        The number of the line that was read last.
    """

    def __init__(self, file: IO[bytes], path: Path) -> None:
        lines = ((number, line) for number, line in numbered_lines(file, path) if not line.isspace())
        self._number, first = next(lines, (1, b""))
        self._first = first.removeprefix(BYTE_ORDER_MARK)
        self._lines = chain([(self._number, self._first)] if first else [], lines)
        self.names: Sequence[str] = ()
        self.delimiter = "," if b"," in first else "\t" if b"\t" in first else None
        self.line: int | None = None

    @property
    def first(self) -> list[str]:
        """The fields of the first line; none in an empty file."""
        self.line = self._number
        return self._fields(self._first)

    def take_header(self, required: Iterable[str], optional: Iterable[str] = ()) -> bool:
        """Whether the first line names these columns, in any order; if so, they name the fields."""
        names = [name.strip().lower() for name in self.first]
        if not set(required) <= set(names) <= {*required, *optional} or len(set(names)) < len(names):
            return False
        self.line, _ = next(self._lines)
        self.names = names
        return True

    def __iter__(self) -> Iterator[dict[str, str]]:
        names = self.names
        for number, line in self._lines:
            self.line = number
            fields = self._fields(line)
            if len(fields) != len(names):
                raise DataError(f"expected {len(names)} fields, '{' '.join(names)}'; found {len(fields)}.")
            yield dict(zip(names, fields, strict=True))

    def _fields(self, line: bytes) -> list[str]:
        text = decoded(line).rstrip("\r\n")
        if self.delimiter is None:
            return text.split() if text.isascii() else list(map(decoded, line.split()))
        if '"' not in text:
            return text.split(self.delimiter)
        try:
            return next(csv.reader([text], delimiter=self.delimiter))
        except csv.Error as error:
            raise DataError(f"the line cannot be parsed: {error}.") from None


@contextmanager
def open_delimited(path: Path) -> Iterator[DelimitedReader]:
    """Open a file, decompressed according to its name; a DataError within the block names file and line."""
    with open_text(path) as file:
        reader = DelimitedReader(file, path)
        try:
            yield reader
        except FileFormatError:
            raise
        except DataError as error:
            raise FileFormatError(path, str(error), reader.line) from error


def finite_number(fields: Mapping[str, str], name: str, minimum: float = -math.inf) -> float:
    """The number in a field, not below `minimum`."""
    try:
        number = read_float(fields[name])
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= minimum):
        least = "" if minimum == -math.inf else f" of at least {minimum:g}"
        raise DataError(f"the field '{name}' must be a finite number{least}; got {fields[name][:40]!r}.")
    return number


def whole_number(fields: Mapping[str, str], name: str, minimum: float = -math.inf) -> int:
    """The whole number in a field, not below `minimum`."""
    text = fields[name].strip()
    try:
        number = read_whole(text) if len(text) <= _LONGEST_WHOLE_NUMBER else None
    except ValueError:
        number = None
    if number is None or number < minimum:
        least = "" if minimum == -math.inf else f" of at least {minimum:g}"
        raise DataError(f"the field '{name}' must be a whole number{least}; got {text[:40]!r}.")
    return number


def write_delimited(path: str | PathLike[str], header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write lines between commas, which `DelimitedReader` reads back, compressed according to the name."""
    with (
        replacing_file(path) as beside,
        create_text(beside) as file,
        io.TextIOWrapper(file, encoding="utf-8", newline="") as text,
    ):
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            for cell in row:
                if isinstance(cell, str) and not {"\n", "\r"}.isdisjoint(cell):
                    raise DataError(
                        f"The label {cell[:40]!r} contains a line break, so a line cannot hold it."
                    )
            writer.writerow(row)
