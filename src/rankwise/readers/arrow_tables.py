"""CSV and Parquet files as arrow tables and columns, read with pyarrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankwise.errors import FileFormatError, ParameterError, blaming
from rankwise.files import encodable, replacing_file
from rankwise.rows.column import Column
from rankwise.rows.frames import check_present
from rankwise.rows.series import column_of_series

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
# The endings of tables that can be written.
TABLE_SUFFIXES = (".csv", ".tsv", *_PARQUET)
_INDEX_OF_FRAME = re.compile(r"__index_level_\d+__")
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}


def open_columns(path: Path, labels: list[str]) -> tuple[list[str], int, Callable[[str], Column]]:
    """The names of the columns, the number of rows, and what reads one column, whatever it holds.

    Of a Parquet file, one column at a time is in memory. `labels` are the columns that name things.
    """
    if path.suffix.lower() not in _PARQUET:
        table = without_empty_text(read_columns_of(path, None, labels))
        return table.column_names, table.num_rows, lambda name: _column_of(table, name)
    columns, n_rows = _parquet_shape(path)
    names = [name for name, _ in columns]
    return (
        names,
        n_rows,
        lambda name: _column_of(without_empty_text(read_columns_of(path, [name], [])), name),
    )


def open_table(path: Path, labels: list[str]) -> tuple[list[str], Callable[[list[str]], Any]]:
    """The names of the columns, and what reads at least some of them as an arrow table.

    `labels` are the columns of text files that name things.
    """
    if path.suffix.lower() in _PARQUET:
        return column_names(path), lambda names: read_columns_of(path, names, [])
    table = read_columns_of(path, None, labels)
    return table.column_names, lambda names: table


def column_names(path: Path) -> list[str]:
    """The names of the columns; of a text file, little more than its header is read."""
    return [name for name, _ in _columns_of(path)]


def columns_beside_numbers(path: Path) -> list[str]:
    """The columns that do not hold numbers or flags; of a text file, only its first rows are read."""
    from pyarrow import types

    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_null)
    return [name for name, kind in _columns_of(path) if not any(holds(kind) for holds in numbers)]


def _columns_of(path: Path) -> list[tuple[str, Any]]:
    """The name and the type of each column."""
    from pyarrow import csv

    if path.suffix.lower() in _PARQUET:
        return _parquet_shape(path)[0]
    with _text_stream(path) as stream:
        return [(one.name, one.type) for one in csv.open_csv(stream, parse_options=_parsing(path)).schema]


def write_table(table: Any, path: Path) -> None:
    """Write an arrow table as a Parquet or CSV file, by its name."""
    from pyarrow import csv, parquet

    with replacing_file(path) as beside:
        if path.suffix.lower() in _PARQUET:
            parquet.write_table(table, beside)
        else:
            csv.write_csv(table, beside, csv.WriteOptions(delimiter=_DELIMITERS[path.suffix.lower()]))


def check_table_name(path: Path) -> None:
    """Reject a name for a table to write that does not say how."""
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise ParameterError(f"{path}: the file name must end in .csv, .tsv or .parquet.")


def _column_of(table: Any, name: str) -> Column:
    import narwhals as nw

    return column_of_series(nw.from_native(table.column(name), series_only=True))


def read_columns_of(path: Path, columns: list[str] | None, labels: list[str]) -> Any:
    """An arrow table; only the given columns of a Parquet file. `labels` are the columns that name things."""
    if path.suffix.lower() in _PARQUET:
        return _read_parquet(path, columns)
    return _read_text(path, labels)


def _parquet_shape(path: Path) -> tuple[list[tuple[str, Any]], int]:
    """The name and type of each column, and the number of rows."""
    import pyarrow as pa
    from pyarrow import parquet

    with path.open("rb") as file:
        try:
            found = parquet.ParquetFile(file)
            columns = [(one.name, one.type) for one in found.schema_arrow]
            named = [column for column in columns if not _INDEX_OF_FRAME.fullmatch(column[0])]
            return named, found.metadata.num_rows
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _not_parquet(path, error) from error


def _not_parquet(path: Path, error: Exception) -> FileFormatError:
    reason = str(error).strip().rstrip(".")
    return FileFormatError(path, f"is not a readable Parquet file: {reason}.")


def _read_parquet(path: Path, columns: list[str] | None) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    with path.open("rb") as file, blaming(path):
        try:
            names = parquet.read_schema(file).names
            # pandas stores the index of a frame, unless it is 0, 1, ..., under a name like this.
            wanted = [name for name in names if not _INDEX_OF_FRAME.fullmatch(name)]
            if columns is not None:
                check_present(names, columns)  # here, because the table will have no other columns
                asked = set(columns)
                wanted = [name for name in names if name in asked]
            table = parquet.read_table(file, columns=wanted)
            table.validate(full=True)
            return table
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise _not_parquet(path, error) from error


def _parsing(path: Path) -> Any:
    """How pyarrow takes a text file apart."""
    from pyarrow import csv

    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSIONS:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in _DELIMITERS:
        raise ParameterError(
            f"{path}: the file name must end in .csv, .tsv (or .csv.gz and the like) or .parquet."
        )
    return csv.ParseOptions(delimiter=_DELIMITERS[suffixes[-1]])


@contextmanager
def _text_stream(path: Path) -> Iterator[Any]:
    """The text of a file, decompressed; what pyarrow finds wrong with it is an error that names the line."""
    import pyarrow as pa

    compression = _COMPRESSIONS.get(path.suffix.lower())
    try:
        # Opened here, because pyarrow accepts only UTF-8 file names.
        with (
            encodable(path),
            path.open("rb") as file,
            pa.input_stream(file, compression=compression) as stream,
        ):
            yield stream
    except UnicodeDecodeError:
        raise FileFormatError(path, "the header is not UTF-8 text.", 1) from None
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise  # the usual system error, such as that of a missing file
        row = re.search(r"Row #(\d+): ", str(error))
        message = str(error)[row.end() :] if row else str(error)
        if "Empty CSV file" in message:
            message = "the file is empty; expected a header line and rows"
        message = message.strip().rstrip(".")
        raise FileFormatError(path, f"{message}.", int(row[1]) if row else None) from error


def _read_text(path: Path, labels: list[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    parsing = _parsing(path)
    with _text_stream(path) as stream:
        # A single thread, so that errors can name the line.
        table = csv.read_csv(
            stream,
            read_options=csv.ReadOptions(use_threads=False),
            parse_options=parsing,
            convert_options=csv.ConvertOptions(column_types=dict.fromkeys(labels, pa.string())),
        )
        names = table.column_names
    for i, name in enumerate(names):
        if name in labels:
            table = table.set_column(i, name, _label_column(table.column(i)))
    return table


def without_empty_text(table: Any) -> Any:
    """The same table with null for empty text, which is how CSV writes a missing value."""
    import pyarrow as pa
    from pyarrow import compute

    columns = [
        compute.if_else(compute.equal(column, ""), None, column)
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)  # at once: setting a column copies the list of all


def _label_column(text: Any) -> Any:
    """Labels as text, null where empty; as integers only if no leading zero is lost."""
    import pyarrow as pa
    from pyarrow import compute

    text = compute.if_else(compute.equal(text, ""), None, text)
    try:
        whole = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return text
    return whole if whole.cast(pa.string()).equals(text) else text
