"""RankRLSCV next to gradient-boosted trees: the time to the same NDCG@10, and the best NDCG@10 of each.

Trees learn what a linear model cannot, so on some data they win however long they take; the table says so.
The number of trees is chosen on the test queries, in favour of the trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.comparing import Side, compare, comparison, is_installed
from benchmarks.peers.shapes import Rows, web_shaped
from benchmarks.tables import Table
from benchmarks.timing import real_data, sized
from rankwise import RankRLSCV, load_letor, make_search_data
from rankwise.metrics import get_measure
from rankwise.rows.ranking import RankingData

TREES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
ndcg = get_measure("ndcg@10")
NO_SETTINGS: Mapping[str, float] = MappingProxyType({})


def run() -> None:
    table = comparison("trees", "NDCG@10 on test queries: a linear model next to trees")
    peers = dict(installed_peers())
    for name, train, test in data_sets():
        on(table, name, train, test, peers)


def data_sets() -> Iterator[tuple[str, Rows, Rows]]:
    yield "search data", *map(rows_of, make_search_data(sized(2_000), random_state=0).split(0.7))
    yield "web-shaped", web_shaped(share=0.3), web_shaped(seed=1, share=0.3)
    folder = real_data()
    if folder is not None:
        fold = folder / "ohsumed_letor2" / "Fold1"
        parts = (load_letor(fold / f"{part}set.txt.xz").scale_per_query() for part in ("training", "test"))
        yield "OHSUMED, fold 1", *map(rows_of, parts)


def rows_of(data: RankingData) -> Rows:
    """Rows sorted by query, as the peers require, with queries numbered from 0."""
    _, qid = np.unique(data.qid, return_inverse=True)
    order = np.argsort(qid, kind="stable")
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    return Rows(np.ascontiguousarray(X[order]), data.y[order], qid[order])


def installed_peers() -> Iterator[tuple[str, Callable[[Rows, int], Any]]]:
    if is_installed("lightgbm", "lightgbm"):
        yield "LightGBM, lambdarank", fit_lightgbm
    if is_installed("xgboost", "xgboost-cpu"):
        yield "XGBoost, rank:ndcg", fit_xgboost


@dataclass(frozen=True)
class Trees:
    """A fitted ensemble: the scores of its first k trees, and how many bytes they take in a file."""

    scores: Callable[[Any, int], NDArray]
    n_bytes: Callable[[int], int]

    def __call__(self, X: Any, k: int) -> NDArray:
        return self.scores(X, k)


def fit_lightgbm(rows: Rows, n_trees: int, settings: Mapping[str, float] = NO_SETTINGS) -> Trees:
    from lightgbm import LGBMRanker

    model = LGBMRanker(n_estimators=n_trees, n_jobs=1, verbose=-1, **settings)
    model.fit(rows.X, rows.y.astype(int), group=np.bincount(rows.qid))
    booster = model.booster_
    return Trees(
        lambda X, k: booster.predict(X, num_iteration=k, num_threads=1),
        lambda k: len(booster.model_to_string(num_iteration=k)),
    )


def fit_xgboost(rows: Rows, n_trees: int, settings: Mapping[str, float] = NO_SETTINGS) -> Trees:
    from xgboost import XGBRanker

    model = XGBRanker(objective="rank:ndcg", n_estimators=n_trees, n_jobs=1, **settings)
    model.fit(rows.X, rows.y.astype(int), qid=rows.qid)
    return Trees(
        lambda X, k: model.predict(X, iteration_range=(0, k)),
        lambda k: len(model.get_booster()[:k].save_raw("ubj")),
    )


def on(
    table: Table, name: str, train: Rows, test: Rows, peers: dict[str, Callable[[Rows, int], Any]]
) -> None:
    def ours() -> NDArray:
        return RankRLSCV().fit(train.X, train.y, train.qid).predict(test.X)

    def quality(scores: NDArray) -> str:
        return f"{ndcg(test.y, scores, test.qid):.4f}"

    target = ndcg(test.y, ours(), test.qid)
    sides: list[Side] = []
    for peer, fit in peers.items():
        sides += tree_sides(peer, fit, train, test, target)
    compare(table, f"{name}, {train.shape}", Side("RankRLSCV", ours), sides, quality)


def tree_sides(peer: str, fit: Callable, train: Rows, test: Rows, target: float) -> list[Side]:
    """The fewest trees that are as good as the linear model, and the number of trees that is best."""
    scores = fit(train, TREES[-1])
    reached = {k: ndcg(test.y, scores(test.X, k), test.qid) for k in TREES}
    best = max(TREES, key=lambda k: reached[k])
    first = next((k for k in TREES if reached[k] >= target), best)
    return [
        Side(f"{peer}, {k} trees", lambda k=k: fit(train, k)(test.X, k), reached[k] >= target)
        for k in dict.fromkeys([first, best])
    ]
