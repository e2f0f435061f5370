"""Sufficient statistics of the squared loss on differences."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, ParameterError
from rankwise.preferences.digests import label_digests
from rankwise.ridge.moments.combining import check_new, common_names
from rankwise.ridge.moments.learned import LearnedQueries
from rankwise.ridge.moments.open_queries import OpenQueries
from rankwise.ridge.moments.pool import Pool
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.types import Auto, Floats, Ties, Weighting
from rankwise.validation import check_kind
from rankwise.validation.arrays import as_floats

if TYPE_CHECKING:
    from rankwise.ridge.moments.sizes import QuerySizes


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """The sufficient statistics of a linear RankRLS model: ``XᵀLX``, ``XᵀLy`` and ``yᵀLy``.

    They are sums over queries, so moments of different queries can be added and subtracted, in any order and
    on any machine, and `RankRLS.from_moments` gives the same model as a fit to all rows. The rows of a query
    may also be split over several parts: the query is then *open* until `close`. O(n²) memory.

    Create moments with `of`; a `RankRLS` model fitted with the primal solver has them as ``moments_``.

    Attributes
    ----------
    ties, weighting : str
        The loss, as in `RankRLS`.
    quadratic : Quadratic
        The sums, with bounds on their rounding errors.
    learned : LearnedQueries
        Digests of the complete queries, and their weights.
    open_queries : OpenQueries
        The queries that may get more rows.
    n_rows, n_pairs : int
        The number of rows, and of pairs compared in complete queries.
    feature_names : tuple of str or None
        The names of the features, if they have any.
    has_qid : bool
        Whether the queries have labels.

    See Also
    --------
    RankRLS : `from_moments` fits a model to them.
    QuerySizes : Sizes of whole queries, for moments of parts.

    Examples
    --------
    >>> from rankwise import Moments, RankRLS, make_search_data
    >>> data = make_search_data(20, random_state=0)
    >>> old, new = data.split(0.8)
    >>> moments = Moments.of(old) + Moments.of(new)
    >>> moments
    Moments(291 rows, 20 queries, 22 features, ties='keep', weighting='example')
    >>> model, fitted = RankRLS.from_moments(moments), RankRLS().fit(data)
    >>> bool(abs(model.coef_ - fitted.coef_).max() < 1e-10)
    True
    """

    ties: Ties
    weighting: Weighting
    quadratic: Quadratic
    learned: LearnedQueries
    n_rows: int
    n_pairs: int
    open_queries: OpenQueries = field(default_factory=OpenQueries.none)
    feature_names: tuple[str, ...] | None = None
    has_qid: bool = True

    @classmethod
    def of(
        cls,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        ties: str = "keep",
        weighting: str = "example",
        query_weight: Any = None,
        open_queries: bool | Iterable[Hashable] = False,
        sizes: QuerySizes | None = None,
    ) -> Moments:
        """Compute the moments of judged rows; a store is read once, in batches.

        Parameters
        ----------
        X : array, CSR matrix, data frame or RankingData, shape (m, n)
            In memory or memory-mapped. A `RankingData` has y and qid, and may have weights.
        y : array, shape (m,)
            Labels of any real value; higher is better.
        qid : sequence of hashables, optional
            The query of each row, in any order; None means one global ranking.
        sample_weight : array, shape (m,), optional
            The weight of each row.
        ties : {"keep", "drop"}, default="keep"
            As in `RankRLS`.
        weighting : {"example", "pair", "query"}, default="example"
            As in `RankRLS`.
        query_weight : array, shape (n_queries,), or mapping, optional
            The weight of each query, in order of first appearance or by label.
        open_queries : bool or collection of labels, default=False
            The queries that may get more rows; True means all of them. By default, queries are complete. An
            open query takes O(n) memory with ``ties="keep"`` and ``weighting="example"``, or with `sizes`,
            and otherwise O(n²), or O(n²) per label with ``ties="drop"``.
        sizes : QuerySizes, optional
            The sizes that the complete queries will have; all queries are then open.
        """
        from rankwise.ridge.moments.forming import moments_of_arrays

        return moments_of_arrays(
            X,
            y,
            qid,
            sample_weight,
            ties=ties,
            weighting=weighting,
            query_weight=query_weight,
            open_queries=open_queries,
            sizes=sizes,
        )

    @classmethod
    def of_text(
        cls,
        path: str | os.PathLike[str],
        *,
        ties: str = "keep",
        weighting: str = "example",
        n_features: int | None = None,
        zero_based: bool | Auto = "auto",
    ) -> Moments:
        """Compute the moments of LETOR/SVMlight text, which may be larger than memory, in one pass.

        Rows of a query must be contiguous; `convert_letor` sorts those that are not.

        Parameters
        ----------
        path : path
            The text file.
        ties, weighting
            As in `of`.
        n_features, zero_based
            As in `load_letor`; by default, they are determined from the first rows (64 MB).
        """
        from rankwise.ridge.moments.streaming import moments_of_text

        return moments_of_text(path, ties, weighting, n_features, zero_based)

    @property
    def n_features(self) -> int:
        return len(self.quadratic.matrix)

    @property
    def n_queries(self) -> int:
        """The number of queries, complete or open."""
        return len(self.learned) + len(self.open_queries)

    @property
    def A(self) -> Floats:  # noqa: N802
        """``XᵀLX`` of the complete queries, shape (n, n)."""
        return self.quadratic.matrix

    @property
    def b(self) -> Floats:
        """``XᵀLy``, shape (n,)."""
        return self.quadratic.right

    @property
    def yLy(self) -> Floats:  # noqa: N802
        """``yᵀLy``."""
        return self.quadratic.constant

    def loss(self, coef: Floats) -> Floats:
        """Return the squared loss of weights on all pairs of the complete queries."""
        weights = as_floats("coef", coef)
        if weights.ndim not in (1, 2) or weights.shape[-1] != self.n_features:
            raise DataError(f"coef must hold {self.n_features} weights; got shape {weights.shape}.")
        return self.quadratic(weights)

    def __add__(self, other: object) -> Moments:
        """The moments of both: all queries of each, and all rows of queries that are open in both."""
        if not isinstance(other, Moments):
            return NotImplemented
        names = common_names(self, other)
        check_new(self, other)
        pool = self._pool()
        merged = self.open_queries.merged(other.open_queries, pool)
        quadratic = self.quadratic + other.quadratic
        return replace(
            self,
            quadratic=quadratic + pool.total() if pool.tables else quadratic,
            learned=self.learned + other.learned,
            n_rows=self.n_rows + other.n_rows,
            n_pairs=self.n_pairs + other.n_pairs,
            open_queries=merged,
            feature_names=names,
            has_qid=self.has_qid or other.has_qid,
        )

    def __sub__(self, other: object) -> Moments:
        """The moments without those of some complete queries, which must be among them."""
        if not isinstance(other, Moments):
            return NotImplemented
        names = common_names(self, other)
        if other.open_queries:
            raise DataError(f"Only complete queries can be subtracted; {other.open_queries.names()} is open.")
        positions = self.learned.find(other.learned.labels, other.learned.contents)
        if not np.allclose(self.learned.weights[positions], other.learned.weights, rtol=1e-12, atol=0.0):
            raise DataError("Queries can be subtracted only with the weights that they have now.")
        return replace(
            self,
            quadratic=self.quadratic - other.quadratic,
            learned=self.learned.without(positions),
            n_rows=self.n_rows - other.n_rows,
            n_pairs=self.n_pairs - other.n_pairs,
            feature_names=names,
        )

    def __mul__(self, factor: float) -> Moments:
        """The moments with the weight of every query multiplied, as for old queries that count less."""
        if not (np.isfinite(factor) and factor > 0.0):
            raise ParameterError(
                f"Moments can be multiplied only by a finite number above 0; got {factor!r}."
            )
        factor = float(factor)
        return replace(
            self,
            quadratic=self.quadratic * factor,
            learned=self.learned * factor,
            open_queries=self.open_queries * factor,
        )

    __rmul__ = __mul__

    def close(self, *, leave_open: Iterable[Hashable] = ()) -> Moments:
        """Return the moments with all open queries complete; these then accept no more rows.

        Parameters
        ----------
        leave_open : collection of labels
            Queries that stay open.
        """
        left = label_digests(list(check_kind("leave_open", leave_open, Iterable)))
        stays = np.isin(self.open_queries.digests, left)
        if stays.all():
            return self
        pool, queries = self._pool(), self.open_queries.chosen(~stays)
        n_pairs = queries.close(pool)
        closed = LearnedQueries(queries.digests, queries.contents.view(np.int64), queries.weights)
        return replace(
            self,
            quadratic=self.quadratic + pool.total(),
            learned=self.learned + closed,
            n_pairs=self.n_pairs + n_pairs,
            open_queries=self.open_queries.chosen(stays),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the moments to a file, which `load` reads; it holds numbers and names, never code."""
        from rankwise.ridge.moments.file import write_moments

        write_moments(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Moments:
        """Load moments saved with `save`."""
        from rankwise.ridge.moments.file import read_moments

        return read_moments(path)

    def _pool(self) -> Pool:
        return Pool(self.ties, self.weighting, self.quadratic.shape)

    def __repr__(self) -> str:
        still_open = f", {len(self.open_queries):,} of them open" if self.open_queries else ""
        return (
            f"Moments({self.n_rows:,} rows, {self.n_queries:,} queries{still_open}, "
            f"{self.n_features:,} features, ties={str(self.ties)!r}, weighting={str(self.weighting)!r})"
        )
