"""What commands that write models add to their cards: the command, its data, results and a note."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.data_files import ReadOptions, data_files, files_to_read, is_table

if TYPE_CHECKING:
    from rankwise.dask import DistributedData
    from rankwise.metrics import Evaluation
    from rankwise.model.history import UsedRows
    from rankwise.rows.ranking import RankingData

#: The arguments of the command that runs, without those of all commands.
ARGUMENTS: ContextVar[Sequence[str]] = ContextVar("ARGUMENTS", default=())
CARD = "Model card"


@dataclass(frozen=True)
class CardOptions:
    """What else the card of a model says."""

    note: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="A note for the model card, which 'info' shows.",
            rich_help_panel=CARD,
            show_default=False,
        ),
    ] = None
    no_date: Annotated[
        bool,
        typer.Option(
            "--no-date",
            help="Leave the date out of the card, so that the same command writes the same file.",
            rich_help_panel=CARD,
        ),
    ] = False


def command_line() -> str:
    """The command that runs, as it can be typed."""
    return shlex.join(["rankwise", *ARGUMENTS.get()])


def used_rows(
    part: str,
    path: Path | None,
    data: RankingData | DistributedData | None = None,
    how: ReadOptions | None = None,
) -> list[UsedRows]:
    """What a card says of rows in files, with their checksums; nothing without files."""
    from rankwise.model.history import File, UsedRows

    if path is None:
        return []
    files = tuple(map(File.of, files_to_read(path)))
    if data is None:
        return [UsedRows(part, files=files)]
    n_queries = data.n_queries if data.has_queries else None
    columns: dict[str, Any] = {}
    if how is not None and any(map(is_table, data_files(path))):
        columns = {"label": how.label_column if how.labelled else None, "qid": how.qid_column}
    return [UsedRows(part, data.n_rows, n_queries, **columns, files=files)]


@contextmanager
def saving(
    ranker: Any, path: Path, card: CardOptions, rows: Iterable[UsedRows]
) -> Iterator[dict[str, Evaluation]]:
    """Save a model with its card when the block ends, also by an error; the block adds the results."""
    from rankwise.model.history import without_dates
    from rankwise.model.models import save_model

    found: dict[str, Evaluation] = {}
    try:
        yield found
    finally:
        *before, step = ranker.model_.documented(note=card.note, results=found)
        step = replace(step.with_rows(*rows), command=command_line())
        save_model(ranker.model_, path, without_dates((*before, step)) if card.no_date else (*before, step))
