"""Interactions on the movies, 266,000 rows: NDCG@10 of test queries and processor time.

Every query is a test query once. Every learner chooses its settings on training queries, which is part of its
time: ours the loss and alpha on a quarter of them, fitted to another quarter. All folds take ten minutes of
one core, and EBM much longer; a run that is interrupted goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks import timing
from benchmarks.bench_interactions import (
    DEPTH_2,
    MEASURE,
    N_TREES_OF_DEPTH_2,
    by_ebm,
    compare_on,
    in_folds,
)
from benchmarks.bench_splines import (
    LEAVES,
    Fitted,
    Learner,
    by_ranker,
    by_trees,
    folds_of,
    of_queries,
    tuned,
)
from benchmarks.kept import forget, measured_once
from benchmarks.movies import signals
from benchmarks.peers.comparing import is_installed, one_thread
from benchmarks.peers.shapes import Rows
from benchmarks.peers.trees import fit_lightgbm, fit_xgboost
from benchmarks.timing import real_data
from rankwise import RankRLS, RankRLSCV, RankSVM, RankSVMCV

NAME = "interactions-movies"
N_FOLDS = 5
# So many rows have room for more knots than the ten of "spline".
KNOTS = "spline:30"
N_INTERACTIONS = 20
HINGE_ALPHAS = (1e-3, 1e-4)


def run() -> None:
    folder = real_data()
    if folder is None:
        return
    rows = signals(folder / "movies")
    if timing.quick:
        rows = of_queries(rows, np.arange(300))
    with one_thread():
        compare_on(in_folds(NAME, rows, N_FOLDS), dict(learners()), measured_once)
    forget(NAME)


def learners() -> Iterator[tuple[str, Learner]]:
    yield "linear", by_ranker(RankRLSCV(columns="number", measure=MEASURE))
    yield "splines", by_ranker(RankRLSCV(columns="spline", measure=MEASURE))
    yield "30 knots, loss chosen", with_chosen_loss(None)
    yield (
        f"splines, {N_INTERACTIONS} interactions",
        by_ranker(RankRLSCV(columns="spline", interactions=N_INTERACTIONS, measure=MEASURE)),
    )
    yield f"{N_INTERACTIONS} interactions, loss chosen", with_chosen_loss(N_INTERACTIONS)
    if is_installed("lightgbm", "lightgbm"):
        yield "LightGBM, depth 2", by_trees(fit_lightgbm, DEPTH_2, N_TREES_OF_DEPTH_2)
        yield "LightGBM, defaults", by_trees(fit_lightgbm)
        yield "LightGBM, tuned", tuned(fit_lightgbm, LEAVES)
    if is_installed("xgboost", "xgboost-cpu"):
        yield "XGBoost, defaults", by_trees(fit_xgboost)
    if is_installed("interpret", "interpret-core"):
        yield "EBM", by_ebm


def with_chosen_loss(n_interactions: int | None) -> Learner:
    """RankRLS or RankSVM with the squared hinge, whichever is better without interactions, and its alpha."""

    def fit(rows: Rows) -> Fitted:
        return by_ranker(chosen(rows).set_params(columns=KNOTS, interactions=n_interactions))(rows)

    return fit


def chosen(rows: Rows) -> RankRLS | RankSVM:
    """The loss and alpha with the best NDCG@10 on a quarter of the queries, fitted to another quarter."""
    train, validation = (part for _, part, _ in folds_of(rows, 4, seed=0)[:2])
    squared, hinge = (
        ranker.fit(train.X, train.y, train.qid, eval_set=(validation.X, validation.y, validation.qid))
        for ranker in (
            RankRLSCV(columns=KNOTS, measure=MEASURE),
            RankSVMCV(HINGE_ALPHAS, loss="squared_hinge", columns=KNOTS, measure=MEASURE),
        )
    )
    if squared.best_score_ >= hinge.best_score_:
        # The squared loss is a sum over queries.
        return RankRLS(squared.alpha_ * (1 + rows.qid.max()) / (1 + train.qid.max()))
    return RankSVM(hinge.alpha_, loss="squared_hinge")
