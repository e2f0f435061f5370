"""``rankwise split``: training and test rows that share no query."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.data_files import data_files, is_table, read_data
from rankwise.cli.paths import Output
from rankwise.cli.screen import show_text
from rankwise.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankwise.rows.column import Column
    from rankwise.selection.splitting import RowSplit

TEXT_SUFFIXES = (".txt", ".letor", ".dat")


def run(
    data: options.Data,
    training: Annotated[
        Path,
        typer.Argument(
            metavar="TRAIN",
            help="The training rows to write: a table if DATA is one, otherwise LETOR text.",
            show_default=False,
        ),
        Output(),
    ],
    test: Annotated[
        Path, typer.Argument(metavar="TEST", help="The test rows to write.", show_default=False), Output()
    ],
    *,
    fraction: Annotated[float, typer.Option(help="The share of the rows that go to TEST.")] = 0.25,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that says when a row was seen: the queries that were first seen last become the "
            "test, and rows of training queries from that time on are left out.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the text of the query, if --qid is an id: queries whose texts differ "
            "only in case and spaces stay on one side.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed for drawing the test queries.")] = 0,
    row_options: options.RowOptions,
) -> None:
    """Split judged rows into training and test rows, keeping queries whole."""
    import rankwise
    from rankwise.preferences.queries import group_rows
    from rankwise.selection.splitting import split_rows

    how, files = row_options.how(), data_files(data)
    if not all(map(is_table, files)):
        if time is not None or text is not None:
            raise ParameterError("--time and --text name columns of a table.")
        rows = read_data(data, how)
        _check_names((training, test), TEXT_SUFFIXES)
        sides = split_rows(rows.queries, fraction, random_state=seed)
        rankwise.save_letor(rows.select(sides.training), training)
        rankwise.save_letor(rows.select(sides.test), test)
        _say(sides, training, test)
        return
    from rankwise.readers.arrow_tables import TABLE_SUFFIXES, open_columns, read_columns_of, write_table
    from rankwise.rows.frames import check_present

    if len(files) > 1 or how.qid_column is None:
        raise ParameterError("split takes one table, with the column of its queries, --qid.")
    _check_names((training, test), TABLE_SUFFIXES)
    query = how.qid_column
    named = [name for name in (query, how.doc) if name]
    names, n_rows, column = open_columns(files[0], named)
    check_present(names, [name for name in (query, time, text) if name is not None])
    queries = group_rows(_complete(column(query), query), n_rows)
    more: dict[str, Any] = {"texts": None if text is None else _complete(column(text), text)}
    more["times"] = None if time is None else _times(column(time), time)
    sides = split_rows(queries, fraction, random_state=seed, **more)
    table = read_columns_of(files[0], None, named)
    write_table(table.filter(sides.training), training)
    write_table(table.filter(sides.test), test)
    _say(sides, training, test)


def _complete(column: Column, name: str) -> Any:
    missing = column.missing()
    if missing.any():
        raise DataError(
            f"Column {name!r} has a missing value in row {int(missing.argmax())}; 'rankwise audit --fix' "
            "drops rows without a query."
        )
    return column.values


def _times(column: Column, name: str) -> Any:
    """Dates or numbers, as numbers in their order."""
    import numpy as np

    values = _complete(column, name)
    if values.dtype.kind == "O":
        from rankwise.types import Reading

        values = column.read(Reading.DATE, name)
    return values.astype(np.int64 if values.dtype.kind == "M" else np.float64).astype(np.float64)


def _check_names(paths: tuple[Path, ...], suffixes: tuple[str, ...]) -> None:
    for path in paths:
        if path.suffix.lower() not in suffixes:
            raise ParameterError(f"{path}: the file name must end in one of {', '.join(suffixes)}.")


def _say(sides: RowSplit, training: Path, test: Path) -> None:
    n_training, n_test = int(sides.training.sum()), int(sides.test.sum())
    n_neither = len(sides.training) - n_training - n_test
    left_out = f"; {n_neither:,} later rows of training queries are left out" if n_neither else ""
    show_text([f"{n_training:,} rows written to {training}, {n_test:,} to {test}{left_out}."])
