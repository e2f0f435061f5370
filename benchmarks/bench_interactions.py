"""Interactions next to splines and trees: NDCG@10 of test queries and processor time.

Every learner chooses its settings on the training queries, which is part of its training time. Simulated data
is drawn several times; of real data, every query is a test query once.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from benchmarks import timing
from benchmarks.bench_splines import (
    LEAVES,
    Fitted,
    Learner,
    by_ranker,
    by_trees,
    difference,
    folds_of,
    lightgbm_example,
    of_queries,
    tuned,
)
from benchmarks.kept import Result
from benchmarks.peers.comparing import is_installed, one_thread
from benchmarks.peers.shapes import Rows
from benchmarks.peers.trees import fit_lightgbm, fit_xgboost, rows_of
from benchmarks.tables import show
from benchmarks.timing import header, real_data
from rankwise import RankRLSCV, RankSVMCV, load_letor
from rankwise.metrics import evaluate

MEASURE = "ndcg@10"
DEPTH_2 = {"num_leaves": 4, "max_depth": 2}
N_TREES_OF_DEPTH_2 = 400
N_FOLDS = 4
TEST_QUERIES = 300
BASELINES = ("splines", "splines, RankRLSCV", "one set of weights", "LightGBM, depth 2")
# Training rows, test rows and test queries.
Split = tuple[Rows, Rows, NDArray]
# Measures a part of a benchmark, or knows what an earlier run measured.
Keep = Callable[[str, str, Callable[[], Result]], Result]


def measured_anew(name: str, part: str, measure: Callable[[], Result]) -> Result:
    return measure()


@dataclass(frozen=True)
class Data:
    """Splits, whose test queries are numbered through."""

    name: str
    splits: Callable[[], Iterator[Split]]
    n_queries: int


def run() -> None:
    with one_thread():
        for data in data_sets():
            compare_on(data, dict(learners()))


def data_sets() -> Iterator[Data]:
    folder = real_data()
    if folder is None:
        return
    simulators = simulators_of(folder / "simulators.py")
    if simulators is not None:
        shop, hard_shop, thirty = simulators.shop, simulators.hard_shop, simulators.thirty
        yield simulated("interactions-shop", shop, 300, n_draws=3)
        yield simulated("interactions-none", lambda n, seed: shop(n, seed, strength=0.0), 300, n_draws=10)
        yield simulated("interactions-hard-shop", hard_shop, 300, n_draws=3)
        yield simulated("interactions-thirty", thirty, 1_500, n_draws=1)
    yield in_folds("interactions-example", lightgbm_example(folder / "lightgbm_lambdarank"), N_FOLDS)
    yield in_folds("interactions-ohsumed", ohsumed(folder / "ohsumed_letor2"), N_FOLDS)


def simulators_of(path: Path) -> ModuleType | None:
    """The simulators of data with interactions, which are beside the real data; prints a note if missing."""
    if not path.exists():
        print(f"Simulated data is skipped: {path.name} is not beside the real data sets.")
        return None
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def simulated(name: str, draw: Callable[..., tuple], n_train: int, n_draws: int) -> Data:
    """Every draw has its own training and test queries."""
    n_train, n_draws = (n_train // 5, 1) if timing.quick else (n_train, n_draws)

    def splits() -> Iterator[Split]:
        for seed in range(n_draws):
            X, y, qid, _ = draw(n_train + TEST_QUERIES, seed=seed)
            rows, queries = Rows(X, y, qid), np.arange(n_train + TEST_QUERIES)
            test = queries[n_train:]
            numbers = np.arange(TEST_QUERIES) + seed * TEST_QUERIES
            yield of_queries(rows, queries[:n_train]), of_queries(rows, test), numbers

    return Data(name, splits, n_draws * TEST_QUERIES)


def in_folds(name: str, rows: Rows, n_folds: int) -> Data:
    return Data(name, lambda: iter(folds_of(rows, n_folds, seed=0)), int(rows.qid.max()) + 1)


def ohsumed(folder: Path) -> Rows:
    """All queries, which are the parts of one official fold."""
    parts = [folder / "Fold1" / f"{part}set.txt.xz" for part in ("training", "validation", "test")]
    rows = rows_of(load_letor(parts).scale_per_query())
    return of_queries(rows, np.arange(20)) if timing.quick else rows


def learners() -> Iterator[tuple[str, Learner]]:
    yield "linear", by_ranker(RankRLSCV(columns="number", measure=MEASURE))
    yield "splines", by_ranker(RankRLSCV(columns="spline", measure=MEASURE))
    yield "interactions, RankRLSCV", by_ranker(RankRLSCV(interactions="auto", measure=MEASURE))
    yield "interactions, RankSVMCV", by_ranker(RankSVMCV(interactions="auto", measure=MEASURE))
    if is_installed("lightgbm", "lightgbm"):
        yield "LightGBM, depth 2", by_trees(fit_lightgbm, DEPTH_2, N_TREES_OF_DEPTH_2)
        yield "LightGBM, defaults", by_trees(fit_lightgbm)
        yield "LightGBM, tuned", tuned(fit_lightgbm, LEAVES)
    if is_installed("xgboost", "xgboost-cpu"):
        yield "XGBoost, defaults", by_trees(fit_xgboost)
    if is_installed("interpret", "interpret-core"):
        yield "EBM", by_ebm


def by_ebm(rows: Rows) -> Fitted:
    """Regression on labels less the mean of their query, with ten interactions, which is its default."""
    from interpret.glassbox import ExplainableBoostingRegressor

    means = np.bincount(rows.qid, rows.y) / np.bincount(rows.qid)
    model = ExplainableBoostingRegressor(interactions=10, n_jobs=1, random_state=0)
    model.fit(rows.X, rows.y - means[rows.qid])
    return Fitted(model.predict, lambda: 0)


def compare_on(data: Data, methods: Mapping[str, Learner], keep: Keep = measured_anew) -> None:
    """Measure every method on every split, and print the table; `keep` may know results of earlier runs."""
    values = {method: np.full(data.n_queries, np.nan) for method in methods}
    seconds: dict[str, list[float]] = {method: [] for method in methods}
    shape = ""
    for number, (train, test, queries) in enumerate(data.splits(), start=1):
        shape = f"{train.shape} training rows, {data.n_queries:,} test queries in {number} split(s)"
        print(f"{data.name}, split {number}", file=sys.stderr, flush=True)
        for method, fit in methods.items():
            part = re.sub(r"\W+", "-", f"{number} {method}")
            found, taken = keep(data.name, part, partial(measured, fit, train, test))
            values[method][queries] = found
            seconds[method].append(taken)
            print(f"  {method}: {np.nanmean(found):.4f} in {taken:.1f} s", file=sys.stderr, flush=True)
    header(f"{data.name}: {shape}")
    show(data.name, *compared(values, seconds))


def measured(fit: Learner, train: Rows, test: Rows) -> Result:
    """NDCG@10 of each test query, and the processor time of the fit."""
    start = time.process_time()
    fitted = fit(train)
    seconds = time.process_time() - start
    return evaluate(test.y, fitted.scores(test.X), test.qid, MEASURE).per_query[MEASURE], seconds


def compared(
    values: Mapping[str, NDArray], seconds: Mapping[str, Sequence[float]]
) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Columns and rows of a table; differences with 95 % intervals, paired by query."""
    baselines = [name for name in BASELINES if name in values]
    lines: list[Sequence[str]] = []
    for method, found in values.items():
        against = [difference(found, values[name]) if name != method else "" for name in baselines]
        cost = f"{np.median(seconds[method]):.2f}"
        lines.append((method, f"{np.nanmean(found):.4f}", *against, cost))
    return ("", "NDCG@10", *(f"minus {name}" for name in baselines), "training, s"), lines
