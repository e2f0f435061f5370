"""Few features and signs: MAP at 3, 5 and 10 features on OHSUMED, growth of the time, the cost of signs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.comparing import is_installed
from benchmarks.peers.shapes import Rows
from benchmarks.peers.trees import fit_lightgbm, rows_of
from benchmarks.tables import show
from benchmarks.timing import header, real_data, sized
from rankwise import RankRLS, RankRLSCV, RankRLSPath, load_letor
from rankwise.metrics import get_measure
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.queries import group_rows
from rankwise.rendering import text_table
from rankwise.ridge.greedy import greedy_path
from rankwise.ridge.squared import loss_on_scores
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem

SIZES = (3, 5, 10)
N_TREES = 100
average_precision = get_measure("map")

# Fits to training rows, with validation rows at hand: MAP on test rows at each size.
Fit = Callable[[Rows, Rows, Rows], list[float]]


def run() -> None:
    folder = real_data()
    if folder is not None:
        ohsumed(folder / "ohsumed_letor2")
    growth()
    signs()


def ohsumed(folder: Path) -> None:
    header("OHSUMED, MAP on test queries by the number of features, mean of five folds")
    methods: dict[str, Fit] = {
        "`RankRLSPath`, greedy": by_path("greedy"),
        "`RankRLSPath`, lasso": by_path("lasso"),
    }
    if is_installed("lightgbm", "lightgbm"):
        methods["LightGBM, top features by gain"] = by_gain
    parts = ("training", "validation", "test")
    folds = [
        [rows_of(load_letor(path / f"{part}set.txt.xz").scale_per_query()) for part in parts]
        for path in sorted(folder.glob("Fold*"))
    ]
    lines = []
    for name, fit in methods.items():
        start = time.process_time()
        means = np.mean([fit(*fold) for fold in folds], axis=0).tolist()
        seconds = (time.process_time() - start) / len(folds)
        lines.append((name, *(f"{mean:.4f}" for mean in means), f"{seconds:.1f}"))
    columns = ("features", *map(str, SIZES), "all", "CPU seconds per fold")
    show("ohsumed-features", columns, lines)


def by_path(method: str) -> Fit:
    """Chosen and fitted without the validation rows."""

    def fit(train: Rows, validation: Rows, test: Rows) -> list[float]:
        path = RankRLSPath(method, max_features=max(SIZES), measure="map").fit(train.X, train.y, train.qid)
        everything = RankRLSCV(measure="map").fit(train.X, train.y, train.qid)
        weights = [*(path.coefs_[size - 1] for size in SIZES), everything.coef_]
        return [average_precision(test.y, test.X @ coef, test.qid) for coef in weights]

    return fit


def by_gain(train: Rows, validation: Rows, test: Rows) -> list[float]:
    """Ordered by the gain of a model with all features; the number of trees is chosen on validation rows."""
    from lightgbm import LGBMRanker

    whole = LGBMRanker(n_estimators=N_TREES, n_jobs=1, verbose=-1, importance_type="gain")
    whole.fit(train.X, train.y.astype(int), group=np.bincount(train.qid))
    order = np.argsort(-whole.feature_importances_, kind="stable")
    return [trees(train, validation, test, order[:size]) for size in (*SIZES, len(order))]


def trees(train: Rows, validation: Rows, test: Rows, features: NDArray) -> float:
    def columns(rows: Rows) -> NDArray:
        return np.ascontiguousarray(rows.X[:, features])

    scores = fit_lightgbm(Rows(columns(train), train.y, train.qid), N_TREES)

    def quality(rows: Rows, n_trees: int) -> float:
        return average_precision(rows.y, scores(columns(rows), n_trees), rows.qid)

    return quality(test, max(range(5, N_TREES + 1, 5), key=lambda k: quality(validation, k)))


def growth() -> None:
    """Target: exponents of k, m and n of at most about 1; the smallest data is larger than the caches."""
    header("Greedy path, processor time in seconds against features chosen, rows and features")
    base = {"k": 4, "m": sized(40_000), "n": 80}
    larger = {name: {**base, name: 4 * size} for name, size in base.items()}
    sizes = {"": base, **larger}
    took = {name: [] for name in sizes}
    for _ in range(3):
        for name, size in sizes.items():
            took[name].append(seconds(**size))
    few = min(took[""])
    lines = [
        (
            f"{name} = {base[name]} to {4 * base[name]}",
            few,
            min(took[name]),
            np.log(min(took[name]) / few) / np.log(4),
        )
        for name in base
    ]
    print(text_table(("", "from", "to", "exponent"), lines))


def seconds(k: int, m: int, n: int) -> float:
    """The time of a path with the squared loss as its value, so that no sorting is measured."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(m, n)), np.arange(m) // 50
    y = X[:, 0] - X[:, 1] + rng.normal(size=m)
    queries = group_rows(qid, m)
    loss = loss_on_scores(Problem(X, y, queries, None, None), Ties.KEEP, Weighting.EXAMPLE)
    start = time.process_time()
    greedy_path(MatrixDesign(X), loss, 1.0, k, lambda table: -np.square(table - y).sum(axis=1), np.ones(n))
    return time.process_time() - start


def signs() -> None:
    header("Signs at 136 features: processor time in seconds, and the KKT residual")
    rng = np.random.default_rng(0)
    n, n_queries, size = 136, 100, 40
    X = rng.normal(size=(n_queries * size, n)) @ rng.normal(size=(n, n)) / np.sqrt(n)
    y = np.digitize(X @ rng.normal(size=n) + 10.0 * rng.normal(size=len(X)), [-10.0, 0.0, 10.0]).astype(float)
    qid, given = np.repeat(np.arange(n_queries), size), rng.choice([-1, 0, 1, 1], n)
    works = {
        "1 alpha": (RankRLS, {}),
        "31 alphas, eval_set": (RankRLSCV, {"eval_set": (X[:400], y[:400], qid[:400])}),
        "31 alphas, leave-query-out, 100 queries": (RankRLSCV, {}),
    }
    lines = []
    for name, (kind, more) in works.items():
        took = []
        for constraint in (None, given):
            start = time.process_time()
            model = kind(monotonic_cst=constraint).fit(X, y, qid, **more)
            took.append(time.process_time() - start)
        lines.append((name, *took, f"{model.kkt_residual_:.1e}"))
    print(text_table(("", "any sign", "signs", "residual"), lines))
