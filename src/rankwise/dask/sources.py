"""Where parts come from; these functions run on workers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwise.errors import FileFormatError
from rankwise.readers.group_files import find_group_sizes
from rankwise.readers.letor import load_letor
from rankwise.readers.store import open_store
from rankwise.rows.ranking import RankingData
from rankwise.types import Auto


def read_part(path: str, zero_based: bool | Auto, n_features: int | None) -> RankingData:
    """A store, which stays on disk, or LETOR text."""
    try:
        if Path(path).is_dir():
            return open_store(path)
        sizes = find_group_sizes(Path(path))
        if sizes is not None:  # every part would number its queries from 0
            raise FileFormatError(sizes, "parts need query labels rather than sizes; see 'rankwise convert'.")
        return load_letor(path, zero_based=zero_based, n_features=n_features)
    except OSError as error:
        raise FileFormatError(path, f"a worker could not read it: {error.strerror}.") from None


def frame_part(frame: Any, columns: Mapping[str, Any]) -> RankingData | None:
    """The rows of a frame; None if there are none."""
    return None if len(frame) == 0 else RankingData.from_frame(frame, **columns)


def array_part(X: Any, y: Any, qid: Any, sample_weight: Any) -> RankingData | None:
    """The rows of a chunk; None if there are none."""
    return None if X.shape[0] == 0 else RankingData.from_arrays(X, y, qid, sample_weight=sample_weight)
