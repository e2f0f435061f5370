"""The immutable container that every reader returns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, ParameterError
from rankwise.features import UNNAMED, Features, JudgedRows, checked_names, named_columns
from rankwise.preferences.queries import Queries, group_rows
from rankwise.rows.chosen_rows import row_numbers, rows_at_random, rows_of_queries
from rankwise.rows.table import Table, read_columns
from rankwise.types import AnyArray, Floats, Ints, RandomSource
from rankwise.validation import (
    check_column,
    check_flag,
    check_kind,
    check_labels,
    check_matrix,
    check_row_weight,
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
        CSR or dense, float64 or float32; or a table with columns of any kind, for rankers with `columns`. It
        has no columns if the data has only labels and names.
    y : Floats, shape (m,)
        Real-valued labels.
    queries : Queries
        The partition of the rows into queries; ``queries.order`` maps grouped rows back to these.
    qid : array or None, shape (m,)
        The query label of each row as read; None if the data has no queries.
    docs : array or None, shape (m,)
        The document label of each row.
    sample_weight : Floats or None, shape (m,)
        The weight of each row in training, as `sample_weight` in `fit`; 1 if None.
    features : Features
        The names of the columns of X, and whether `scale_per_query` scaled them; stores record both.
    comments : array or None, shape (m,)
        The comment of each row of a text file, from which its document label was taken.

    See Also
    --------
    load_letor : Read LETOR/SVMlight text.
    load_table : Read CSV and Parquet.
    open_store : Open a store, which may be larger than memory.
    make_search_data : Simulate data.

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
    sample_weight: Floats | None = None
    features: Features = UNNAMED
    comments: AnyArray | None = None

    def __post_init__(self) -> None:
        scaled = bool(self.features.scaled_per_query)
        known = replace(self.features, count=int(self.X.shape[1]), scaled_per_query=scaled)
        object.__setattr__(self, "features", known)
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
        *,
        sample_weight: ArrayLike | None = None,
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
        sample_weight : array-like, shape (m,), optional
            How much each row counts in training.
        """
        names = named_columns(X) if feature_names is None else feature_names
        X = X if isinstance(X, Table) else check_matrix(X, names)
        n_rows, n_features = X.shape
        queries = group_rows(qid, n_rows)
        return cls(
            X=X,
            y=check_labels(y, n_rows),
            queries=queries,
            qid=None if queries.labels is None else queries.labels[queries.query_of_row()],
            docs=None if docs is None else check_column("docs", docs, n_rows),
            sample_weight=check_row_weight(sample_weight, n_rows, may_be_zero=True),
            features=Features(None if names is None else checked_names(names, n_features)),
        )

    @classmethod
    def from_frame(
        cls,
        df: Any,
        *,
        label: str | None,
        qid: str | None = None,
        features: Sequence[str] | str | None = None,
        doc: str | None = None,
        weight: str | None = None,
        exclude: Sequence[str] | None = None,
        as_table: bool = False,
    ) -> Self:
        """Build a data set from the columns of a pandas, polars or pyarrow table.

        Parameters
        ----------
        df : DataFrame or Table
            The table, one row per judged row.
        label : str or None
            The label column; None for rows without judgments, whose labels are then 0.
        qid : str, optional
            The column of query labels, of any type; without it all rows form one global ranking.
        features : list of str, or str, optional
            The feature columns, in this order, or one column of vectors, as in PyTerrier. By default, all
            remaining columns, which must then contain numbers or booleans. If all columns are float32, so is
            the matrix.
        doc : str, optional
            The column of document labels.
        weight : str, optional
            The column of row weights for training.
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
            weight=weight,
            exclude=exclude,
            read_features=read_columns if check_flag("as_table", as_table) else None,
        )
        return cls.from_arrays(**columns)

    @classmethod
    def concat(cls, parts: Iterable[RankingData], *, merge_queries: bool = False) -> RankingData:
        """Concatenate data sets.

        Parameters
        ----------
        parts : iterable of RankingData
            With the same features: names, number and order must agree, and so must the scaling. Rows of parts
            without weights count 1.
        merge_queries : bool
            Whether parts may share queries. By default, a query label in two parts is an error, because it
            may mean two different queries; with True, the rows of both form one query.
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
    def feature_names(self) -> tuple[str, ...] | None:
        return self.features.names

    @property
    def numbered_from(self) -> int | None:
        """The number of the first feature in the text that the data was read from, 0 or 1."""
        return self.features.numbered_from

    @property
    def scaled_per_query(self) -> bool:
        """Whether the features were scaled by `scale_per_query`."""
        return bool(self.features.scaled_per_query)

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
        of_queries = None if queries is None else rows_of_queries(self.queries, queries)
        return self._rows(row_numbers(rows, self.n_rows) if of_queries is None else of_queries)

    def scale_per_query(self) -> Self:
        """Scale every feature to [0, 1] within each query, as `rankwise.scale_per_query` does.

        Data that is already scaled is returned unchanged.
        """
        from rankwise.rows.scaling import scale_grouped

        if self.scaled_per_query:
            return self
        if isinstance(self.X, Table):
            raise DataError("The columns of a table cannot be scaled within queries.")
        features = replace(self.features, scaled_per_query=True)
        return replace(self, X=scale_grouped(self.X, self.queries), features=features)

    def without_features(self) -> Self:
        """The same rows without features, with their labels and names."""
        return replace(self, X=np.empty((self.n_rows, 0)), features=UNNAMED)

    def split(self, fraction: float = 0.75, random_state: RandomSource = 0) -> tuple[Self, Self]:
        """Split the data at random into two parts of whole queries, or of rows if it has no queries.

        Parameters
        ----------
        fraction : float
            The share of the queries in the first part; each part gets at least one.
        random_state : int, RandomState, Generator or None, default=0
            The same integer always gives the same parts.
        """
        first, second = rows_at_random(self.queries, fraction, random_state)
        return self._rows(first), self._rows(second)

    def _rows(self, rows: Ints) -> Self:
        if len(rows) == 0:
            raise DataError("The selection has no rows.")
        present = {name: getattr(self, name) for name in ("qid", "docs", "sample_weight", "comments")}
        chosen = {name: values[rows] for name, values in present.items() if values is not None}
        return replace(self, X=self.X[rows], y=self.y[rows], queries=self.queries.select(rows), **chosen)

    def _repr_html_(self) -> str:
        from rankwise.rows.first_rows import first_rows_html

        return first_rows_html(self)

    def __repr__(self) -> str:
        from rankwise.rows.first_rows import summary

        return summary(self)
