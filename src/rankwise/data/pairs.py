"""Files of explicit preferences: ``preferred TAB other [TAB weight]``, rows from 0, as in CatBoost."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import warnings
from array import array
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, FileFormatError
from rankwise.files import replacing_file
from rankwise.preferences.pairs import PreferencePairs
from rankwise.validation import check_row_weight

_LINE = re.compile(rb"\s*(\d{1,18})\s+(\d{1,18})(?:\s+(\S+))?\s*")
_OPENERS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def load_pairs(path: str | PathLike[str], *, n_rows: int | None = None) -> PreferencePairs:
    """Read preferences, one a line: the preferred row, the other row and, on every line or none, a weight.

    Lines that compare a row with itself, which some logs have, are left out with a warning.

    Parameters
    ----------
    path : path
        Fields are separated by tabs or blanks; ``.gz``, ``.bz2`` and ``.xz`` are decompressed.
    n_rows : int, optional
        The number of rows that there are; a line that names another row is an error.

    Returns
    -------
    PreferencePairs
        ``(pairs, weight)``, which `fit_preferences` takes as it is; weight is None if no line has one.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise import load_pairs
    >>> _ = Path("rows.pairs").write_text("0\\t1\\t2.0\\n2\\t1\\t0.5\\n")
    >>> load_pairs("rows.pairs", n_rows=3)
    PreferencePairs(pairs=array([[0, 1],
           [2, 1]]), weight=array([2. , 0.5]))
    """
    path = Path(path)
    rows, weights = array("q"), array("d")
    opener = _OPENERS.get(path.suffix, open)
    with opener(path, "rb") as file:
        try:
            for number, line in enumerate(file, start=1):
                if not line.isspace():
                    preferred, other, weight = _parsed(line, path, number)
                    if n_rows is not None and max(preferred, other) >= n_rows:
                        message = (
                            f"row {max(preferred, other)} is not one of the {n_rows} rows, which count from 0"
                        )
                        raise FileFormatError(path, message, number)
                    if rows and (weight is None) != (not weights):
                        raise FileFormatError(path, "every line must have a weight, or none", number)
                    rows.extend((preferred, other))
                    weights.extend(() if weight is None else (weight,))
        except (EOFError, OSError, lzma.LZMAError) as error:
            raise FileFormatError(path, f"cannot be read to its end: {error}") from error
    pairs = np.frombuffer(rows, dtype=np.int64).reshape(-1, 2)
    differ = pairs[:, 0] != pairs[:, 1]
    if not differ.any():
        raise FileFormatError(path, "holds no preferences")
    if not differ.all():
        first, n_same = int(pairs[~differ][0, 0]), int((~differ).sum())
        message = f"{n_same} of {len(pairs)} preferences compare a row with itself (the first is row {first})"
        warnings.warn(f"{path}: {message} and are left out.", stacklevel=2)
    return PreferencePairs(
        pairs[differ], np.frombuffer(weights, dtype=np.float64)[differ] if weights else None
    )


def _parsed(line: bytes, path: Path, number: int) -> tuple[int, int, float | None]:
    fields = _LINE.fullmatch(line)
    if fields is None:
        shown = line[:60].decode(errors="replace").strip()
        expected = "expected 'preferred other [weight]' with row numbers from 0"
        raise FileFormatError(path, f"{expected}; got {shown!r}{'...' if len(line) > 60 else ''}", number)
    preferred, other = int(fields[1]), int(fields[2])
    if fields[3] is None:
        return preferred, other, None
    try:
        weight = float(fields[3])
    except ValueError:
        weight = -1.0
    if not 0 <= weight < np.inf:
        shown = fields[3][:60].decode(errors="replace")
        raise FileFormatError(path, f"a weight must be a finite number of at least 0; got {shown!r}", number)
    return preferred, other, weight


def save_pairs(path: str | PathLike[str], pairs: ArrayLike, weight: ArrayLike | None = None) -> None:
    """Write preferences so that `load_pairs`, and CatBoost, read the same numbers back.

    Parameters
    ----------
    path : path
        ``.gz``, ``.bz2`` and ``.xz`` are compressed. The file takes its place when it is whole.
    pairs : array-like of int, shape (n_pairs, 2)
        Row numbers from 0, the preferred row first.
    weight : array-like, shape (n_pairs,), optional

    Examples
    --------
    >>> from rankwise import save_pairs
    >>> save_pairs("rows.pairs", [[0, 1], [2, 1]], weight=[2.0, 0.5])
    >>> open("rows.pairs").read()
    '0\\t1\\t2.0\\n2\\t1\\t0.5\\n'
    """
    rows = np.asarray(pairs)
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu":
        raise DataError(f"pairs must be whole numbers of shape (n_pairs, 2); got {rows.dtype} {rows.shape}.")
    bad = (rows < 0).any(axis=1) | (rows[:, 0] == rows[:, 1])
    if bad.any():
        at = int(bad.argmax())
        raise DataError(f"pairs must name two different rows from 0; pair {at} is {rows[at].tolist()}.")
    weights = check_row_weight(weight, len(rows))
    columns = [rows[:, 0].tolist(), rows[:, 1].tolist()]
    columns += [] if weights is None else [weights.tolist()]
    opener = _OPENERS.get(Path(path).suffix, open)
    with replacing_file(path) as place, opener(place, "wt", encoding="ascii", newline="\n") as file:
        file.writelines("\t".join(map(repr, fields)) + "\n" for fields in zip(*columns, strict=True))
