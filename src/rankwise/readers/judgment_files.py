"""Files of judgments: lines of ``qid, doc, label[, weight]`` below a header, apart from the features."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import FileFormatError
from rankwise.files import as_path
from rankwise.numerals import read_float
from rankwise.readers.named_rows import header_of, named_fields, row_named, rows_named_in, write_fields
from rankwise.readers.text import numbered_lines, open_text
from rankwise.rows.documents import names_of
from rankwise.rows.ranking import RankingData
from rankwise.rows.weighted_rows import WeightedRows
from rankwise.validation import check_row_weight

_REQUIRED, _WEIGHT = ("qid", "doc", "label"), "weight"


def load_judgments(path: str | PathLike[str], data: RankingData) -> WeightedRows:
    """Read labels and, if the file has them, weights, and join them to rows by query and document.

    Parameters
    ----------
    path : path
        A header with the columns ``qid``, ``doc``, ``label`` and optionally ``weight``, in any order, then
        one line per judged row; fields are separated by commas or tabs. ``.gz``, ``.bz2`` and ``.xz`` are
        decompressed.
    data : RankingData
        The rows, with their query and document labels. Their own labels are replaced.

    Returns
    -------
    WeightedRows
        ``(data, weight)``: the rows that the file names, in the order of the data; weight is None if the file
        has none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise import RankingData, load_judgments
    >>> data = RankingData.from_arrays([[1.0], [2.0]], y=[0, 0], qid=["shoes", "shoes"], docs=["d7", "d9"])
    >>> _ = Path("judgments.csv").write_text("qid,doc,label\\nshoes,d9,3\\nshoes,d7,1\\n")
    >>> load_judgments("judgments.csv", data).data.y
    array([1., 3.])
    """
    path = as_path(path)
    rows = rows_named_in(path, data)
    found: dict[int, tuple[float, float]] = {}
    with open_text(path) as file:
        lines = ((number, line) for number, line in numbered_lines(file, path) if not line.isspace())
        number, first = next(lines, (1, b""))
        header = header_of(first, set(_REQUIRED), {*_REQUIRED, _WEIGHT})
        if header is None:
            raise FileFormatError(path, f"expected the header {','.join(_REQUIRED)}[,{_WEIGHT}]", number)
        for number, fields in named_fields(lines, *header, path):
            row = row_named(rows, fields["qid"], fields["doc"], path, number)
            if row in found:
                message = f"the document {fields['doc']!r} of the query {fields['qid']!r} is judged twice"
                raise FileFormatError(path, message, number)
            weight = _number(fields.get(_WEIGHT, "1"), _WEIGHT, path, number)
            if weight < 0:
                raise FileFormatError(path, f"a weight must not be negative; got {weight:g}", number)
            found[row] = _number(fields["label"], "label", path, number), weight
    if not found:
        raise FileFormatError(path, "the file contains no judgments")
    judged = sorted(found)
    y, weights = np.array([found[row] for row in judged]).T.copy()
    weighted = _WEIGHT in header[1]
    return WeightedRows(replace(data.select(judged), y=y), weights if weighted else None)


def _number(written: str, name: str, path: Path, number: int) -> float:
    try:
        value = read_float(written)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise FileFormatError(path, f"a {name} must be a finite number; got {written[:60]!r}", number)
    return value


def save_judgments(data: RankingData, path: str | PathLike[str], weight: ArrayLike | None = None) -> None:
    """Write the labels of rows and, if given, their weights, in a form that `load_judgments` reads back.

    Parameters
    ----------
    data : RankingData
        With query and document labels; features are not written.
    path : path
        ``.gz``, ``.bz2`` and ``.xz`` are compressed. An existing file is replaced once the new one is
        complete.
    weight : array-like, shape (m,), optional

    Examples
    --------
    >>> from rankwise import RankingData, save_judgments
    >>> data = RankingData.from_arrays([[1.0], [2.0]], y=[2, 0], qid=["shoes", "shoes"], docs=["d7", "d9"])
    >>> save_judgments(data, "judgments.csv", weight=[4.0, 1.5])
    >>> print(open("judgments.csv").read(), end="")
    qid,doc,label,weight
    shoes,d7,2.0,4.0
    shoes,d9,0.0,1.5
    """
    columns = dict(zip(_REQUIRED, (*names_of(data), data.y), strict=True))
    weights = check_row_weight(weight, data.n_rows)
    write_fields(path, columns if weights is None else {**columns, _WEIGHT: weights})
