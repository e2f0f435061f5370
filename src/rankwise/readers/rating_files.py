"""Files of judgments by several raters: lines of ``qid, doc, label, rater`` below a header."""

from __future__ import annotations

from os import PathLike

from rankwise.errors import DataError, FileFormatError
from rankwise.files import as_path
from rankwise.readers.delimited import finite_number, open_delimited
from rankwise.readers.judgment_columns import has_column, named_columns, take_columns
from rankwise.rows.ratings import Ratings, check_scale


def has_raters(path: str | PathLike[str]) -> bool:
    """Whether a file of judgments names raters."""
    with open_delimited(as_path(path)) as lines:
        return has_column(lines, "rater")


def load_ratings(
    path: str | PathLike[str],
    rater: str = "rater",
    scale: tuple[float, float] | None = None,
    *,
    label: str = "label",
    qid: str = "qid",
    doc: str = "doc",
) -> Ratings:
    """Read judgments by several raters.

    Parameters
    ----------
    path : path
        A header, then one line per judgment; columns other than those named below are ignored. Fields are
        separated by commas or tabs. ``.gz``, ``.bz2`` and ``.xz`` are decompressed.
    rater : str, default="rater"
        The column that names the rater.
    scale : (lowest, highest), optional
        Grades outside this scale raise an error that names the line.
    label, qid, doc : str
        The other columns, as in `rankwise.load_judgments`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise.raters import load_ratings
    >>> _ = Path("ratings.csv").write_text("qid,doc,label,rater\\nshoes,d9,3,ann\\nshoes,d9,2,bob\\n")
    >>> load_ratings("ratings.csv")
    Ratings(2 judgments of 1 documents by 2 raters)
    """
    path, scale = as_path(path), check_scale(scale)
    names = named_columns(qid=qid, doc=doc, label=label, rater=rater)
    columns: list[list[str]] = [[], [], []]
    grades: list[float] = []
    with open_delimited(path) as lines:
        take_columns(lines, names)
        for fields in lines:
            grade = finite_number(fields, "label")
            if scale is not None and not scale[0] <= grade <= scale[1]:
                raise DataError(f"the grade {grade:g} is not from {scale[0]:g} to {scale[1]:g}")
            grades.append(grade)
            for values, name in zip(columns, ("qid", "doc", "rater"), strict=True):
                values.append(fields[name])
    if not grades:
        raise FileFormatError(path, "the file contains no judgments")
    queries, docs, raters = columns
    try:
        return Ratings.from_arrays(queries, docs, grades, raters, scale=scale)
    except DataError as error:
        raise FileFormatError(path, str(error)) from None
