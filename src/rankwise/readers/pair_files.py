"""Files of explicit preferences: ``preferred TAB other [TAB weight]``, rows from 0, as in CatBoost."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import FileFormatError, ParameterError, warn_caller
from rankwise.files import as_path, replacing_file
from rankwise.numerals import read_float
from rankwise.preferences.pairs import PreferencePairs
from rankwise.readers.named_pairs import HEADER, named_preferences, write_named_pairs
from rankwise.readers.named_rows import header_of
from rankwise.readers.text import create_text, numbered_lines, open_text
from rankwise.rows.ranking import RankingData
from rankwise.validation import check_count, check_kind, check_pairs

_BETWEEN = rb"(?:\s*,\s*|\s+)"
_LINE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(\d{1,18})%b(\d{1,18})(?:%b([^\s,]+))?\s*" % (_BETWEEN, _BETWEEN))


def load_pairs(
    path: str | PathLike[str], *, n_rows: int | None = None, data: RankingData | None = None
) -> PreferencePairs:
    """Read preferences, one per line: the preferred row, the other row and, on every line or none, a weight.

    Rows are numbered from 0. If the first line is a header with the column ``qid`` (besides ``preferred``,
    ``other`` and optionally ``weight``), the lines name documents of `data` instead. Lines that compare a row
    with itself, as found in some logs, are skipped with a warning.

    Parameters
    ----------
    path : path
        Fields are separated by commas, tabs or spaces; ``.gz``, ``.bz2`` and ``.xz`` are decompressed.
    n_rows : int, optional
        The number of rows of the data; a line that refers to any other row is an error.
    data : RankingData, optional
        The rows to which the file refers, with their query and document labels.

    Returns
    -------
    PreferencePairs
        ``(pairs, weight)``, which can be passed to `fit_preferences`; weight is None if no line has one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise import RankingData, load_pairs
    >>> _ = Path("rows.pairs").write_text("0\\t1\\t2.0\\n2\\t1\\t0.5\\n")
    >>> load_pairs("rows.pairs", n_rows=3)
    PreferencePairs(pairs=array([[0, 1],
           [2, 1]]), weight=array([2. , 0.5]))
    >>> data = RankingData.from_arrays([[1.0], [2.0]], y=[0, 0], qid=["shoes", "shoes"], docs=["d7", "d9"])
    >>> _ = Path("clicks.csv").write_text("qid,preferred,other\\nshoes,d9,d7\\n")
    >>> load_pairs("clicks.csv", data=data).pairs
    array([[1, 0]])
    """
    path, data = as_path(path), check_kind("data", data, RankingData, optional=True)
    n_rows = None if n_rows is None else check_count("n_rows", n_rows, minimum=0)
    rows, weights = array("q"), array("d")
    with open_text(path) as file:
        for number, preferred, other, written in _preferences(file, path, n_rows, data):
            if rows and (written is None) != (not weights):
                raise FileFormatError(path, "either every line must have a weight or none", number)
            rows.extend((preferred, other))
            weights.extend(() if written is None else (_weight(written, path, number),))
    pairs = np.frombuffer(rows, dtype=np.int64).reshape(-1, 2)
    differ = pairs[:, 0] != pairs[:, 1]
    if not differ.any():
        raise FileFormatError(path, "the file contains no preferences")
    if not differ.all():
        first, n_same = int(pairs[~differ][0, 0]), int((~differ).sum())
        message = f"{n_same} of {len(pairs)} preferences compare a row with itself (the first is row {first})"
        warn_caller(f"{path}: {message} and are ignored.")
    return PreferencePairs(
        pairs[differ], np.frombuffer(weights, dtype=np.float64)[differ] if weights else None
    )


def _preferences(
    file: IO[bytes], path: Path, n_rows: int | None, data: RankingData | None
) -> Iterator[tuple[int, int, int, str | None]]:
    """The line number, preferred row, other row and unparsed weight of each line."""
    lines = ((number, line) for number, line in numbered_lines(file, path) if not line.isspace())
    first = next(lines, None)
    if first is None:
        return
    header = header_of(first[1], {"preferred", "other"}, set(HEADER))
    n_rows = n_rows if data is None else data.n_rows
    if header is None:
        yield from _numbered(chain([first], lines), path, n_rows)
    elif tuple(header[1]) in (HEADER[1:3], HEADER[1:4]):
        yield from _numbered(lines, path, n_rows)
    elif "qid" in header[1] and data is not None:
        yield from named_preferences(lines, *header, data, path)
    else:
        needed = "data with those documents" if "qid" in header[1] else "a qid column"
        raise FileFormatError(path, f"the header {', '.join(header[1])} requires {needed}", first[0])


def _numbered(
    lines: Iterable[tuple[int, bytes]], path: Path, n_rows: int | None
) -> Iterator[tuple[int, int, int, str | None]]:
    for number, line in lines:
        fields = _LINE.fullmatch(line)
        if fields is None:
            shown = line[:60].decode(errors="replace").strip()
            expected = "expected 'preferred other [weight]' with row numbers from 0"
            raise FileFormatError(path, f"{expected}; got {shown!r}{'...' if len(line) > 60 else ''}", number)
        preferred, other = int(fields[1]), int(fields[2])
        if n_rows is not None and max(preferred, other) >= n_rows:
            message = f"row {max(preferred, other)} does not exist; the {n_rows} rows are numbered from 0"
            raise FileFormatError(path, message, number)
        yield number, preferred, other, None if fields[3] is None else fields[3].decode(errors="replace")


def _weight(written: str, path: Path, number: int) -> float:
    try:
        weight = read_float(written)
    except ValueError:
        weight = -1.0
    if not 0 <= weight < np.inf:
        raise FileFormatError(
            path, f"a weight must be a finite, non-negative number; got {written[:60]!r}", number
        )
    return weight


def save_pairs(
    pairs: ArrayLike | PreferencePairs,
    path: str | PathLike[str],
    weight: ArrayLike | None = None,
    *,
    data: RankingData | None = None,
) -> None:
    """Write preferences in a form that `load_pairs` and CatBoost read back exactly.

    Parameters
    ----------
    pairs : array-like of int, shape (n_pairs, 2), or PreferencePairs
        Row numbers from 0, the preferred row first; `PreferencePairs` carry their own weights.
    path : path
        ``.gz``, ``.bz2`` and ``.xz`` are compressed. An existing file is replaced once the new one is
        complete.
    weight : array-like, shape (n_pairs,), optional
    data : RankingData, optional
        If given, the file names its documents, below the header ``qid,preferred,other[,weight]``, instead of
        numbering its rows, which have to keep their order otherwise.

    Examples
    --------
    >>> from rankwise import save_pairs
    >>> save_pairs([[0, 1], [2, 1]], "rows.pairs", weight=[2.0, 0.5])
    >>> open("rows.pairs").read()
    '0\\t1\\t2.0\\n2\\t1\\t0.5\\n'
    """
    if isinstance(pairs, str | PathLike) or not isinstance(path, str | PathLike):
        raise ParameterError(
            f"save_pairs takes the pairs first and the path second; got {type(pairs).__name__} "
            f"and {type(path).__name__}."
        )
    check_kind("data", data, RankingData, optional=True)
    checked = check_pairs(pairs, None if data is None else data.n_rows, weight=weight)
    if data is not None:
        write_named_pairs(checked, data, path)
        return
    columns = [checked.better.tolist(), checked.worse.tolist()]
    columns += [] if checked.weight is None else [checked.weight.tolist()]
    with replacing_file(path) as beside, create_text(beside) as file:
        file.writelines(("\t".join(map(repr, row)) + "\n").encode() for row in zip(*columns, strict=True))
