"""CSV and Parquet files as `RankingData`, read with pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import blaming
from rankwise.files import as_path
from rankwise.readers.arrow_tables import read_columns_of, without_empty_text
from rankwise.rows.frames import check_features, judgment_columns
from rankwise.rows.ranking import RankingData
from rankwise.validation import check_flag, check_kind


def load_table(
    path: str | PathLike[str],
    *,
    label: str | None,
    qid: str | None = None,
    features: Sequence[str] | None = None,
    doc: str | None = None,
    weight: str | None = None,
    exclude: Sequence[str] | None = None,
    as_table: bool = False,
) -> RankingData:
    """Read judged rows from a CSV, TSV or Parquet file.

    The columns are specified as in `RankingData.from_frame`.

    Parameters
    ----------
    path : path
        The extension determines the format: ``.csv`` or ``.tsv`` with a header line (followed by ``.gz``,
        ``.bz2``, ``.zst``, ``.lz4`` or ``.br`` if compressed), ``.parquet`` or ``.pq``.
    label : str or None
        The label column; None for rows without judgments, whose labels are then 0.
    qid : str, optional
        The column of query labels.
    features : list of str, optional
        The feature columns, by default all remaining ones. Only named columns are read from a Parquet file.
    doc : str, optional
        The column of document labels. In text files, query and document labels become integers only if all
        of them are in canonical form: 007 stays text.
    weight : str, optional
        The column of row weights for training.
    exclude : list of str, optional
        Columns that are not features, if `features` is not given.
    as_table : bool, default=False
        Whether X stays a table with text, dates and missing values, as in `RankingData.from_frame`. In text
        files, nothing between two delimiters means a missing value.

    Returns
    -------
    RankingData

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise import load_table
    >>> _ = Path("rows.csv").write_text("query,grade,bm25\\nred shoes,2,7.5\\nred shoes,0,1.5\\n")
    >>> load_table("rows.csv", label="grade", qid="query").feature_names
    ('bm25',)
    """
    path, as_table = as_path(path), check_flag("as_table", as_table)
    for name, column in (("label", label), ("qid", qid), ("doc", doc), ("weight", weight)):
        check_kind(name, column, str, optional=True)
    check_features(features)
    table = _read_rows(path, [label, weight], [qid, doc], features, as_table=as_table)
    with blaming(path):
        return RankingData.from_frame(
            table,
            label=label,
            qid=qid,
            features=features,
            doc=doc,
            weight=weight,
            exclude=exclude,
            as_table=as_table,
        )


def load_features(
    path: Path,
    *,
    ignored: str | None,
    qid: str | None,
    features: Sequence[str] | None,
    doc: str | None,
    exclude: Sequence[str] | None = None,
    as_table: bool = False,
) -> RankingData:
    """Read rows whose labels come from elsewhere: the column `ignored`, if there is one, is not a feature."""
    table = _read_rows(path, [], [qid, doc], features, as_table=as_table)
    if ignored in table.column_names:
        table = table.drop_columns([ignored])
    with blaming(path):
        return RankingData.from_frame(
            table, label=None, qid=qid, features=features, doc=doc, exclude=exclude, as_table=as_table
        )


def _read_rows(
    path: Path,
    columns: list[str | None],
    labels: list[str | None],
    features: Sequence[str] | None,
    *,
    as_table: bool,
) -> Any:
    """An arrow table; of a Parquet file only these columns, labels and `features`, if they are named."""
    names = [name for name in labels if name is not None]
    others = [name for name in columns if name is not None]
    table = read_columns_of(path, None if features is None else [*others, *names, *features], names)
    return without_empty_text(table) if as_table else table


def read_judgments(path: Path, *, label: str | None, qid: str | None, doc: str | None) -> RankingData:
    """Read the labels of rows whose features do not matter; other columns of the table may hold anything.

    X is a column of zeros, and so is y if `label` is None.
    """
    labels = [name for name in (qid, doc) if name is not None]
    table = read_columns_of(path, labels if label is None else [label, *labels], labels)
    with blaming(path):
        y, queries, docs = judgment_columns(table, label=label, qid=qid, doc=doc)
        return RankingData.from_arrays(np.zeros((len(y), 1)), y, queries, docs)
