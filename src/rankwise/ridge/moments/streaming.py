"""Moments of text that may be larger than memory."""

from __future__ import annotations

import os
from pathlib import Path

from rankwise.errors import FileFormatError
from rankwise.readers.letor_batches import letor_batches
from rankwise.ridge.moments.combining import AlreadyCompleteError, AlreadyLearnedError
from rankwise.ridge.moments.moments import Moments
from rankwise.types import Auto


def moments_of_text(
    path: str | os.PathLike[str],
    ties: str,
    weighting: str,
    n_features: int | None,
    zero_based: bool | Auto,
) -> Moments:
    """`Moments.of_text`: only the last query of a batch may go on in the next, and stays open."""
    total: Moments | None = None
    for batch in letor_batches(path, n_features=n_features, zero_based=zero_based):
        if batch.qid is None:
            raise FileFormatError(Path(path), "the rows have no qid; read them with load_letor instead.")
        first, last = batch.qid[0], batch.qid[-1]
        part = Moments.of(batch, ties=ties, weighting=weighting, open_queries={first, last})
        try:
            total = (part if total is None else total + part).close(leave_open=[last])
        except (AlreadyLearnedError, AlreadyCompleteError):
            raise FileFormatError(
                Path(path), "the rows of a query are not contiguous; convert the text to a store first."
            ) from None
    assert total is not None
    return total.close()
