"""List measures as plain functions of labels, scores and query labels; each returns the mean over queries.

The result is NaN if every query is excluded. Conventions left at None are those of `preset`, or of "default"
without one.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from rankwise.metrics.measure import QueryLike
from rankwise.metrics.named_measures import get_measure
from rankwise.validation import check_count


def ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLike = None,
    *,
    k: int | None = None,
    preset: str | None = None,
    gain: str | None = None,
    discount: str | None = None,
    ties: str | None = None,
    empty: str | None = None,
    short: str | None = None,
    docs: ArrayLike | None = None,
) -> float:
    """Normalized discounted cumulative gain of the first k rows, or of all.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    k : int, optional
        The number of ranks to include; all by default.
    preset : {"letor", "trec", "sklearn", "lightgbm", "xgboost"}, optional
        The conventions of a well-known tool, which the parameters below override individually.
    gain : {"exponential", "linear"}
        2^label − 1, or the label.
    discount : {"log2", "letor"}
        1/log2(1 + rank), or 1, 1, then 1/log2(rank).
    ties : {"average", "row-order", "doc-descending"}
        How to order tied scores: the exact mean over all orders, the order of the rows, or the larger of
        `docs` first.
    empty : {"leave-out", "zero", "one"}
        The value of a query without positive labels.
    short : {"as-is", "zero"}
        The value of a query with fewer than k rows: computed from its rows, or 0.
    docs : array-like, shape (m,), optional
        Document labels, for ``ties="doc-descending"``.

    Examples
    --------
    >>> from rankwise.metrics import ndcg
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> round(ndcg(y, scores, qid, k=1), 3), round(ndcg(y, scores, qid, preset="trec"), 3)
    (0.5, 0.815)
    """
    measure = get_measure(
        _at("ndcg", k), preset=preset, gain=gain, discount=discount, ties=ties, empty=empty, short=short
    )
    return measure(y, scores, qid, docs=docs)


def mean_ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLike = None,
    *,
    preset: str | None = None,
    gain: str | None = None,
    discount: str | None = None,
    ties: str | None = None,
    empty: str | None = None,
    docs: ArrayLike | None = None,
) -> float:
    """MeanNDCG of LETOR 4.0: the mean of `ndcg` over all cutoffs, from 1 to the number of rows of the query.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    preset, gain, discount, ties, empty, docs
        As in `ndcg`; LETOR's tables are those of ``preset="letor"``.

    Examples
    --------
    >>> from rankwise.metrics import mean_ndcg
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> mean_ndcg(y, scores, qid, preset="letor")
    0.75
    """
    measure = get_measure("mean_ndcg", preset=preset, gain=gain, discount=discount, ties=ties, empty=empty)
    return measure(y, scores, qid, docs=docs)


def average_precision(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLike = None,
    *,
    k: int | None = None,
    preset: str | None = None,
    relevant: float | None = None,
    ties: str | None = None,
    empty: str | None = None,
    denominator: str | None = None,
    docs: ArrayLike | None = None,
) -> float:
    """Mean average precision (MAP): over relevant rows, the mean of the precision at their rank.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    k, preset, empty, docs
        As in `ndcg`.
    relevant : float
        The lowest label of a relevant row.
    ties : {"average", "row-order", "doc-descending", "threshold"}
        As in `ndcg`; "threshold" retrieves tied rows together, as scikit-learn does.
    denominator : {"full", "attainable"}
        Whether to divide the sum over the first k ranks by the number of relevant rows, or by at most k.

    Examples
    --------
    >>> from rankwise.metrics import average_precision
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> average_precision(y, scores, qid)
    0.75
    """
    measure = get_measure(
        _at("map", k), preset=preset, relevant=relevant, ties=ties, empty=empty, denominator=denominator
    )
    return measure(y, scores, qid, docs=docs)


def precision_at(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLike = None,
    *,
    k: int,
    preset: str | None = None,
    relevant: float | None = None,
    ties: str | None = None,
    empty: str | None = None,
    denominator: str | None = None,
    docs: ArrayLike | None = None,
) -> float:
    """P@k: the fraction of relevant rows among the first k.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    k, preset, ties, empty, docs
        As in `ndcg`.
    relevant
        As in `average_precision`.
    denominator : {"full", "attainable"}
        Whether to divide by k, or by the number of rows if that is smaller.

    Examples
    --------
    >>> from rankwise.metrics import precision_at
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> precision_at(y, scores, qid, k=1)
    0.5
    """
    measure = get_measure(
        _at("p", k), preset=preset, relevant=relevant, ties=ties, empty=empty, denominator=denominator
    )
    return measure(y, scores, qid, docs=docs)


def recall_at(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLike = None,
    *,
    k: int,
    preset: str | None = None,
    relevant: float | None = None,
    ties: str | None = None,
    empty: str | None = None,
    denominator: str | None = None,
    docs: ArrayLike | None = None,
) -> float:
    """Recall@k: the fraction of the relevant rows that are among the first k.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    k, preset, ties, empty, docs
        As in `ndcg`.
    relevant
        As in `average_precision`.
    denominator : {"full", "attainable"}
        Whether to divide by the number of relevant rows, or by at most k.

    Examples
    --------
    >>> from rankwise.metrics import recall_at
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> recall_at(y, scores, qid, k=1), recall_at(y, scores, qid, k=2)
    (0.25, 1.0)
    """
    measure = get_measure(
        _at("recall", k), preset=preset, relevant=relevant, ties=ties, empty=empty, denominator=denominator
    )
    return measure(y, scores, qid, docs=docs)


def reciprocal_rank(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLike = None,
    *,
    k: int | None = None,
    preset: str | None = None,
    relevant: float | None = None,
    ties: str | None = None,
    empty: str | None = None,
    docs: ArrayLike | None = None,
) -> float:
    """Mean reciprocal rank (MRR): one over the rank of the first relevant row, 0 if it is not in the first k.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    k, preset, ties, empty, docs
        As in `ndcg`.
    relevant
        As in `average_precision`.

    Examples
    --------
    >>> from rankwise.metrics import reciprocal_rank
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> reciprocal_rank(y, scores, qid)
    0.75
    """
    measure = get_measure(_at("rr", k), preset=preset, relevant=relevant, ties=ties, empty=empty)
    return measure(y, scores, qid, docs=docs)


def err(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLike = None,
    *,
    k: int | None = None,
    preset: str | None = None,
    max_grade: float | None = None,
    ties: str | None = None,
    empty: str | None = None,
    docs: ArrayLike | None = None,
) -> float:
    """Expected reciprocal rank of the row that satisfies the reader (Chapelle et al. 2009).

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    k, preset, ties, empty, docs
        As in `ndcg`.
    max_grade : float, optional
        A row satisfies the reader with probability (2^label − 1) / 2^max_grade; by default, the largest label
        in `y`.

    Examples
    --------
    >>> from rankwise.metrics import err
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> round(err(y, scores, qid), 3)
    0.453
    """
    measure = get_measure(_at("err", k), preset=preset, max_grade=max_grade, ties=ties, empty=empty)
    return measure(y, scores, qid, docs=docs)


def _at(kind: str, k: int | None) -> str:
    return kind if k is None else f"{kind}@{check_count('k', k)}"
