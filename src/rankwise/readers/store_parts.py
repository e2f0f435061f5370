"""A data set as a folder of stores, one per part, for processes that each read their own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from rankwise.errors import FileFormatError
from rankwise.files import replacing_folder
from rankwise.readers.manifest import check_is_store
from rankwise.readers.store import save_store
from rankwise.rows.ranking import RankingData
from rankwise.types import Ints
from rankwise.validation import check_count


def save_parts(data: RankingData, path: str | os.PathLike[str], n_parts: int) -> None:
    """Write stores ``part-0000.store``, ... of whole queries with about equally many rows.

    An existing folder of such stores is replaced once the new one is complete. Rows of one global ranking are
    divided as they come. Memory is that of one part.

    Parameters
    ----------
    data : RankingData
    path : path
        The folder to write.
    n_parts : int
        The number of stores; fewer if there are fewer queries.
    """
    with replacing_folder(path, check=_check_is_parts) as folder:
        for number, rows in enumerate(_divided(data, check_count("n_parts", n_parts))):
            save_store(data.select(rows), folder / f"part-{number:04d}.store")


def _divided(data: RankingData, n_parts: int) -> list[Ints]:
    """The rows of each part, in ascending order."""
    if data.queries.labels is None:
        return np.array_split(np.arange(data.n_rows), min(n_parts, data.n_rows))
    # A query belongs to the part in which its middle row would be.
    middle = (data.queries.offsets[:-1] + data.queries.offsets[1:]) / 2.0
    part = np.minimum((middle * n_parts / data.n_rows).astype(np.int64), n_parts - 1)
    of_row = part[data.queries.query_of_row()]
    return [np.flatnonzero(of_row == number) for number in np.unique(part)]


def _check_is_parts(folder: Path) -> None:
    for entry in folder.iterdir():
        if not (entry.is_dir() and entry.match("part-*.store")):
            message = f"the folder contains {entry.name}, which is not a part; refusing to overwrite it."
            raise FileFormatError(folder, message)
        check_is_store(entry)
