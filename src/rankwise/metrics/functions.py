"""Measures as plain functions of labels, scores and query labels; each returns the mean over queries.

What they share: `y` and `scores` are array-likes with one number per row; `qid` holds the query label of each
row, in any order, and None means one global ranking; higher scores rank first. The result is NaN when every
query is left out. Conventions left at None are those of `preset`, and of "default" without one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from numpy.typing import ArrayLike

from rankwise.metrics.conventions import Average
from rankwise.metrics.measure import get_measure
from rankwise.validation import check_choice, check_count

QueryLabels = ArrayLike | Iterable[Hashable] | None


def pairwise_error(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLabels = None,
    *,
    average: str = "macro",
    sample_weight: ArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The part of pairs with different labels that the scores order wrongly; a tied score is half wrong.

    Paper C, equation (1), in O(m log m) with 64-bit counts.

    Parameters
    ----------
    y, scores : array-like, shape (m,)
        A label and a score for each row; higher is better.
    qid : array-like of hashables, shape (m,), optional
        The query of each row, in any order; without it there is one global ranking.
    average : {"macro", "micro"}
        The mean of the queries' errors, or all wrong pairs over all pairs. Queries without two different
        labels have no pairs and are left out.
    sample_weight : array-like, optional
        Row weights s; a pair weighs s_i s_j, so that weight 2 equals the row twice.
    n_threads : int or None
        Every core by default; the result is the same.

    Examples
    --------
    >>> from rankwise.metrics import pairwise_error
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> pairwise_error(y, scores, qid)
    0.5
    """
    micro = check_choice("average", average, Average) is Average.MICRO
    measure = get_measure("pairwise_error_micro" if micro else "pairwise_error")
    return measure.on(y, qid, sample_weight, n_threads=n_threads)(scores)


def disagreement_error(y: ArrayLike, scores: ArrayLike, qid: QueryLabels = None) -> float:
    """Paper B, equation (1): the mean of ½ |sign(y_i − y_j) − sign(f_i − f_j)| over the pairs of each query.

    Differs from `pairwise_error` in counting pairs with equal labels: ½ if the scores order them, else 0.
    Queries with a single row are left out.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.

    Examples
    --------
    >>> from rankwise.metrics import disagreement_error
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> disagreement_error(y, scores, qid)
    0.5
    """
    return get_measure("disagreement_error")(y, scores, qid)


def kendall_tau_b(y: ArrayLike, scores: ArrayLike, qid: QueryLabels = None) -> float:
    """Kendall's τ-b between labels and scores; scores that are all equal count 0.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.

    Examples
    --------
    >>> from rankwise.metrics import kendall_tau_b
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> kendall_tau_b(y, scores, qid)
    0.0
    """
    return get_measure("kendall_tau_b")(y, scores, qid)


def ndcg(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLabels = None,
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
        How many ranks count; all by default.
    preset : {"letor", "trec", "sklearn", "lightgbm", "xgboost"}, optional
        The conventions of a known tool; those below override it one by one.
    gain : {"exponential", "linear"}
        2^label − 1, or the label.
    discount : {"log2", "letor"}
        1/log2(1 + rank), or 1, 1, then 1/log2(rank).
    ties : {"average", "row-order", "doc-descending"}
        Tied scores: the exact mean over their orders; the order of the rows; the greater of `docs` first.
    empty : {"leave-out", "zero", "one"}
        What a query without positive labels counts.
    short : {"as-is", "zero"}
        What a query with fewer than k rows counts: what its rows give, or 0.
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


def average_precision(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLabels = None,
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
        The least label of a relevant row.
    ties : {"average", "row-order", "doc-descending", "threshold"}
        As in `ndcg`; "threshold" retrieves tied rows together, as scikit-learn does.
    denominator : {"full", "attainable"}
        Divide the sum over the first k ranks by the number of relevant rows, or by at most k.

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
    qid: QueryLabels = None,
    *,
    k: int,
    preset: str | None = None,
    relevant: float | None = None,
    ties: str | None = None,
    empty: str | None = None,
    denominator: str | None = None,
    docs: ArrayLike | None = None,
) -> float:
    """P@k: the part of relevant rows among the first k.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    k, preset, ties, empty, docs
        As in `ndcg`.
    relevant
        As in `average_precision`.
    denominator : {"full", "attainable"}
        Divide by k, or by the number of rows where that is less.

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


def reciprocal_rank(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLabels = None,
    *,
    k: int | None = None,
    preset: str | None = None,
    relevant: float | None = None,
    ties: str | None = None,
    empty: str | None = None,
    docs: ArrayLike | None = None,
) -> float:
    """MRR: one over the rank of the first relevant row, 0 if it is not among the first k.

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
    qid: QueryLabels = None,
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
        A row satisfies with probability (2^label − 1) / 2^max_grade; by default the greatest label in `y`.

    Examples
    --------
    >>> from rankwise.metrics import err
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> round(err(y, scores, qid), 3)
    0.453
    """
    measure = get_measure(_at("err", k), preset=preset, max_grade=max_grade, ties=ties, empty=empty)
    return measure(y, scores, qid, docs=docs)


def auc(
    y: ArrayLike,
    scores: ArrayLike,
    qid: QueryLabels = None,
    *,
    relevant: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve of relevant against other rows, query by query; a tied score counts ½.

    Parameters
    ----------
    y, scores, qid
        As in `pairwise_error`.
    relevant
        As in `average_precision`.
    sample_weight
        As in `pairwise_error`.

    Examples
    --------
    >>> from rankwise.metrics import auc
    >>> y, scores, qid = [2, 0, 1, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.7], ["a", "a", "a", "b", "b"]
    >>> auc(y, scores, qid)
    0.5
    """
    return get_measure("auc", relevant=relevant).on(y, qid, sample_weight)(scores)


def _at(kind: str, k: int | None) -> str:
    return kind if k is None else f"{kind}@{check_count('k', k)}"
