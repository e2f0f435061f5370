"""Interactions on the movies, 266,000 rows: NDCG@10 of test queries and processor time.

Every query is a test query once. Every learner chooses its settings on training queries, which is part of its
time: ours the loss, and then alpha, on a third of them. All folds together take an hour of
one core, half of it for EBM; a run that is interrupted goes on where it stopped.
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
from rankwise import ColumnEncoder, RankRLSCV, RankSVMCV

NAME = "interactions-movies"
N_FOLDS = 5
# So many rows have room for more knots than the ten of "spline".
KNOTS = "spline:30"
N_INTERACTIONS = 20
ALPHAS = (1e-2, 1e-3, 1e-4)


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
    """The squared loss or the squared hinge, which is chosen without interactions; then alpha with them."""

    def fit(rows: Rows) -> Fitted:
        train, validation = (part for _, part, _ in folds_of(rows, 3, seed=0)[:2])
        encoder = ColumnEncoder(KNOTS).fit(train.X)
        X, held_out = encoder.transform(train.X), encoder.transform(validation.X)
        best = max(
            (RankRLSCV(measure=MEASURE), RankSVMCV(ALPHAS, loss="squared_hinge", measure=MEASURE)),
            key=lambda ranker: (
                ranker.fit(
                    X, train.y, train.qid, eval_set=(held_out, validation.y, validation.qid)
                ).best_score_
            ),
        )
        is_held_out = np.isin(rows.qid, folds_of(rows, 3, seed=0)[0][2])
        split = np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
        return by_ranker(best.set_params(columns=KNOTS, interactions=n_interactions, cv=[split]))(rows)

    return fit
