"""RankRLS next to scikit-learn's Ridge and SciPy's conjugate gradient, to the same objective."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut

from benchmarks.peers.comparing import Side, compare, comparison, first_to_reach
from benchmarks.peers.shapes import (
    Rows,
    all_pairs,
    centred,
    ohsumed_shaped,
    sampled_pairs,
    text,
    web_shaped,
)
from benchmarks.tables import Table
from benchmarks.timing import sized
from rankwise import RankRLS, RankRLSCV
from rankwise.metrics import get_measure
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.types import Ties, Weighting

ALPHA = 1.0
ALPHAS = 2.0 ** np.arange(-15, 16)
TOLERANCES = 10.0 ** -np.arange(1, 9)
MAX_EXCESS = 1e-3  # how much larger than its minimum an iterative solver may leave the objective

Weights = NDArray[np.float64]


def run() -> None:
    table = comparison("rankrls", "RankRLS: the objective over all pairs relative to its minimum")
    on_all_differences(table)
    on_centred_rows(table)
    on_text(table)
    table = comparison(
        "rankrlscv", "RankRLSCV, 31 alphas: the pairwise error of the chosen one on left-out queries"
    )
    leave_query_out(table)


def objective(rows: Rows, ties: Ties, weighting: Weighting) -> Callable[[Weights], float]:
    """The squared loss over all pairs plus the penalty, which no side is timed on."""
    F = QueryDifferences(group_rows(rows.qid, len(rows.y)), rows.y, ties=ties, weighting=weighting)
    target = F.apply(rows.y)
    return lambda w: float(np.sum((F.apply(rows.X @ w) - target) ** 2) + ALPHA * w @ w)


def excess_over(value: Callable[[Weights], float], minimum: float) -> Callable[[Weights], str]:
    return lambda w: f"+{max(0.0, 100 * (value(w) / minimum - 1)):.2f} %"


def on_all_differences(table: Table) -> None:
    """Ridge on every difference is the same model; on a tenth of them, with alpha to match, a worse one."""
    rows = ohsumed_shaped()
    value = objective(rows, Ties.DROP, Weighting.PAIR)
    model = RankRLS(ALPHA, ties="drop", weighting="pair")
    pairs = all_pairs(rows)
    n_sampled = len(pairs) // 10

    def ridge(draw: Callable, share: float) -> Weights:
        drawn = draw(rows)
        D, t = rows.X[drawn.better] - rows.X[drawn.worse], rows.y[drawn.better] - rows.y[drawn.worse]
        return Ridge(share * ALPHA, fit_intercept=False).fit(D, t).coef_

    ours = Side("RankRLS", lambda: model.fit(rows.X, rows.y, rows.qid).coef_)
    peers = [
        Side(f"Ridge, all {len(pairs):,} differences", partial(ridge, all_pairs, 1.0)),
        Side(
            f"Ridge, {n_sampled:,} sampled differences",
            partial(ridge, partial(sampled_pairs, n_pairs=n_sampled), 0.1),
        ),
    ]
    compare(table, f"dense {rows.shape}", ours, peers, excess_over(value, value(ours.fit())))


def on_centred_rows(table: Table) -> None:
    """With pairs weighted by 1 / h, RankRLS is Ridge on rows centred per query, if one knows that."""
    rows = web_shaped()
    value = objective(rows, Ties.KEEP, Weighting.EXAMPLE)
    n_sampled = sized(200_000)
    n_pairs = len(rows.y) * 99 / 2

    def ridge() -> Weights:
        return Ridge(ALPHA, fit_intercept=False).fit(centred(rows.X, 100), centred(rows.y, 100)).coef_

    def ridge_on_sample() -> Weights:
        drawn = sampled_pairs(rows, n_sampled)
        D, t = rows.X[drawn.better] - rows.X[drawn.worse], rows.y[drawn.better] - rows.y[drawn.worse]
        # Each of the n_pairs pairs weighs 1 / 100, so the penalty of the sample is larger by 100.
        return Ridge(100 * ALPHA * len(drawn) / n_pairs, fit_intercept=False).fit(D, t).coef_

    ours = Side("RankRLS", lambda: RankRLS(ALPHA).fit(rows.X, rows.y, rows.qid).coef_)
    peers = [
        Side("Ridge, rows centred per query", ridge),
        Side(f"Ridge, {n_sampled:,} sampled differences", ridge_on_sample),
    ]
    compare(table, f"dense {rows.shape}", ours, peers, excess_over(value, value(ours.fit())))


def on_text(table: Table) -> None:
    """One global ranking: Ridge with an intercept is the same model, and so is SciPy's cg on products."""
    rows = text()
    X, y, m = rows.X, rows.y, len(rows.y)
    value = objective(rows, Ties.KEEP, Weighting.EXAMPLE)

    def rankrls(tol: float) -> Weights:
        return RankRLS(ALPHA, solver="cg", tol=tol).fit(X, y).coef_

    def ridge(tol: float) -> Weights:
        return Ridge(ALPHA, solver="sparse_cg", tol=tol).fit(X, y).coef_

    def scipy_cg(rtol: float) -> Weights:
        def product(w: Weights) -> Weights:
            scores = X @ w
            return X.T @ (scores - scores.mean()) + ALPHA * w

        n = X.shape[1]
        return cg(LinearOperator((n, n), matvec=product), X.T @ (y - y.mean()), rtol=rtol)[0]

    minimum = value(rankrls(1e-10))
    named = {"RankRLS, cg": rankrls, "Ridge, sparse_cg": ridge, "SciPy, cg on X'(L(Xv))": scipy_cg}
    ours, *peers = (cheapest(name, fit, value, (1 + MAX_EXCESS) * minimum) for name, fit in named.items())
    compare(table, f"text {m:,} × {X.shape[1]:,}, to 0.1 %", ours, peers, excess_over(value, minimum))


def cheapest(name: str, fit: Callable, value: Callable[[Weights], float], limit: float) -> Side:
    setting, reached = first_to_reach(TOLERANCES, fit, value, limit)
    return Side(f"{name}, tol {setting:g}", partial(fit, setting), reached)


def leave_query_out(table: Table) -> None:
    """scikit-learn has one model per alpha and fold; a target per alpha lets them share a Gram matrix."""
    rows = ohsumed_shaped()
    error = get_measure("pairwise_error")

    def ridge(folds: GroupKFold | LeaveOneGroupOut) -> float:
        X, y = centred(rows.X, 152), np.repeat(centred(rows.y, 152)[:, None], len(ALPHAS), axis=1)
        scores = np.empty_like(y)
        for kept, left in folds.split(X, y, rows.qid):
            scores[left] = Ridge(ALPHAS, fit_intercept=False).fit(X[kept], y[kept]).predict(X[left])
        return min(error(rows.y, scores[:, k], rows.qid) for k in range(len(ALPHAS)))

    ours = Side("RankRLSCV", lambda: RankRLSCV(ALPHAS).fit(rows.X, rows.y, rows.qid).best_score_)
    peers = [
        Side("Ridge and LeaveOneGroupOut, centred rows", lambda: ridge(LeaveOneGroupOut())),
        Side("Ridge and GroupKFold(5), centred rows", lambda: ridge(GroupKFold(5))),
    ]
    compare(
        table, f"dense {rows.shape}, {rows.qid[-1] + 1} queries", ours, peers, lambda error: f"{error:.4f}"
    )
