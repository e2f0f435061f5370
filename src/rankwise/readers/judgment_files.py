"""Files of judgments: a query, a document, a label and perhaps a weight per line, apart from the features."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from rankwise.errors import FileFormatError, blaming, warn_caller
from rankwise.files import as_path
from rankwise.readers.delimited import finite_number, open_delimited, write_delimited
from rankwise.readers.judgment_columns import WEIGHT, named_columns, take_columns
from rankwise.rows.documents import find_row, names_of, rows_by_name, warn_of_unknown
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats, Ints

_WRITTEN = ("qid", "doc", "label", WEIGHT)


def load_judgments(
    path: str | PathLike[str], data: RankingData, *, label: str = "label", qid: str = "qid", doc: str = "doc"
) -> RankingData:
    """Read labels and, if the file has them, weights, and join them to rows by query and document.

    Parameters
    ----------
    path : path
        A header, then one line per judgment; fields are separated by commas or tabs. An optional column
        ``weight`` is read; other columns are ignored. ``.gz``, ``.bz2`` and ``.xz`` are decompressed.
    data : RankingData
        The rows, with their query and document labels. Their own labels and weights are replaced.
    label, qid, doc : str
        The names of the columns; a column that the file lacks is looked up as ``label``, ``qid`` or ``doc``.

    Returns
    -------
    RankingData
        The rows that the file names, in the order of the data; without weights if the file has none. If a
        document is judged several times, its labels and weights are averaged; a warning counts the documents
        whose labels differ. `rankwise.raters` takes the raters into account.

    Warns
    -----
    UserWarning
        If the data lacks some of the documents that are judged; these judgments are left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise import RankingData, load_judgments
    >>> data = RankingData.from_arrays([[1.0], [2.0]], y=[0, 0], qid=["shoes", "shoes"], docs=["d7", "d9"])
    >>> _ = Path("judgments.csv").write_text("query,doc,grade\\nshoes,d9,3\\nshoes,d7,1\\n")
    >>> load_judgments("judgments.csv", data, qid="query", label="grade").y
    array([1., 3.])
    """
    rows, y, weights = _judgments(as_path(path), data, named_columns(qid=qid, doc=doc, label=label))
    return replace(data.select(rows), y=y, sample_weight=weights)


def judged_labels(
    path: str | PathLike[str], data: RankingData, *, label: str = "label", qid: str = "qid", doc: str = "doc"
) -> tuple[Ints, Floats]:
    """The rows that a file of judgments names, in ascending order, and their labels."""
    rows, y, _ = _judgments(as_path(path), data, named_columns(qid=qid, doc=doc, label=label))
    return rows, y


def _judgments(path: Path, data: RankingData, names: dict[str, str]) -> tuple[Ints, Floats, Floats | None]:
    """The rows that a file names, in ascending order, their labels, and their weights if it has any."""
    found: dict[int, list[tuple[float, float]]] = {}
    unknown: list[tuple[str, str]] = []
    with open_delimited(path) as lines:
        rows = rows_by_name(data)
        take_columns(lines, names)
        for fields in lines:
            row = find_row(rows, fields["qid"], fields["doc"])
            weight = finite_number(fields, WEIGHT, minimum=0.0) if WEIGHT in fields else 1.0
            judged = finite_number(fields, "label"), weight
            if row is None:
                unknown.append((fields["qid"], fields["doc"]))
            else:
                found.setdefault(row, []).append(judged)
        weighted = WEIGHT in lines.names
    if not found and not unknown:
        raise FileFormatError(path, "the file contains no judgments")
    with blaming(path):
        warn_of_unknown(unknown, sum(map(len, found.values())))
    _warn_of_different(found)
    judged_rows = sorted(found)
    y, weights = np.array([np.mean(found[row], axis=0) for row in judged_rows]).T.copy()
    return np.array(judged_rows), y, weights if weighted else None


def _warn_of_different(found: dict[int, list[tuple[float, float]]]) -> None:
    several = [judged for judged in found.values() if len(judged) > 1]
    different = sum(len({label for label, _ in judged}) > 1 for judged in several)
    if different:
        warn_caller(
            f"{len(several):,} of {len(found):,} documents are judged several times, {different:,} of them "
            "with different labels; their labels are averaged. 'rankwise raters' takes into account who "
            "judged."
        )


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
    write_delimited(path, _WRITTEN[: len(columns)], rows)
