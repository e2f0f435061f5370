"""Where parts come from; these functions run on workers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.cluster.data import RawPart
from rankwise.errors import DataError, FileFormatError
from rankwise.readers.group_files import find_group_sizes
from rankwise.readers.letor import load_letor
from rankwise.readers.store import open_store
from rankwise.rows.ranking import RankingData
from rankwise.types import Auto


def read_part(path: str, zero_based: bool | Auto, n_features: int | None) -> RawPart:
    """A store, which stays on disk, or LETOR text."""
    try:
        if Path(path).is_dir():
            return RawPart(open_store(path))
        sizes = find_group_sizes(Path(path))
        if sizes is not None:  # every part would number its queries from 0
            raise FileFormatError(sizes, "parts need query labels rather than sizes; see 'rankwise convert'.")
        return RawPart(load_letor(path, zero_based=zero_based, n_features=n_features))
    except OSError as error:
        raise FileFormatError(path, f"a worker could not read it: {error.strerror}.") from None


def frame_part(frame: Any, columns: Mapping[str, Any], weight: str | None) -> RawPart | None:
    """The rows of a frame; None if there are none."""
    if len(frame) == 0:
        return None
    if weight is None:
        return RawPart(RankingData.from_frame(frame, **columns))
    if weight not in frame.columns:
        raise DataError(f"The data has no column {weight!r} of weights.")
    rest = frame.drop(columns=[weight])
    return RawPart(RankingData.from_frame(rest, **columns), np.asarray(frame[weight], dtype=np.float64))


def array_part(X: Any, y: Any, qid: Any, weight: Any) -> RawPart | None:
    """The rows of a chunk; None if there are none."""
    if X.shape[0] == 0:
        return None
    checked = None if weight is None else np.asarray(weight, dtype=np.float64)
    return RawPart(RankingData.from_arrays(X, y, qid), checked)
