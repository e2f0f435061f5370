"""Splines next to lines, a kernel and trees: NDCG@10 on repeated splits, processor time, size of models.

Every learner chooses its settings on the training queries of a split, which is part of its training time:
RankRLS by leaving out queries, trees on a third of them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from sklearn.base import clone

from benchmarks import timing
from benchmarks.peers.comparing import is_installed, one_thread
from benchmarks.peers.shapes import Rows
from benchmarks.peers.trees import NO_SETTINGS, Trees, fit_lightgbm, fit_xgboost, rows_of
from benchmarks.tables import show
from benchmarks.timing import header, real_data
from rankwise import (
    ColumnEncoder,
    KernelRankRLSCV,
    RankRLSCV,
    load_letor,
    make_search_data,
    qid_from_group_sizes,
)
from rankwise.metrics import evaluate, get_measure
from rankwise.metrics.significance import margin_of_mean

MEASURE = "ndcg@10"
ndcg = get_measure(MEASURE)
N_FOLDS, N_REPEATS = 4, 5
TREES = (10, 20, 50, 100)
LEAVES = [{"num_leaves": leaves, "min_child_samples": rows} for leaves in (7, 31) for rows in (10, 50)]
DEPTHS = [{"max_depth": depth, "learning_rate": rate} for depth in (2, 5) for rate in (0.1, 0.3)]
N_BASIS = 600
SMOOTH_KNOTS, ROUGHNESS = 30, (1.0, 10.0, 100.0)
BASELINES = ("linear", "LightGBM, tuned")


@dataclass(frozen=True)
class Fitted:
    """What is measured of a fitted model."""

    scores: Callable[[NDArray], NDArray]
    n_bytes: Callable[[], int]


Learner = Callable[[Rows], Fitted]
# Fits trees to rows, with a number of trees and other settings.
FitTrees = Callable[[Rows, int, Mapping[str, float]], Trees]


def run() -> None:
    with one_thread():
        for name, rows, knots in data_sets():
            compare_on(name, rows, dict(learners(knots)))


def data_sets() -> Iterator[tuple[str, Rows, tuple[int, ...]]]:
    """Names of tables, rows and numbers of knots; with 300 columns, 30 knots would take minutes per split."""
    folder = real_data()
    if folder is not None:
        yield "splines-example", lightgbm_example(folder / "lightgbm_lambdarank"), (4, 10)
    n_queries = 30 if timing.quick else 250
    yield "splines-habits", rows_of(make_search_data(n_queries, habits=0.5)), (4, 10, 30)
    yield "splines-shop", rows_of(make_search_data(n_queries)), (4, 10, 30)


def lightgbm_example(folder: Path) -> Rows:
    """Training and test queries together; only the first of them with --quick."""
    parts = [load_letor(folder / f"rank.{part}.xz", dense=True) for part in ("train", "test")]
    sizes = [np.unique(part.qid, return_counts=True)[1] for part in parts]
    X, y = (np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "y"))
    rows = Rows(X, y, qid_from_group_sizes(np.concatenate(sizes)))
    return of_queries(rows, np.arange(30)) if timing.quick else rows


def of_queries(rows: Rows, queries: NDArray) -> Rows:
    """The rows of some queries, numbered from 0."""
    kept = np.isin(rows.qid, queries)
    _, qid = np.unique(rows.qid[kept], return_inverse=True)
    return Rows(rows.X[kept], rows.y[kept], qid)


def folds_of(rows: Rows, n_folds: int, seed: int) -> list[tuple[Rows, Rows, NDArray]]:
    """Training rows, test rows and test queries of each fold."""
    queries = np.random.default_rng(seed).permutation(rows.qid.max() + 1)
    tests = [np.sort(queries[fold::n_folds]) for fold in range(n_folds)]
    return [(of_queries(rows, np.setdiff1d(queries, test)), of_queries(rows, test), test) for test in tests]


def learners(knots: Sequence[int]) -> Iterator[tuple[str, Learner]]:
    yield "linear", by_ranker(RankRLSCV(columns="number", measure=MEASURE))
    for n_knots in knots:
        yield f"splines, {n_knots} knots", by_ranker(RankRLSCV(columns=f"spline:{n_knots}", measure=MEASURE))
    if max(knots) == SMOOTH_KNOTS:
        yield f"splines, {SMOOTH_KNOTS} knots, smooth", smooth
    yield f"rbf kernel, {N_BASIS} basis rows", by_kernel
    if is_installed("lightgbm", "lightgbm"):
        yield "LightGBM, defaults", by_trees(fit_lightgbm)
        yield "LightGBM, tuned", tuned(fit_lightgbm, LEAVES)
    if is_installed("xgboost", "xgboost-cpu"):
        yield "XGBoost, tuned", tuned(fit_xgboost, DEPTHS)


def by_ranker(ranker: Any) -> Learner:
    def fit(rows: Rows) -> Fitted:
        model = clone(ranker).fit(rows.X, rows.y, rows.qid)
        return Fitted(model.predict, lambda: file_size(model, moments=False))

    return fit


def file_size(model: Any, **options: bool) -> int:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model"), **options)
        return Path(folder, "model").stat().st_size


def smooth(rows: Rows) -> Fitted:
    """Splines with a penalty on second differences besides that on steep parts, w'(I + c D'D)w.

    The features are those of the splines times the inverse of a square root of that matrix.
    """
    encoder = ColumnEncoder(f"spline:{SMOOTH_KNOTS}").fit(rows.X)
    features, best = encoder.transform(rows.X), None
    for roughness in ROUGHNESS:
        roots = [inverse_root(code.n_gaps, roughness) for code in encoder.encoding_.codes.values()]
        smoothing = block_diag(*roots)
        model = RankRLSCV(measure=MEASURE).fit(features @ smoothing, rows.y, rows.qid)
        if best is None or model.best_score_ > best[0].best_score_:
            best = model, smoothing
    model, smoothing = best
    return Fitted(
        lambda X: model.predict(encoder.transform(X) @ smoothing),
        lambda: file_size(model, moments=False),
    )


def inverse_root(n: int, roughness: float) -> NDArray:
    """The inverse of R for which R'R = I + c D'D, where D takes differences of neighbors."""
    D = np.diff(np.eye(n), axis=0)
    return np.linalg.inv(np.linalg.cholesky(np.eye(n) + roughness * D.T @ D).T)


def by_kernel(rows: Rows) -> Fitted:
    """On standardized features, with widths around the number of features."""
    encoder = ColumnEncoder("number").fit(rows.X)
    gammas = [share / rows.X.shape[1] for share in (0.3, 1.0)]
    model = KernelRankRLSCV(gamma=gammas, basis=min(N_BASIS, len(rows.y)), measure=MEASURE, random_state=0)
    model.fit(encoder.transform(rows.X), rows.y, rows.qid)
    return Fitted(lambda X: model.predict(encoder.transform(X)), lambda: file_size(model))


def by_trees(fit: FitTrees, settings: Mapping[str, float] = NO_SETTINGS, n_trees: int = 100) -> Learner:
    def fit_rows(rows: Rows) -> Fitted:
        trees = fit(rows, n_trees, settings)
        return Fitted(lambda X: trees(X, n_trees), lambda: trees.n_bytes(n_trees))

    return fit_rows


def tuned(fit: FitTrees, grid: Sequence[Mapping[str, float]]) -> Learner:
    """Settings and number of trees with the best NDCG@10 on a third of the training queries."""

    def fit_rows(rows: Rows) -> Fitted:
        train, validation, _ = folds_of(rows, 3, seed=0)[0]
        found = {}
        for number, settings in enumerate(grid):
            trees = fit(train, max(TREES), settings)
            found |= {(number, k): ndcg(validation.y, trees(validation.X, k), validation.qid) for k in TREES}
        number, k = max(found, key=lambda key: found[key])
        return by_trees(fit, grid[number], k)(rows)

    return fit_rows


def compare_on(name: str, rows: Rows, methods: Mapping[str, Learner]) -> None:
    n_repeats = 1 if timing.quick else N_REPEATS
    n_queries = rows.qid.max() + 1
    header(f"{name}: {rows.shape}, {n_queries} queries, {n_repeats} times {N_FOLDS} folds")
    values = {method: np.zeros(n_queries) for method in methods}
    costs: dict[str, list[tuple[float, float, int]]] = {method: [] for method in methods}
    for repeat in range(n_repeats):
        for number, (train, test, queries) in enumerate(folds_of(rows, N_FOLDS, seed=repeat)):
            print(f"{name}, repetition {repeat + 1}, fold {number + 1}", file=sys.stderr, flush=True)
            for method, fit in methods.items():
                found, cost = measured(fit, train, test)
                values[method][queries] += found / n_repeats
                costs[method].append(cost)
    show(name, *compared(values, costs))


def measured(fit: Learner, train: Rows, test: Rows) -> tuple[NDArray, tuple[float, float, int]]:
    """NDCG@10 of the test queries; seconds to fit, microseconds per scored row, and bytes of the model."""
    start = time.process_time()
    fitted = fit(train)
    middle = time.process_time()
    scores = fitted.scores(test.X)
    end = time.process_time()
    values = evaluate(test.y, scores, test.qid, MEASURE).per_query[MEASURE]
    return values, (middle - start, 1e6 * (end - middle) / len(scores), fitted.n_bytes())


def compared(
    values: dict[str, NDArray], costs: dict[str, list[tuple[float, float, int]]]
) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Columns and rows of a table.

    Means over the queries that have relevant rows; differences with 95 % intervals, paired by query.
    """
    baselines = [name for name in BASELINES if name in values]
    lines: list[Sequence[str]] = []
    for method, found in values.items():
        against = [difference(found, values[name]) if name != method else "" for name in baselines]
        seconds, per_row, n_bytes = np.median(costs[method], axis=0)
        size = f"{n_bytes / 1000:,.0f}"
        lines.append((method, f"{np.nanmean(found):.4f}", *against, f"{seconds:.2f}", f"{per_row:.1f}", size))
    columns = ("", "NDCG@10", *(f"minus {name}" for name in baselines), "training, s", "µs per row", "kB")
    return columns, lines


def difference(a: NDArray, b: NDArray) -> str:
    off = (a - b)[~np.isnan(a - b)]
    return f"{off.mean():+.4f} ± {margin_of_mean(off, np.ones(len(off))):.4f}".replace("-", "−")
