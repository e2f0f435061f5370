"""Writing LETOR/SVMlight text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwise._native import format_entries
from rankwise.config import resolve_threads
from rankwise.errors import DataError
from rankwise.files import replacing_file
from rankwise.readers.text import create_text
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray, Matrix
from rankwise.validation import check_flag, check_kind

_ENTRIES_PER_BLOCK = 1 << 20
_MAX_QUERY_BYTES = 1000
# What ends a word for the reader; Python would split words at other characters, too.
_ENDS_WORD = re.compile(r"[ \t\n\r\v\f#]")
# Python decodes invalid bytes to these, and UTF-8 cannot encode them.
_SURROGATES = re.compile("[\ud800-\udfff]")


def save_letor(
    data: RankingData,
    path: str | os.PathLike[str],
    *,
    zero_based: bool = False,
) -> None:
    """Write judged rows as LETOR/SVMlight text, compressed by extension (``.gz``, ``.xz``, ``.bz2``).

    Every number is written with the fewest digits that round-trip exactly. All entries of a dense X are
    written, and the stored entries of a sparse one. Comments are written unchanged; without comments,
    document labels are written as ``#docid = ...``. The format can store neither feature names, which are
    dropped, nor weights, which raise an error. Rows are written block by block, so data on disk need not fit
    in memory.

    Parameters
    ----------
    data : RankingData
        The rows to write.
    path : path
        An existing file is replaced once the new one is complete.
    zero_based : bool
        Whether the first feature has index 0 instead of 1.

    Examples
    --------
    >>> from rankwise import RankingData, save_letor
    >>> data = RankingData.from_arrays([[0.5, 1.0]], y=[2], qid=["q1"], docs=["d7"])
    >>> save_letor(data, "rows.txt")
    >>> open("rows.txt").read()
    '2 qid:q1 1:0.5 2:1 #docid = d7\\n'
    """
    data = check_kind("data", data, RankingData)
    first_index = 0 if check_flag("zero_based", zero_based) else 1
    if data.sample_weight is not None:
        raise DataError(
            "LETOR text cannot hold row weights; write a store (save_store), or a file of judgments "
            "beside the text (save_judgments)."
        )
    with replacing_file(path) as beside, create_text(beside) as file:
        for start, stop in _row_blocks(data.X):
            heads = _heads(data, start, stop)
            entries = _entries(data.X, start, stop, first_index)
            tails = _tails(data, start, stop)
            file.writelines(
                head.encode() + entry + tail.encode()
                for head, entry, tail in zip(heads, entries, tails, strict=True)
            )


def _row_blocks(X: Any) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about `_ENTRIES_PER_BLOCK` entries and at least one row each."""
    n_rows = X.shape[0]
    start = 0
    while start < n_rows:
        if isinstance(X, np.ndarray):
            stop = start + _ENTRIES_PER_BLOCK // max(1, X.shape[1])
        else:
            stop = int(np.searchsorted(X.indptr, X.indptr[start] + _ENTRIES_PER_BLOCK, side="right")) - 1
        stop = min(max(stop, start + 1), start + _ENTRIES_PER_BLOCK, n_rows)
        yield start, stop
        start = stop


def _heads(data: RankingData, start: int, stop: int) -> list[str]:
    labels = data.y[start:stop]
    finite = np.isfinite(labels)
    if not finite.all():
        row = int(finite.argmin())
        raise DataError(f"y is {labels[row]} in row {start + row}; LETOR text requires finite labels.")
    heads = [repr(label).removesuffix(".0") for label in labels.tolist()]
    if data.qid is None:
        return heads
    queries = _words("qid", data.qid[start:stop], start)
    for row, query in enumerate(queries, start):
        if (size := len(query.encode())) > _MAX_QUERY_BYTES:
            fault = f"a label of {size:,} bytes in row {row}; LETOR text allows {_MAX_QUERY_BYTES:,}"
            raise DataError(f"qid has {fault}.")
    return [f"{head} qid:{query}" for head, query in zip(heads, queries, strict=True)]


def _entries(X: Matrix, start: int, stop: int, first_index: int) -> list[bytes]:
    if isinstance(X, np.ndarray):
        n_rows, n_columns = stop - start, X.shape[1]
        indptr = np.arange(n_rows + 1) * n_columns
        indices, values = np.tile(np.arange(n_columns), n_rows), X[start:stop].ravel()
    else:
        indptr = X.indptr[start : stop + 1].astype(np.int64)
        indices = X.indices[indptr[0] : indptr[-1]].astype(np.int64)
        values = X.data[indptr[0] : indptr[-1]]
    finite = np.isfinite(values)
    if not finite.all():
        row = start + int(np.searchsorted(indptr - indptr[0], finite.argmin(), side="right")) - 1
        raise DataError(f"X has a non-finite value in row {row}, which LETOR text cannot represent.")
    text, ends = format_entries(indptr, indices, values, first_index, resolve_threads())
    return [text[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def _tails(data: RankingData, start: int, stop: int) -> list[str]:
    if data.comments is not None:
        comments = data.comments[start:stop].tolist()
        for row, comment in enumerate(comments, start):
            if "\n" in comment or _SURROGATES.search(comment):
                fault = "a line break" if "\n" in comment else "characters that UTF-8 cannot encode"
                raise DataError(f"The comment of row {row} has {fault}, which LETOR text does not allow.")
        return [f" # {comment}\n" if comment else "\n" for comment in comments]
    if data.docs is not None:
        docs = _words("docs", data.docs[start:stop], start, may_be_empty=True)
        return [f" #docid = {doc}\n" if doc else "\n" for doc in docs]
    return ["\n"] * (stop - start)


def _words(name: str, labels: AnyArray, start: int, *, may_be_empty: bool = False) -> list[str]:
    """Labels as single words that read back unchanged."""
    words = [str(label) for label in labels.tolist()]
    for row, word in enumerate(words, start):
        is_word = word != "" and not _ENDS_WORD.search(word) and not _SURROGATES.search(word)
        if not is_word and not (may_be_empty and word == ""):
            raise DataError(
                f"{name} is {word!r} in row {row}; LETOR text requires a word without spaces or '#', but a "
                "store (.store) does not."
            )
    return words
