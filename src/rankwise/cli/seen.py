"""A warning where a model is measured on rows that it was trained on, which flatters it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankwise.cli.data_files import files_to_read
from rankwise.errors import warn_caller

if TYPE_CHECKING:
    from rankwise.model.history import History
    from rankwise.model.model import Model
    from rankwise.rows.ranking import RankingData


def warn_of_seen_rows(
    model: Model, path: Path, data: RankingData, *, name: str = "the model", history: History | None = None
) -> None:
    """Say so if a model was trained on these files, or on some of the queries in them.

    Parameters
    ----------
    model : Model
    path : Path
        The files that the data was read from.
    data : RankingData
    name : str
        What to call the model.
    history : History, optional
        Of a model that is not saved yet.
    """
    from rankwise.model.history import File
    from rankwise.model.seen_rows import count_learned_queries, is_trained_on

    history = model.origin.history or () if history is None else history
    files = [File.of(file) for file in files_to_read(path)]
    count = data.n_queries if is_trained_on(history, files) else count_learned_queries(model, data)
    if count:
        which = "these rows" if count == data.n_queries else f"{count:,} of these {data.n_queries:,} queries"
        warn_caller(
            f"{path}: {name} was trained on {which}, so its results on them say little about new queries."
        )
