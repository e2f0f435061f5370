"""LETOR text in batches of rows, in one pass and bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rankwise.errors import FileFormatError
from rankwise.preferences.queries import group_rows
from rankwise.readers.letor_file import LetorFile, matrix_of
from rankwise.readers.text import OnBytesRead
from rankwise.rows.ranking import RankingData
from rankwise.types import Auto

# Bytes of a dense batch: large compared with the sums formed of it, small compared with memory.
BATCH_BYTES = 1 << 26


def letor_batches(
    path: str | os.PathLike[str],
    *,
    zero_based: bool | Auto = "auto",
    n_features: int | None = None,
    progress: OnBytesRead | None = None,
) -> Iterator[RankingData]:
    """Yield the rows of a text file in batches, which may cut queries; the options are those of `load_letor`.

    If they are not set, the number of features and the index of the first are those of the first batch, and
    a later row that contradicts them is an error.
    """
    reader = LetorFile(path, zero_based=zero_based, n_features=n_features)
    found: tuple[int, int] | None = None
    n_taken = 0
    blocks, more = reader.blocks(progress), True
    while more:
        more = next(blocks, False) is None  # False once all blocks, each None, have been read
        n_new = reader.n_rows - n_taken
        if n_new == 0 or (more and 8 * n_new * max(1, reader.n_features()) < BATCH_BYTES):
            continue
        now = reader.n_features(), reader.first_index()
        found = now if found is None else found
        if now != found:
            raise FileFormatError(
                Path(path),
                f"the first rows have {found[0]} features, numbered from {found[1]}, but not all rows do; "
                f"set n_features and zero_based.",
            )
        n_taken, rows = reader.n_rows, reader.take()
        qid = None if rows.queries is None else reader.query_labels()[rows.queries]
        queries = group_rows(qid, len(rows.labels))
        yield RankingData(matrix_of(rows, *found, "auto"), rows.labels, queries, qid)
