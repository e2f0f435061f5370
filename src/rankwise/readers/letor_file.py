"""LETOR text while it is read: blocks of lines go to the kernel, and rows come back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwise._native import LetorReader
from rankwise.config import resolve_threads
from rankwise.errors import FileFormatError, ParameterError, warn_caller
from rankwise.files import as_paths
from rankwise.preferences.queries import label_array, shared_query
from rankwise.readers.group_files import find_group_sizes, read_group_sizes
from rankwise.readers.text import (
    MAX_LINE_BYTES,
    LineTooLongError,
    OnBytesRead,
    TextBlock,
    decoded,
    line_blocks,
)
from rankwise.rows.storage import csr_around, is_dense
from rankwise.types import AnyArray, Auto, Floats, Ints, Matrix
from rankwise.validation import check_callable, check_count, check_flag_or_auto

_MAX_FEATURES = 2**63 - 1


@dataclass(frozen=True)
class LetorRows:
    """Rows as returned by the kernel; row i has the entries ``row_ends[i - 1]:row_ends[i]``."""

    labels: Floats
    queries: Ints | None
    row_ends: Ints
    indices: AnyArray
    values: AnyArray
    docs: bytes | None
    comments: bytes | None


class LetorFile:
    """Text being read from one file or several: take rows after each block, query the totals at the end."""

    def __init__(
        self,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        dtype: str = "float64",
        zero_based: bool | Auto = "auto",
        n_features: int | None = None,
    ) -> None:
        zero_based = check_flag_or_auto("zero_based", zero_based)
        is_name = isinstance(dtype, str | type | np.dtype)
        if not is_name or dtype not in ("float64", "float32", np.float64, np.float32):
            raise ParameterError(f"The 'dtype' parameter must be 'float64' or 'float32'; got {dtype!r}.")
        if n_features is not None:
            n_features = check_count("n_features", n_features)
        self._paths = as_paths(path)
        # Of each file: the number of rows, and of query labels, up to its end.
        self._ends: list[tuple[int, int]] = []
        self._zero_based = zero_based
        self._n_features = n_features
        self._n_threads = resolve_threads()
        limit = _MAX_FEATURES if n_features is None else n_features
        self._reader = LetorReader(
            min_index=1 if zero_based is False else 0,
            max_index=limit - 1 if zero_based is True or n_features is None else limit,
            single_precision=bool(np.dtype(dtype) == np.float32),
        )

    @property
    def source(self) -> str:
        """What errors call the text if no single file is to blame."""
        more = len(self._paths) - 1
        return f"{self._paths[0]}{f' and {more} more' if more else ''}"

    def blocks(self, progress: OnBytesRead | None = None) -> Iterator[None]:
        """Read the files, pausing after each block."""
        progress = check_callable("progress", progress)
        sizes = [path.stat().st_size for path in self._paths]
        for number, path in enumerate(self._paths):
            yield from self._blocks_of(path, progress and _shifted(progress, sum(sizes[:number]), sum(sizes)))
            self._ends.append((self._reader.n_rows, len(self._reader.query_labels())))

    def _blocks_of(self, path: Path, progress: OnBytesRead | None) -> Iterator[None]:
        n_rows, n_lines = self._reader.n_rows, self._reader.n_lines
        try:
            for block in line_blocks(path, progress):
                self._feed(block, path, n_lines)
                yield
        except LineTooLongError:
            message = f"the line is longer than {MAX_LINE_BYTES:,} bytes; expected one row per line."
            raise FileFormatError(path, message, self._reader.n_lines - n_lines + 1) from None
        if self._reader.n_rows == n_rows:
            raise FileFormatError(path, "the file contains no rows.")

    def _feed(self, block: TextBlock, path: Path, n_lines: int) -> None:
        """Parse a block of a file that begins after `n_lines` lines of the others."""
        lines_before = self._reader.n_lines
        error = self._reader.feed(block.text, self._n_threads)
        if error is not None:
            line, message = error
            if not block.complete and line == lines_before + bytes(block.text).count(b"\n"):
                message += " The last line does not end with a newline: is the file truncated?"
            raise FileFormatError(path, message, line - n_lines)

    def check_queries_differ(self, queries: Ints | None) -> None:
        """Reject a query with rows in two files, given the query number of each row."""
        start, known = 0, 0
        for path, (end, n_labels) in zip(self._paths, self._ends, strict=True):
            # Queries are numbered by first appearance, so those of earlier files have lower numbers.
            seen = None if queries is None or known == 0 else queries[start:end] < known
            if queries is not None and seen is not None and seen.any():
                query = int(queries[start:end][seen.argmax()])
                first = next(p for p, (_, n) in zip(self._paths, self._ends, strict=True) if query < n)
                raise shared_query(self.query_labels()[query].item(), str(first), str(path))
            start, known = end, n_labels

    @property
    def n_rows(self) -> int:
        """The number of rows read so far."""
        return int(self._reader.n_rows)

    def take(self) -> LetorRows:
        """The rows read since the last call."""
        return LetorRows(*self._reader.take())

    def first_index(self) -> int:
        """The index of the first feature in the file, 0 or 1."""
        if self._zero_based == "auto":
            return 0 if self._reader.lowest_index == 0 else 1
        return 0 if self._zero_based else 1

    def n_features(self) -> int:
        found = max(self._reader.highest_index + 1 - self.first_index(), 0)
        if self._n_features is None:
            return found
        if found > self._n_features:
            message = f"features are numbered from 0 to {found - 1}, but n_features is {self._n_features}."
            raise FileFormatError(self.source, message)
        return self._n_features

    def check_width(self, values: AnyArray) -> None:
        """Question rows that have fewer features than expected, given all values: did they end with zeros?

        Where zeros are written out, the features that are missing are not zero but others.
        """
        found = max(self._reader.highest_index + 1 - self.first_index(), 0)
        expected = found if self._n_features is None else self._n_features
        if not 0 < found < expected or len(values) < self.n_rows * found:
            return
        message = f"every row has {found} features, but {expected} are expected"
        if not values.all():
            raise FileFormatError(self.source, f"{message}, and zeros are not left out.")
        last = "the last is" if expected - found == 1 else f"the last {expected - found} are"
        warn_caller(f"{self.source}: {message}; {last} taken to be 0.")

    def group_sizes(self) -> list[int] | None:
        """The sizes of the queries of rows without qid, if there is a file of them next to the text."""
        beside = next(((path, sizes) for path in self._paths if (sizes := find_group_sizes(path))), None)
        if beside is None:
            return None
        text, sizes = beside
        if len(self._paths) > 1:
            message = "several files whose queries have sizes but no labels cannot be joined."
            raise FileFormatError(sizes, message)
        return read_group_sizes(sizes, text, self.n_rows)

    def query_labels(self) -> AnyArray:
        """The query labels by code: int64 if all are integers as Python formats them, otherwise text."""
        labels = [decoded(label) for label in self._reader.query_labels()]
        try:
            numbers = np.array([int(label) for label in labels], dtype=np.int64)
        except (ValueError, OverflowError):
            return label_array(labels)
        canonical = all(str(number) == label for number, label in zip(numbers.tolist(), labels, strict=True))
        return numbers if canonical else label_array(labels)


def _shifted(progress: OnBytesRead, before: int, total: int) -> OnBytesRead:
    """Progress in one of several files as progress in all of them."""
    return lambda done, _: progress(before + done, total)


def text_column(lines: bytes | None) -> AnyArray | None:
    """One string per row, from newline-terminated lines."""
    if lines is None:
        return None
    texts = decoded(lines).split("\n")[:-1]
    column = np.empty(len(texts), dtype=object)
    column[:] = texts
    return column


def matrix_of(rows: LetorRows, n_columns: int, first_index: int, dense: bool | Auto) -> Matrix:
    shape = (len(rows.labels), n_columns)
    n_entries = len(rows.values)
    dense = is_dense(dense, n_entries, *shape)
    if dense and n_entries == shape[0] * shape[1]:
        return rows.values.reshape(shape)  # every row is full, with ascending indices
    indices: Any = rows.indices
    indices -= first_index
    indptr = np.zeros(shape[0] + 1, dtype=indices.dtype)
    indptr[1:] = rows.row_ends
    X = csr_around(rows.values, indices, indptr, shape)
    return X.toarray() if dense else X
