"""The immutable container that every reader returns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, ParameterError
from rankwise.features import JudgedRows, column_names
from rankwise.mapped import is_mapped
from rankwise.preferences.queries import Queries, group_rows
from rankwise.rows.table import Table, read_columns
from rankwise.types import AnyArray, Floats, Ints, RandomSource
from rankwise.validation import (
    check_column,
    check_flag,
    check_kind,
    check_labels,
    check_matrix,
    check_number,
    check_random_state,
)
from rankwise.validation.csr import check_offsets


@dataclass(frozen=True, eq=False, repr=False)
class RankingData(JudgedRows):
    """Judged rows, in their original order.

    Create one with `from_arrays` or `from_frame`, or load one with `rankwise.load_letor`,
    `rankwise.load_table` or `rankwise.open_store`.

    Attributes
    ----------
    X : Matrix, shape (m, n)
        CSR or dense, float64 or float32; or a table of columns of any kind, for rankers with `columns`.
    y : Floats, shape (m,)
        Real-valued labels.
    queries : Queries
        The partition of the rows into queries; ``queries.order`` maps grouped rows back to these.
    qid : array or None, shape (m,)
        The query label of each row as read; None if the data has no queries.
    docs : array or None, shape (m,)
        The document label of each row.
    feature_names : tuple of str or None
    comments : array or None, shape (m,)
        The comment of each row of a text file, from which its document label was taken.
    scaled_per_query : bool
        Whether the features were scaled by `scale_per_query`; stores record this.
    numbered_from : int or None
        The number of the first feature in the text that the data was read from, 0 or 1.

    Examples
    --------
    >>> from rankwise import RankingData
    >>> data = RankingData.from_arrays([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]], y=[1, 0, 2], qid=["a", "a", "b"])
    >>> data
    RankingData(3 rows, 2 queries, 2 features (float64), labels 0 to 2)
    >>> data.select(queries=["a"]).y
    array([1., 0.])
    """

    X: Any
    y: Floats
    queries: Queries
    qid: AnyArray | None = None
    docs: AnyArray | None = None
    feature_names: tuple[str, ...] | None = None
    comments: AnyArray | None = None
    scaled_per_query: bool = False
    numbered_from: int | None = None

    def __post_init__(self) -> None:
        # Selecting and writing rows rely on the offsets of sparse X without checking them again.
        if not isinstance(self.X, np.ndarray | Table):
            check_offsets(self.X)

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        docs: ArrayLike | Iterable[Hashable] | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> Self:
        """Build a data set from arrays after checking them.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (m, n)
            Finite numbers; float32 is kept, everything else becomes float64.
        y : array-like, shape (m,)
            Finite labels; higher is better.
        qid : array-like of hashables, shape (m,), optional
            Query labels in any order; without them all rows form one global ranking.
        docs : array-like, shape (m,), optional
            Document labels.
        feature_names : sequence of str, length n, optional
            The column names of X by default, if it has any.
        """
        feature_names = _column_names(X) if feature_names is None else _listed(feature_names)
        X = X if isinstance(X, Table) else check_matrix(X, feature_names)
        n_rows, n_features = X.shape
        queries = group_rows(qid, n_rows)
        return cls(
            X=X,
            y=check_labels(y, n_rows),
            queries=queries,
            qid=None if queries.labels is None else queries.labels[queries.query_of_row()],
            docs=None if docs is None else check_column("docs", docs, n_rows),
            feature_names=None if feature_names is None else _checked_names(feature_names, n_features),
        )

    @classmethod
    def from_frame(
        cls,
        df: Any,
        *,
        label: str | None,
        qid: str | None = None,
        features: Sequence[str] | None = None,
        doc: str | None = None,
        exclude: Sequence[str] | None = None,
        as_table: bool = False,
    ) -> Self:
        """Build a data set from the columns of a pandas, polars or pyarrow table.

        Parameters
        ----------
        df : DataFrame or Table
        label : str or None
            The label column; None for rows without judgments, whose labels are then 0.
        qid : str, optional
            The column of query labels, of any type; without it all rows form one global ranking.
        features : list of str, optional
            The feature columns, in this order. By default, all remaining columns, which must then contain
            numbers or booleans. If all columns are float32, so is the matrix.
        doc : str, optional
            The column of document labels.
        exclude : list of str, optional
            Columns that are not features, if `features` is not given.
        as_table : bool, default=False
            Whether X stays a table, whose columns may hold text, dates and missing values, for rankers with
            `columns`.
        """
        from rankwise.rows.frames import split_columns

        columns = split_columns(
            df,
            label=label,
            qid=qid,
            features=features,
            doc=doc,
            exclude=exclude,
            read_features=read_columns if check_flag("as_table", as_table) else None,
        )
        return cls.from_arrays(columns.X, columns.y, columns.qid, columns.docs, columns.feature_names)

    @classmethod
    def concat(cls, parts: Iterable[RankingData], *, merge_queries: bool = False) -> RankingData:
        """Join data sets, the rows of one after those of the other.

        Parameters
        ----------
        parts : iterable of RankingData
            With the same features: names, number and order must agree, and so must the scaling.
        merge_queries : bool
            Whether parts may share queries. By default a label that two parts have in common is an error,
            because it may name two different queries; True makes the rows of both one query.
        """
        from rankwise.rows.concatenation import concatenated

        parts = check_kind("parts", parts, Iterable)
        return concatenated(list(parts), merge_queries=check_flag("merge_queries", merge_queries))

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_queries(self) -> int:
        return self.queries.n_queries

    @property
    def has_queries(self) -> bool:
        """Whether the data has a qid; otherwise, all rows form one ranking."""
        return self.queries.labels is not None

    @property
    def label_range(self) -> tuple[float, float]:
        """The lowest and the highest label."""
        return float(self.y.min()), float(self.y.max())

    def select(self, rows: Any = None, *, queries: Iterable[Hashable] | None = None) -> Self:
        """Select some rows, or all rows of some queries.

        Parameters
        ----------
        rows : slice, mask or row numbers
            The rows to select, in this order.
        queries : collection of query labels
            The queries whose rows to select; the rows keep their order.
        """
        if (rows is None) == (queries is None):
            raise ParameterError("select takes exactly one of 'rows' and 'queries'.")
        if queries is not None:
            rows = self._is_in(queries)
        return self._rows(_row_numbers(rows, self.n_rows))

    def scale_per_query(self) -> Self:
        """Scale every feature to [0, 1] within each query, as `rankwise.scale_per_query` does.

        Data that is already scaled is returned unchanged.
        """
        from rankwise.rows.scaling import scale_grouped

        if self.scaled_per_query:
            return self
        if isinstance(self.X, Table):
            raise DataError("The columns of a table cannot be scaled within queries.")
        return replace(self, X=scale_grouped(self.X, self.queries), scaled_per_query=True)

    def split(self, fraction: float = 0.75, random_state: RandomSource = 0) -> tuple[Self, Self]:
        """Split the data at random into two parts of whole queries, or of rows if it has no queries.

        Parameters
        ----------
        fraction : float
            The share of the queries in the first part; each part gets at least one.
        random_state : int, RandomState, Generator or None, default=0
            The same integer always gives the same parts.
        """
        fraction = check_number("fraction", fraction, minimum=0.0, maximum=1.0, exclusive=True)
        by_row = self.queries.labels is None
        n_units = self.n_rows if by_row else self.n_queries
        if n_units < 2:
            raise DataError(f"The data cannot be split: it has only one {'row' if by_row else 'query'}.")
        n_first = min(max(round(fraction * n_units), 1), n_units - 1)
        in_first = np.zeros(n_units, dtype=bool)
        in_first[check_random_state("random_state", random_state).permutation(n_units)[:n_first]] = True
        mask = in_first if by_row else in_first[self.queries.query_of_row()]
        return self._rows(np.flatnonzero(mask)), self._rows(np.flatnonzero(~mask))

    def _is_in(self, queries: Iterable[Hashable]) -> AnyArray:
        if self.queries.labels is None:
            raise DataError("The data has no queries to select: it was created without qid.")
        if isinstance(queries, (str, bytes)) or not isinstance(queries, Iterable):
            raise ParameterError(f"The 'queries' parameter must be a collection of labels; got {queries!r}.")
        position = {label: q for q, label in enumerate(self.queries.labels.tolist())}
        wanted = np.zeros(self.n_queries, dtype=bool)
        for label in queries:
            if not isinstance(label, Hashable) or label not in position:
                raise DataError(f"The data has no query {label!r}.")
            wanted[position[label]] = True
        return wanted[self.queries.query_of_row()]

    def _rows(self, rows: Ints) -> Self:
        if len(rows) == 0:
            raise DataError("The selection has no rows.")
        return type(self)(
            X=self.X[rows],
            y=self.y[rows],
            queries=self.queries.select(rows),
            qid=None if self.qid is None else self.qid[rows],
            docs=None if self.docs is None else self.docs[rows],
            feature_names=self.feature_names,
            comments=None if self.comments is None else self.comments[rows],
            scaled_per_query=self.scaled_per_query,
            numbered_from=self.numbered_from,
        )

    def __repr__(self) -> str:
        queries = "one global ranking" if self.queries.labels is None else _counted(self.n_queries, "query")
        storage = "table" if isinstance(self.X, Table) else str(self.X.dtype)
        if not isinstance(self.X, np.ndarray | Table):
            filled = self.X.nnz / max(1, self.n_rows * self.n_features)
            storage = f"sparse {storage}, {filled:.2%} filled"
        scaled = ", scaled per query" if self.scaled_per_query else ""
        # A repr must not page in a file.
        labels = "" if is_mapped(self.y) else f", labels {self.y.min():g} to {self.y.max():g}"
        return (
            f"RankingData({_counted(self.n_rows, 'row')}, {queries}, "
            f"{_counted(self.n_features, 'feature')} ({storage}{scaled}){labels})"
        )


def _counted(n: int, noun: str) -> str:
    plural = noun.removesuffix("y") + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,} {noun if n == 1 else plural}"


def _row_numbers(rows: Any, n_rows: int) -> Ints:
    if isinstance(rows, slice):
        return np.arange(n_rows)[rows]
    array = np.asarray(rows)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biu"):
        raise ParameterError("The 'rows' parameter must be a slice, a mask or a list of row numbers.")
    if array.dtype.kind == "b":
        if len(array) != n_rows:
            raise ParameterError(f"The mask 'rows' must have one entry per row: {n_rows}; got {len(array)}.")
        return np.flatnonzero(array)
    outside = (array < -n_rows) | (array >= n_rows)
    if outside.any():
        row = array[outside.argmax()]
        raise ParameterError(f"The 'rows' parameter contains row {row}, but the data has {n_rows} rows.")
    return array.astype(np.int64) % n_rows


def _column_names(X: Any) -> tuple[str, ...] | None:
    columns = column_names(X)
    names = None if columns is None else tuple(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def _listed(names: Any) -> tuple[str, ...]:
    if isinstance(names, str | Set) or not isinstance(names, Iterable):
        raise DataError(f"feature_names must be a list of names, one per column of X; got {names!r:.100}.")
    return tuple(names)


def _checked_names(names: tuple[str, ...], n_features: int) -> tuple[str, ...]:
    if len(names) != n_features:
        raise DataError(f"feature_names must have one name per column of X: {n_features}; got {len(names)}.")
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"feature_names must contain strings; got {name!r}.")
        if name in seen:
            raise DataError(f"feature_names must be unique; {name!r} appears more than once.")
        seen.add(name)
    return names
