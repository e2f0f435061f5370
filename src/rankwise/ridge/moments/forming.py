"""Moments of rows: the pass over X."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, ParameterError
from rankwise.mapped import is_on_disk
from rankwise.operators.blocks import block_rows, dense, gram_rows, runs
from rankwise.operators.design import MatrixDesign
from rankwise.operators.reference import column_ranges, near_zero
from rankwise.preferences.differences import QueryDifferences, order_by_level
from rankwise.preferences.digests import label_digests
from rankwise.preferences.queries import Queries, one_query, restored
from rankwise.readers.letor_batches import BATCH_BYTES
from rankwise.ridge.moments.learned import LearnedQueries, query_digests
from rankwise.ridge.moments.moments import Moments
from rankwise.ridge.moments.open_queries import OpenLevels, OpenQueries
from rankwise.ridge.moments.pool import ONE_LEVEL, LevelWeights, Pool
from rankwise.ridge.moments.quadratic import UNIT_ROUNDOFF, Quadratic
from rankwise.ridge.moments.sizes import QuerySizes
from rankwise.ridge.squared import SquaredLoss, loss_on_scores
from rankwise.rows.ranking import RankingData
from rankwise.types import Bools, Floats, Ints, Matrix, Ties, Weighting, is_sparse
from rankwise.validation import (
    Problem,
    check_choice,
    check_products,
    check_query_weight,
    check_read_rows,
    check_row_weight,
    taken_apart,
)
from rankwise.validation.arrays import check_weight_range


def moments_of_arrays(
    X: Any,
    y: ArrayLike | None,
    qid: ArrayLike | Iterable[Hashable] | None,
    sample_weight: ArrayLike | None,
    *,
    ties: str,
    weighting: str,
    query_weight: Any,
    open_queries: bool | Iterable[Hashable],
    sizes: QuerySizes | None,
) -> Moments:
    """`Moments.of`."""
    choices = check_choice("ties", ties, Ties), check_choice("weighting", weighting, Weighting)
    sample_weight = taken_apart(X, y, qid, sample_weight)[2]
    if isinstance(X, RankingData):
        data = X
    elif y is None:
        raise ParameterError("Moments.of needs y unless X is a RankingData.")
    else:
        data = RankingData.from_arrays(X, y, qid)
    weight = check_row_weight(sample_weight, data.n_rows)
    check_weight_range("sample_weight", "row", weight)
    factor = check_query_weight(query_weight, data.queries)
    problem = Problem(data.X, data.y, data.queries, weight, factor)
    still_open = _open_queries(open_queries, sizes, data.queries)
    if still_open.any():
        if isinstance(X, RankingData):
            check_read_rows(problem.X)
        return moments_of(problem, *choices, data.feature_names, still_open, sizes)
    total: Moments | None = None
    for batch in _batches(problem):
        if isinstance(X, RankingData):
            check_read_rows(batch.X)
        part = moments_of(batch, *choices, data.feature_names)
        total = part if total is None else total + part
    assert total is not None
    return total


def _batches(problem: Problem) -> Iterator[Problem]:
    """Whole queries of a matrix on disk, few enough to stay in memory while they are used; or everything.

    A batch is checked, summed and digested, so a matrix larger than memory would be read several times.
    """
    queries = problem.queries
    if queries.labels is None or queries.order is not None or not is_on_disk(problem.X):
        yield problem
        return
    for first, last in runs(queries.offsets, max(1, BATCH_BYTES // (8 * problem.X.shape[1]))):
        offsets, factor = queries.offsets[first : last + 1], problem.query_weight
        place = slice(int(offsets[0]), int(offsets[-1]))
        yield Problem(
            X=problem.X[place],
            y=problem.y[place],
            queries=Queries(offsets - place.start, labels=queries.labels[first:last]),
            row_weight=None if problem.row_weight is None else problem.row_weight[place],
            query_weight=None if factor is None else factor[first:last],
        )


@singledispatch
def moments_of(
    problem: Problem,
    ties: Ties,
    weighting: Weighting,
    feature_names: tuple[str, ...] | None,
    still_open: Bools | None = None,
    sizes: QuerySizes | None = None,
    quadratic: Quadratic | None = None,
    places: Ints | None = None,
) -> Moments:
    """The moments of checked rows.

    Parameters
    ----------
    problem : Problem
        `cluster/variants.py` names the function for rows in parts.
    ties, weighting
    feature_names : tuple of str or None
    still_open : array of bool, shape (n_queries,), or None
        The queries of which more rows may follow.
    sizes : QuerySizes or None
    quadratic : Quadratic or None
        The sums, if they are known already; no query is open then.
    places : Ints or None
        As in `LearnedQueries`.
    """
    queries = problem.queries
    still_open = np.zeros(queries.n_queries, dtype=np.bool_) if still_open is None else still_open
    complete, rows_open = ~still_open, still_open[queries.query_of_row()]
    labels, contents = digests_of(problem, places)
    if ties is Ties.DROP and problem.y.ndim == 2:
        raise ParameterError("Moments with ties='drop' have one target; y has several.")
    weights = np.ones(queries.n_queries) if problem.query_weight is None else problem.query_weight
    made = Moments(
        ties=ties,
        weighting=weighting,
        quadratic=Pool(ties, weighting, (problem.X.shape[1], *problem.y.shape[1:])).total(),
        learned=LearnedQueries(labels[complete], contents[complete], weights[complete], places),
        n_rows=len(problem.y),
        n_pairs=int(_pair_counts(queries, problem.y, ties)[complete].sum()),
        feature_names=feature_names,
        has_qid=queries.labels is not None,
    )
    if complete.any():
        # Rows of open queries stay, with weight 0, because X may be larger than memory.
        whole = problem.without(rows_open) if rows_open.any() else problem
        made = replace(made, quadratic=_bounded(whole, loss_on_scores(whole, ties, weighting), quadratic))
    if not still_open.any():
        return made
    rest = problem.select(np.flatnonzero(rows_open)) if complete.any() else problem
    pool = Pool(ties, weighting, made.quadratic.shape)
    pooled, opened = _open_part(rest, pool, sizes, labels[still_open], contents[still_open])
    return replace(made, quadratic=made.quadratic + pooled, open_queries=opened)


def digests_of(problem: Problem, places: Ints | None = None) -> tuple[Ints, Ints]:
    """The digests of the labels of queries, and of their rows; `places` as in `LearnedQueries`."""
    queries = problem.queries
    contents = query_digests(problem.X, problem.y, problem.row_weight, queries, places)
    if queries.labels is None:
        return contents, contents
    return label_digests(queries.labels.tolist()), contents


def _open_queries(given: bool | Iterable[Hashable], sizes: QuerySizes | None, queries: Queries) -> Bools:
    """Which queries are open."""
    if sizes is not None and not isinstance(sizes, QuerySizes):
        raise ParameterError(f"The 'sizes' parameter must be QuerySizes; got {type(sizes).__name__}.")
    if isinstance(given, (bool, np.bool_)):
        chosen = np.full(queries.n_queries, bool(given) or sizes is not None)
    elif isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        known = [] if queries.labels is None else queries.labels.tolist()
        named, present = list(given), set(known)
        for label in named:
            if not isinstance(label, Hashable) or label not in present:
                raise DataError(f"The data has no query {label!r} that could be open.")
        opened = set(named)
        chosen = np.array([label in opened for label in known], dtype=np.bool_)
    else:
        raise ParameterError(
            f"The 'open_queries' parameter must be True, False or a collection of labels; got {given!r}."
        )
    if chosen.any() and queries.labels is None:
        raise DataError(
            "Rows without a qid form one complete ranking; to split it, give its parts the same qid."
        )
    return chosen


def _levels(queries: Queries, y: Floats, ties: Ties) -> tuple[Queries, Ints, Floats]:
    """The rows in groups of a query and, if ties are dropped, a label; the query and label of each group."""
    if ties is Ties.KEEP:
        n_queries = queries.n_queries
        return replace(queries, labels=None), np.arange(n_queries), np.full(n_queries, ONE_LEVEL)
    order, offsets = order_by_level(queries, y)
    first = order[offsets[:-1]]
    return Queries(offsets, order), queries.query_of_row()[first], y[first]


def _pair_counts(queries: Queries, y: Floats, ties: Ties) -> Ints:
    sizes = queries.sizes
    if ties is Ties.KEEP:
        return sizes * (sizes - 1) // 2
    levels, query, _ = _levels(queries, y, ties)
    same = np.zeros(queries.n_queries, dtype=np.int64)
    np.add.at(same, query, levels.sizes**2)
    return (sizes**2 - same) // 2


def _open_part(
    problem: Problem, pool: Pool, sizes: QuerySizes | None, digests: Ints, contents: Ints
) -> tuple[Quadratic, OpenQueries]:
    """Rows whose queries are all open: what can be summed now, and the queries."""
    queries, weight = problem.queries, problem.row_weight
    assert queries.labels is not None
    names = np.array([str(label) for label in queries.labels.tolist()], dtype=object)
    factors = np.ones(queries.n_queries) if problem.query_weight is None else problem.query_weight
    told = LevelWeights.none() if sizes is None else sizes.told(digests, names, pool.ties)
    levels, query, value = _levels(queries, problem.y, pool.ties)
    pooled, scatter = pool.total(), np.full(len(query), None)
    if sizes is not None or not pool.needs_sizes:
        known = pool.factors(query, value, told, names) * factors[query]
        pooled = _scatter(problem.X, problem.y, levels, weight, known)
    else:
        members = np.split(levels.grouped(np.arange(len(problem.y))), levels.offsets[1:-1])
        for g, rows in enumerate(members):
            row_weight = np.ones(len(rows)) if weight is None else weight[rows]
            scatter[g] = _scatter(problem.X[rows], problem.y[rows], one_query(len(rows)), row_weight, None)
    totals, origin, shift = map(np.concatenate, zip(*_group_means(problem, levels), strict=True))
    groups = OpenLevels(query, value, levels.sizes, totals, origin, shift, scatter)
    return pooled, OpenQueries(digests, names, contents.view(np.uint64), factors, groups, told)


def _group_means(problem: Problem, groups: Queries) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Of groups of rows: their weights, the first row of each, and the mean difference from that."""
    for first, last in runs(groups.offsets, block_rows(problem.X)):
        offsets = groups.offsets[first : last + 1]
        starts, sizes = offsets[:-1] - offsets[0], np.diff(offsets)
        rows = np.arange(offsets[0], offsets[-1])
        rows = rows if groups.order is None else groups.order[rows]
        weight = np.ones(len(rows)) if problem.row_weight is None else problem.row_weight[rows]
        table = np.hstack([dense(problem.X[rows]), problem.y[rows].reshape(len(rows), -1)])
        origins = table[starts]
        totals = np.add.reduceat(weight, starts)
        table -= np.repeat(origins, sizes, axis=0)
        table *= weight[:, None]
        shifts = np.add.reduceat(table, starts) / np.where(totals > 0.0, totals, 1.0)[:, None]
        yield totals, origins, shifts


