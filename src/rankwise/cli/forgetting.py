"""Which queries ``rankwise update`` forgets: all of some data, or those that a file names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli.data_files import ReadOptions, files_to_read
from rankwise.cli.paths import Input
from rankwise.errors import DataError, ParameterError, warn_caller

if TYPE_CHECKING:
    from rankwise.model.model import Model
    from rankwise.rows.ranking import RankingData

FORGETTING = "Forgetting"
# So many names are listed in a message.
MOST_LISTED = 5


@dataclass(frozen=True)
class ForgetOptions:
    """What to forget before anything is learned."""

    forget: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Rows as they were learned, whose queries are forgotten before DATA is learned.",
            rich_help_panel=FORGETTING,
            show_default=False,
        ),
        Input(files_to_read),
    ] = None
    forget_queries: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Forget only the queries of --forget that this file names, one per line.",
            rich_help_panel=FORGETTING,
            show_default=False,
        ),
        Input(),
    ] = None
    forget_by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The names are values of this column of --forget, such as a user; queries with one of them "
            "in any row are forgotten.",
            rich_help_panel=FORGETTING,
            show_default=False,
        ),
    ] = None

    @property
    def is_asked(self) -> bool:
        """Whether anything is to be forgotten."""
        return (self.forget, self.forget_queries, self.forget_by) != (None, None, None)

    def rows(self, how: ReadOptions, known: Model) -> RankingData | None:
        """The rows to forget; None if nothing is."""
        from rankwise.cli.reading import read_for_model
        from rankwise.model.data_scores import scaled_like

        if self.forget is None:
            if self.forget_queries is not None or self.forget_by is not None:
                raise ParameterError(
                    "--forget-queries and --forget-by need --forget DATA, the rows as they were learned: a "
                    "model keeps sums over queries, and needs the rows of a query to subtract it."
                )
            return None
        if self.forget_by is not None and self.forget_queries is None:
            raise ParameterError("--forget-by needs --forget-queries FILE, the names to look for.")
        data = scaled_like(read_for_model(self.forget, how, known), known.features)
        if known.origin.n_queries is not None and data.qid is None:
            raise DataError(f"{self.forget}: the data has no queries, but the training data does.")
        if self.forget_queries is None:
            return data
        names = _names(self.forget_queries)
        found, queries = self._named(data, names)
        missing = sorted(names - found)
        shown = ", ".join(missing[:MOST_LISTED]) + (", ..." if len(missing) > MOST_LISTED else "")
        if not queries:
            raise DataError(f"{self.forget_queries}: none of these names is in {self.forget}: {shown}.")
        if missing:
            warn_caller(
                f"{self.forget_queries}: {len(missing):,} of {len(names):,} names are not in {self.forget}: "
                f"{shown}."
            )
        return data.select(queries=queries)

    def _named(self, data: RankingData, names: set[str]) -> tuple[set[str], list[Any]]:
        """Which of the names occur, and the labels of the queries that have them."""
        from rankwise.cli.rankers import columns_beside
        from rankwise.preferences.digests import label_text

        labels = data.queries.labels
        if labels is None:
            raise DataError(f"{self.forget}: the data has no queries to forget by name.")
        of_query = [label_text(label) for label in labels.tolist()]
        if self.forget_by is None:
            chosen = [name in names for name in of_query]
            return names.intersection(of_query), labels[chosen].tolist()
        columns = columns_beside(self.forget, self.forget_by, "--forget-by")
        if columns is None or len(columns) != 1:
            raise ParameterError(f"--forget-by expects one column; got {self.forget_by!r}.")
        (column,) = columns.values()
        values = column.shown()
        rows = [row for row, value in enumerate(values) if value in names]
        return names.intersection(values), labels[
            sorted(set(data.queries.query_of_row()[rows].tolist()))
        ].tolist()


def _names(path: Path) -> set[str]:
    """The lines of a file that are not empty."""
    from rankwise.readers.text import decoded, numbered_lines, open_text

    with open_text(path) as file:
        names = {decoded(line).removeprefix("\ufeff").strip() for _, line in numbered_lines(file, path)} - {
            ""
        }
    if not names:
        raise DataError(f"{path}: the file names nothing to forget.")
    return names
