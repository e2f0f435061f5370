"""LETOR/SVMlight text: ``label [qid:query] index:value ... [# comment]``, one row per line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rankwise.features import Features
from rankwise.preferences.queries import Queries, group_codes, group_rows, qid_from_group_sizes
from rankwise.readers.letor_file import LetorFile, LetorRows, matrix_of, text_column
from rankwise.readers.text import OnBytesRead
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray, Auto
from rankwise.validation import check_flag, check_flag_or_auto


def load_letor(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    dtype: str = "float64",
    dense: bool | Auto = "auto",
    zero_based: bool | Auto = "auto",
    n_features: int | None = None,
    merge_queries: bool = False,
    progress: OnBytesRead | None = None,
) -> RankingData:
    """Read judged rows from LETOR/SVMlight text, decompressed by extension (``.gz``, ``.xz``, ``.bz2``).

    Labels may be any finite numbers and query labels any words; either every row has a ``qid`` or none does.
    If none does, a file next to the text, such as ``rows.txt.query`` or ``rows.txt.group``, may list the
    sizes of the queries, one per line, as in LightGBM and XGBoost; either file may be compressed.
    Document labels are taken from comments of the forms ``#docid = GX008-86 inc = 1`` and ``# 7555 rambo``.
    Blank lines and comment-only lines are skipped. Reading is parallel and takes O(file) time and little
    more memory than the arrays it returns.

    Parameters
    ----------
    path : path or list of paths
        Several files are read as if they were one.
    dtype : {"float64", "float32"}
        The type of the feature values. Labels are always float64.
    dense : bool or "auto"
        Whether X is a dense array rather than a CSR matrix; "auto" makes it dense if the file contains at
        least half of its entries.
    zero_based : bool or "auto"
        Whether the first feature has index 0; "auto" assumes so if index 0 occurs, as in scikit-learn. Set it
        when several files must agree.
    n_features : int or None
        The number of columns of X; None uses the largest index in the file. Set it when several files must
        agree. Rows that all have fewer features are rejected if zeros are written out, and otherwise a
        warning says that the last features are taken to be 0.
    merge_queries : bool
        Whether several files may share queries; see `RankingData.concat`.
    progress : callable or None
        Called with the number of bytes of the file read so far, and its size.

    Returns
    -------
    RankingData
        ``qid`` is int64 if every query label is an integer, and text otherwise. Indices are int32 where they
        fit.

    Raises
    ------
    FileFormatError
        If the text is malformed; the message names the file and the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise import load_letor
    >>> _ = Path("rows.txt").write_text("2 qid:10 1:0.03 2:0.6 #docid = d7\\n0 qid:10 2:0.1 #docid = d3\\n")
    >>> data = load_letor("rows.txt")
    >>> data.y, data.qid, data.docs.tolist()
    (array([2., 0.]), array([10, 10]), ['d7', 'd3'])
    """
    reader = LetorFile(path, dtype=dtype, zero_based=zero_based, n_features=n_features)
    dense, merge_queries = check_flag_or_auto("dense", dense), check_flag("merge_queries", merge_queries)
    for _ in reader.blocks(progress):
        pass
    rows = reader.take()
    if not merge_queries:
        reader.check_queries_differ(rows.queries)
    n_columns, first_index = reader.n_features(), reader.first_index()
    reader.check_width(rows.values)
    qid, queries = _queries_of(rows, reader)
    return RankingData(
        X=matrix_of(rows, n_columns, first_index, dense),
        y=rows.labels,
        queries=queries,
        qid=qid,
        docs=text_column(rows.docs),
        comments=text_column(rows.comments),
        features=Features(numbered_from=first_index),
    )


def _queries_of(rows: LetorRows, reader: LetorFile) -> tuple[AnyArray | None, Queries]:
    """The query label of each row, if there are any, and the queries."""
    if rows.queries is not None:
        labels = reader.query_labels()
        return _row_labels(labels)[rows.queries], group_codes(rows.queries, labels)
    sizes = reader.group_sizes()
    qid = None if sizes is None else qid_from_group_sizes(sizes)
    return qid, group_rows(qid, len(rows.labels))


def _row_labels(labels: AnyArray) -> AnyArray:
    """Labels to repeat over rows; text labels become objects, which rows with the same label share."""
    return labels.astype(object) if labels.dtype.kind == "U" else labels