def _scatter(
    X: Matrix, y: Floats, groups: Queries, weight: Floats | None, factor: Floats | None
) -> Quadratic:
    """``Σ_g factor_g M_g``: as if the groups were queries whose ties are kept."""
    problem = Problem(X, y, groups, weight, factor)
    return _bounded(problem, loss_on_scores(problem, Ties.KEEP, Weighting.EXAMPLE))


def _bounded(problem: Problem, loss: SquaredLoss, quadratic: Quadratic | None = None) -> Quadratic:
    """The quadratic of a loss on labels, formed unless it is given, with bounds on its rounding errors."""
    F, X = loss.differences, problem.X
    assert isinstance(F, QueryDifferences)
    if is_sparse(X):
        X, _ = near_zero(X, F.reference())
    made = loss.quadratic(MatrixDesign(X)) if quadratic is None else quadratic
    check_products(made.matrix)
    degree = restored(F.laplacian_terms()[0], F.order)
    # What rows are multiplied by for b, apart from the root of the degree.
    products = (F.adjoint(loss.target).reshape(len(degree), -1) ** 2).sum(axis=1)
    target = float(np.divide(products, degree, out=np.zeros_like(degree), where=degree > 0).sum())
    if is_sparse(X):
        # Products of whole rows, of which the means are subtracted afterwards.
        near: Any = X.astype(np.float64)
        return made.with_rounding(X.shape[0], near.multiply(near).T @ degree, target)
    in_block = min(X.shape[0], gram_rows(X))
    bounded = made.with_rounding(in_block + X.shape[0] // in_block, np.diag(made.matrix), target)
    # A mean of h rows is off by at most h roundings of the largest, and its square enters.
    offset, spread = column_ranges(X, F.reference())
    rows_of_mean = np.minimum(F.queries.sizes, in_block) + 2.0
    weight = float((F.query_weight * (F.query_sum * rows_of_mean * UNIT_ROUNDOFF) ** 2).sum())
    assert bounded.rounding is not None
    return replace(bounded, rounding=bounded.rounding + np.append(weight * (offset + spread) ** 2, 0.0))
