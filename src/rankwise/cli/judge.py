"""``rankwise judge``: a page on which every judgment changes the ranking at once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise.cli import learner_options, options
from rankwise.cli.data_files import ReadOptions, data_files, is_table, read_data
from rankwise.cli.outputs import check_file, check_folder
from rankwise.cli.paths import Input, Output
from rankwise.errors import ParameterError
from rankwise.rendering import printable

if TYPE_CHECKING:
    from rankwise.judging.starting import Start
    from rankwise.model.model import Model
    from rankwise.rows.ranking import RankingData

HIGHEST_GRADE = 9


def run(
    data: options.Data,
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL",
            help="A RankRLS model with moments, from 'train', to start from; without one, the first "
            "judgments train the first model.",
            show_default=False,
        ),
        Input(),
    ] = None,
    *,
    journal: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Judgments are appended to this file; a later session continues from it.",
        ),
        Output(check_file),
    ] = Path("journal.jsonl"),
    show: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="The columns of the table that raters see.", show_default=False),
    ] = None,
    rater: Annotated[
        str | None,
        typer.Option(help="The name of the rater; the user name by default.", show_default=False),
    ] = None,
    grades: Annotated[
        int, typer.Option(min=1, max=HIGHEST_GRADE, help="The highest grade; the lowest is 0.")
    ] = 4,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="The regularization strength, without MODEL; chosen from the data by default.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write judgments.csv, ratings.csv and pairs.csv from the journal to this folder, and exit.",
            show_default=False,
        ),
        Output(check_folder, lambda folder: _exported(folder)),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="The port of the page; any free one by default.", show_default=False
        ),
    ] = None,
    columns: learner_options.Columns = None,
    rows: options.FeatureOptions,
) -> None:
    """Judge documents or pairs on a local page, which shows the refitted ranking after every judgment."""
    if export is not None:
        _export(journal, export)
        return
    from rankwise.cli.column_names import named_as_in
    from rankwise.cli.reading import load_model
    from rankwise.judging.journal import Journal
    from rankwise.judging.server import JudgingServer
    from rankwise.judging.session import Session

    how, known = rows.how(labelled=False), None if model is None else load_model(model)
    if known is not None:
        how = named_as_in([known], data, how)
    start = _start(data, known, how, rows.columns(), columns, alpha, _shown(data, show, how))
    with Journal.resume(journal) as kept:
        session = Session(start, kept, rater or _user(), range(grades + 1))
        with JudgingServer(session, port or 0) as server:
            said = f" after entry {len(kept.entries)}" if kept.entries else ""
            typer.echo(printable(f"Judging {data}{said}; the journal is {journal}."))
            typer.echo(f"Open {server.address} in a browser; Ctrl-C ends the session.")
            with suppress(KeyboardInterrupt):  # which is how sessions end
                server.serve()


def _start(
    path: Path,
    known: Model | None,
    how: ReadOptions,
    features: list[str] | None,
    columns: str | None,
    alpha: float | None,
    shown: dict[str, list[str]],
) -> Start:
    from rankwise.cli.learners import parse_columns
    from rankwise.cli.reading import read_for_model
    from rankwise.judging.starting import start_with_model, start_without_model
    from rankwise.validation import check_number

    if known is not None:
        if alpha is not None or columns is not None:
            given = "--alpha" if columns is None else "--columns"
            raise ParameterError(f"{given} is for sessions without MODEL; this model has its own.")
        how = replace(how, labelled=_has_labels(path, how))
        return start_with_model(read_for_model(path, how, known), known, shown=shown)
    encode = columns is not None or all(map(is_table, data_files(path)))
    data = read_data(path, replace(how, as_table=encode), features=features)
    if alpha is not None:
        alpha = check_number("alpha", alpha, minimum=0.0, exclusive=True)
    return start_without_model(data, parse_columns(columns or "auto"), alpha, shown=shown)


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container, a user may be a number only
        raise ParameterError("The user of this process has no name; name the rater with --rater.") from None


def _has_labels(path: Path, how: ReadOptions) -> bool:
    """Whether there is a label column, in which a model may have learned these rows."""
    from rankwise.readers.arrow_tables import open_columns

    tables = [file for file in data_files(path) if is_table(file)]
    return all(how.label_column in open_columns(file, [])[0] for file in tables)


def _shown(path: Path, show: str | None, how: ReadOptions) -> dict[str, list[str]]:
    """The values of the columns that raters see, as a person would write them."""
    from rankwise.cli.reading import split_list

    names = split_list(show)
    if names is None:
        return {}
    if not all(map(is_table, data_files(path))):
        raise ParameterError("--show needs a table; DATA has no columns to show.")
    data: RankingData = read_data(
        path, replace(how, labelled=False, as_table=True, scale=False, exclude=None), features=names
    )
    return {name: data.X.columns[name].shown() for name in names}


def _exported(folder: Path) -> list[Path]:
    from rankwise.judging.saving import TABLES

    return [folder / name for name in TABLES]


def _export(journal: Path, folder: Path) -> None:
    from rankwise.judging.journal import read_journal
    from rankwise.judging.saving import TABLES, write_table

    entries = read_journal(journal)
    folder.mkdir(exist_ok=True)
    for name in TABLES:
        n_rows = write_table(name, folder / name, entries)
        typer.echo(printable(f"{folder / name}: {n_rows:,} rows"))
