"""Many score vectors of the same rows, from any source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankwise import _native
from rankwise.threads import resolve_threads
from rankwise.types import Floats, Ints


class ScoreVectors(Protocol):
    """Score vectors in the caller's row order, each ordering the rows much like the previous one."""

    def tables(self) -> Iterable[Floats]:
        """The vectors, one per row, several at a time; each table is consumed before the next is created."""
        ...

    def count_pairs(self, offsets: Ints, level: Ints, column: Ints) -> Iterable[Ints]:
        """Per query: discordant pairs, pairs with tied scores, and pairs with tied scores and labels.

        Several vectors at a time, shape (3, vectors, queries).

        Parameters
        ----------
        offsets : Ints
            Query q holds the rows ``offsets[q]:offsets[q + 1]``, by descending label.
        level : Ints
            The rank in its query, from 0, of the first row with the label of each row.
        column : Ints
            The caller's row number of each row.
        """
        ...


@dataclass(frozen=True)
class ScoreTable:
    """Existing score vectors, as the rows of a table in C order."""

    scores: Floats

    def tables(self) -> Iterator[Floats]:
        yield self.scores

    def count_pairs(self, offsets: Ints, level: Ints, column: Ints) -> Iterator[Ints]:
        counts = np.empty((3, len(self.scores), len(offsets) - 1), dtype=np.int64)
        _native.count_nearby_pairs(offsets, level, column, self.scores, counts, resolve_threads())
        yield counts
