"""Fits alone and beside a busy process, as in containers, notebooks and CI: how much longer they take."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks import movies, timing
from benchmarks.bench_leave_out import shop
from benchmarks.tables import Table
from benchmarks.timing import header, real_data, sized
from rankwise import (
    ColumnEncoder,
    KernelRankRLS,
    KernelRankRLSCV,
    RankRLS,
    RankRLSCV,
    RankRLSPath,
    RankSVM,
    audit,
    config_context,
)

REPEATS = 3
# A busy process takes half of one core of two, which should cost a third; BLAS threads could make it tenfold.
MOST = 2.0


def run() -> None:
    header("Fits alone and beside a busy process; best of alternating runs")
    table = Table("company", "fit", "alone, s", "beside a busy process, s", "ratio")
    slow = []
    for name, fit in fits():
        with config_context(one_ranking=True):
            alone, beside = best_of_both(fit)
        table.add(name, f"{alone:.2f}", f"{beside:.2f}", f"{beside / alone:.1f}")
        if beside > MOST * alone:
            slow.append(name)
    print(f"More than {MOST:g} times as slow: {', '.join(slow) or 'none'}.")


def fits() -> Iterator[tuple[str, Callable[[], object]]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(sized(100_000), 136))
    y, qid = np.round(X[:, 0] + rng.normal(size=len(X))), np.arange(len(X)) // 100
    yield f"RankRLS, {len(X):,} × 136", lambda: RankRLS().fit(X, y, qid)
    yield "RankRLSCV", lambda: RankRLSCV().fit(X, y, qid)
    yield "RankRLSCV, cv=5", lambda: RankRLSCV(cv=5).fit(X, y, qid)
    yield "RankSVM", lambda: RankSVM(0.01).fit(X, y, qid)
    wide = rng.normal(size=(sized(3_000), 300))
    labels, queries = np.round(wide[:, 0] + rng.normal(size=len(wide))), np.arange(len(wide)) // 20
    yield f"RankRLSCV, {len(wide):,} × 300", lambda: RankRLSCV().fit(wide, labels, queries)
    yield "RankRLSPath", lambda: RankRLSPath(max_features=10).fit(wide[:, :30], labels, queries)
    few = wide[:, :10]
    yield (
        "KernelRankRLS, 500 basis vectors",
        lambda: KernelRankRLS(basis=min(500, len(few)), random_state=0).fit(few, labels, queries),
    )
    some = slice(sized(1_000))
    yield "KernelRankRLSCV, 1,000 rows", lambda: KernelRankRLSCV().fit(few[some], labels[some], queries[some])
    noisy = wide[:, 0] + rng.normal(size=len(wide))
    yield "RankRLSCV, one global ranking", lambda: RankRLSCV().fit(few, noisy)
    frame, grades, shoppers = shop(sized(200_000))
    yield (
        f"audit, {len(frame):,} rows with 100 brands",
        lambda: audit(frame, grades, shoppers, ranker=RankRLSCV(columns="auto")),
    )
    yield from on_movies()


def on_movies() -> Iterator[tuple[str, Callable[[], object]]]:
    folder = real_data()
    if folder is None or timing.quick:
        return
    rows = movies.signals(folder / "movies")
    X = ColumnEncoder("spline").fit(rows.X).transform(rows.X)
    yield (
        f"movies, {rows.shape} as splines, leave-query-out",
        lambda: RankRLSCV(cv="leave-query-out").fit(X, rows.y, rows.qid),
    )
    yield "movies, default", lambda: RankRLSCV().fit(X, rows.y, rows.qid)
    yield "movies, cv=5", lambda: RankRLSCV(cv=5).fit(X, rows.y, rows.qid)


def best_of_both(fit: Callable[[], object]) -> tuple[float, float]:
    alone = beside = float("inf")
    fit()  # what is done once per process
    for _ in range(REPEATS):
        alone = min(alone, seconds(fit))
        with busy_process():
            beside = min(beside, seconds(fit))
    return alone, beside


def seconds(fit: Callable[[], object]) -> float:
    start = time.perf_counter()
    fit()
    return time.perf_counter() - start


@contextmanager
def busy_process() -> Iterator[None]:
    """Another process that never rests."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()
