"""Files of explicit preferences: ``preferred TAB other [TAB weight]``, rows from 0, as in CatBoost."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, FileFormatError, ParameterError, warn_caller
from rankwise.files import as_path, replacing_file
from rankwise.preferences.pairs import PreferencePairs
from rankwise.readers.delimited import (
    DelimitedReader,
    finite_number,
    open_delimited,
    whole_number,
    write_delimited,
)
from rankwise.readers.text import create_text
from rankwise.rows.documents import RowsByName, names_of, row_named, rows_by_name
from rankwise.rows.ranking import RankingData
from rankwise.validation import check_count, check_kind, check_pairs

_ROWS = ("preferred", "other")


def load_pairs(
    path: str | PathLike[str], *, n_rows: int | None = None, data: RankingData | None = None
) -> PreferencePairs:
    """Read preferences, one per line: the preferred row, the other row and, on every line or none, a weight.

    Rows are numbered from 0. A header may name the columns ``preferred``, ``other`` and ``weight``, in any
    order; if it also has a column ``qid``, the lines name documents of `data` instead. Lines that
    compare a row with itself, as found in some logs, are skipped with a warning.

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
    ends, weights = array("q"), array("d")
    with open_delimited(path) as lines:
        find = _found_in(lines, n_rows, data)
        for fields in lines:
            ends.extend(find(fields))
            if "weight" in fields:
                weights.append(finite_number(fields, "weight", minimum=0.0))
    pairs = np.frombuffer(ends, dtype=np.int64).reshape(-1, 2)
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


def _found_in(
    lines: DelimitedReader, n_rows: int | None, data: RankingData | None
) -> Callable[[dict[str, str]], tuple[int, int]]:
    """How to find the two rows of a line, by number or by name, once the header has been read."""
    if not lines.take_header(_ROWS, ["qid", "weight"]):
        lines.names = [*_ROWS, "weight"][: max(2, len(lines.first))]
    if "qid" not in lines.names:
        return partial(_numbered, n_rows if data is None else data.n_rows)
    if data is None:
        raise DataError(f"the header {', '.join(lines.names)} requires data with those documents")
    return partial(_named, rows_by_name(data))


def _numbered(n_rows: int | None, fields: dict[str, str]) -> tuple[int, int]:
    preferred, other = whole_number(fields, "preferred", 0), whole_number(fields, "other", 0)
    if n_rows is not None and max(preferred, other) >= n_rows:
        raise DataError(f"row {max(preferred, other)} does not exist; the {n_rows} rows are numbered from 0")
    return preferred, other


def _named(rows: RowsByName, fields: dict[str, str]) -> tuple[int, int]:
    qid = fields["qid"]
    return row_named(rows, qid, fields["preferred"]), row_named(rows, qid, fields["other"])


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
        The weight of each pair.
    data : RankingData, optional
        If given, the file names documents, below the header ``qid,preferred,other[,weight]``. Otherwise it
        numbers rows, which must then keep their order.

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
    ends = checked.better, checked.worse
    weights = [] if checked.weight is None else [checked.weight.tolist()]
    if data is None:
        numbered = zip(*(column.tolist() for column in ends), *weights, strict=True)
        with replacing_file(path) as beside, create_text(beside) as file:
            file.writelines(("\t".join(map(repr, row)) + "\n").encode() for row in numbered)
        return
    qid, docs = names_of(data)
    query = data.queries.query_of_row()
    apart = query[checked.better] != query[checked.worse]
    if apart.any():
        at = int(apart.argmax())
        raise DataError(f"Pair {at} compares rows {ends[0][at]} and {ends[1][at]} of two queries.")
    named = (column.tolist() for column in (qid[checked.better], docs[checked.better], docs[checked.worse]))
    header = ["qid", *_ROWS, "weight"][: 3 + len(weights)]
    write_delimited(path, header, zip(*named, *weights, strict=True))
