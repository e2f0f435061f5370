"""Files of judgments: lines of ``qid, doc, label[, weight]`` below a header, apart from the features."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from rankwise.errors import DataError, FileFormatError
from rankwise.files import as_path
from rankwise.readers.delimited import finite_number, open_delimited, write_delimited
from rankwise.rows.documents import names_of, row_named, rows_by_name
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats, Ints

_REQUIRED, _WEIGHT = ("qid", "doc", "label"), "weight"


def load_judgments(path: str | PathLike[str], data: RankingData) -> RankingData:
    """Read labels and, if the file has them, weights, and join them to rows by query and document.

    Parameters
    ----------
    path : path
        A header with the columns ``qid``, ``doc``, ``label`` and optionally ``weight``, in any order, then
        one line per judged row; fields are separated by commas or tabs. ``.gz``, ``.bz2`` and ``.xz`` are
        decompressed.
    data : RankingData
        The rows, with their query and document labels. Their own labels and weights are replaced.

    Returns
    -------
    RankingData
        The rows that the file names, in the order of the data; without weights if the file has none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise import RankingData, load_judgments
    >>> data = RankingData.from_arrays([[1.0], [2.0]], y=[0, 0], qid=["shoes", "shoes"], docs=["d7", "d9"])
    >>> _ = Path("judgments.csv").write_text("qid,doc,label\\nshoes,d9,3\\nshoes,d7,1\\n")
    >>> load_judgments("judgments.csv", data).y
    array([1., 3.])
    """
    found, weighted = _judgments(as_path(path), data)
    judged = sorted(found)
    y, weights = np.array([found[row] for row in judged]).T.copy()
    return replace(data.select(judged), y=y, sample_weight=weights if weighted else None)


def judged_labels(path: str | PathLike[str], data: RankingData) -> tuple[Ints, Floats]:
    """The rows that a file of judgments names, in ascending order, and their labels."""
    found, _ = _judgments(as_path(path), data)
    judged = sorted(found)
    return np.array(judged), np.array([found[row][0] for row in judged])


def _judgments(path: Path, data: RankingData) -> tuple[dict[int, tuple[float, float]], bool]:
    """The label and the weight of each row that a file names, and whether it has weights."""
    found: dict[int, tuple[float, float]] = {}
    with open_delimited(path) as lines:
        rows = rows_by_name(data)
        if not lines.take_header(_REQUIRED, [_WEIGHT]):
            raise DataError(f"expected the header {','.join(_REQUIRED)}[,{_WEIGHT}]")
        for fields in lines:
            row = row_named(rows, fields["qid"], fields["doc"])
            if row in found:
                raise DataError(
                    f"the document {fields['doc']!r} of the query {fields['qid']!r} is judged twice"
                )
            weight = finite_number(fields, _WEIGHT, minimum=0.0) if _WEIGHT in fields else 1.0
            found[row] = finite_number(fields, "label"), weight
        weighted = _WEIGHT in lines.names
    if not found:
        raise FileFormatError(path, "the file contains no judgments")
    return found, weighted


def save_judgments(data: RankingData, path: str | PathLike[str]) -> None:
    """Write the labels of rows, and their weights if they have any, so that `load_judgments` reads them back.

    Parameters
    ----------
    data : RankingData
        With query and document labels; features are not written.
    path : path
        ``.gz``, ``.bz2`` and ``.xz`` are compressed. An existing file is replaced once the new one is
        complete.

    Examples
    --------
    >>> from rankwise import RankingData, save_judgments
    >>> names = {"qid": ["shoes", "shoes"], "docs": ["d7", "d9"]}
    >>> data = RankingData.from_arrays([[1.0], [2.0]], y=[2, 0], sample_weight=[4.0, 1.5], **names)
    >>> save_judgments(data, "judgments.csv")
    >>> print(open("judgments.csv").read(), end="")
    qid,doc,label,weight
    shoes,d7,2.0,4.0
    shoes,d9,0.0,1.5
    """
    columns = [*names_of(data), data.y]
    columns += [] if data.sample_weight is None else [data.sample_weight]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    write_delimited(path, [*_REQUIRED, _WEIGHT][: len(columns)], rows)
