"""The work that people wait for, and a process that does pieces of it when asked.

``python -m benchmarks.waits`` is run by `bench_waits`, with the interpreter of one version or another.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from threading import Timer
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import movies, timing
from benchmarks.peers.shapes import Rows, ohsumed_shaped, text, web_shaped
from benchmarks.timing import best_times, real_data, sized
from rankwise import (
    ColumnEncoder,
    KernelRankRLS,
    Moments,
    QuerySizes,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    audit,
    config_context,
    load_letor,
)

N_ROWS, N_BASIS = 40_000, 1_000
# Work that takes longer, by the clock on the wall, is stopped.
MOST_SECONDS = 240.0
# What a run found, which must not depend on the version: numbers, by name.
Found = dict[str, float]
Run = Callable[[], Found]


@dataclass(frozen=True)
class Wait:
    """A piece of work.

    Attributes
    ----------
    what : str
    aim : float or callable
        Seconds of processor time; called if it depends on the machine.
    prepare : callable
        Reads the data, and returns what is to be timed.
    times : int
        How often a run does it, because the clock is coarse.
    folder : str or None
        Of the real data that it needs.
    one_thread : bool
        Next to a peer on one thread.
    """

    what: str
    aim: float | Callable[[], float]
    prepare: Callable[[], Run]
    times: int = 1
    folder: str | None = None
    one_thread: bool = False


def chosen(search: Any) -> Found:
    """The choice of a search."""
    return {"alpha": search.alpha_, "score": search.best_score_}


@cache
def movie_signals() -> Rows:
    folder = real_data()
    assert folder is not None
    rows = movies.signals(folder / "movies")
    if timing.quick:
        kept = rows.qid < 500
        rows = Rows(rows.X[kept], rows.y[kept], rows.qid[kept])
    return rows


def on_movies(cv: Any) -> Run:
    rows = movie_signals()
    X = ColumnEncoder("spline").fit(rows.X).transform(rows.X)
    return lambda: chosen(RankRLSCV(cv=cv).fit(X, rows.y, rows.qid))


def encoding() -> Run:
    rows = movie_signals()
    return lambda: {"sum": float(ColumnEncoder("spline").fit_transform(rows.X).sum())}


def hinge_search() -> Run:
    folder = real_data()
    assert folder is not None
    rows = load_letor(folder / "lightgbm_lambdarank" / "rank.train.xz", dense=True)
    return lambda: chosen(RankSVMCV().fit(rows))


def one_ranking(noise_only: bool) -> Run:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(sized(4_000), 5))
    y = rng.normal(size=len(X)) + (0.0 if noise_only else X[:, 0])
    return lambda: chosen(RankRLSCV().fit(X, y))


def request(number: int) -> Run:
    from benchmarks.bench_predict import requests

    *_, ranker, rows = next(islice(requests(), number, None))
    return lambda: {"score": float(ranker.predict(rows)[0])}


def kernel() -> Run:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(sized(N_ROWS), 15))
    y, qid = np.round(X[:, 0] + rng.normal(size=len(X))), np.arange(len(X)) // 20
    ranker = KernelRankRLS(basis=sized(N_BASIS), random_state=0)
    return lambda: {"fits": float(ranker.fit(X, y, qid).score(X[:200], y[:200], qid[:200]) > 0.5)}


def one_and_a_half_bounds() -> float:
    """1.5 times what 2 m r² multiplications of a matrix product take, for m rows and r basis rows."""
    m, r = sized(N_ROWS), sized(N_BASIS)
    K, R = np.ones((m, r)), np.ones((r, r))
    with threadpool_limits(1):
        return 1.5 * 2.0 * best_times({"": lambda: K @ R}, 3, time.process_time)[""]


def brands() -> Run:
    from benchmarks.bench_leave_out import shop

    frame, y, qid = shop(sized(200_000))
    return lambda: {"suspects": float(len(audit(frame, y, qid, ranker=RankRLSCV(columns="auto")).rows))}


def open_queries() -> Run:
    n_queries, size, n_parts = sized(20_000), 8, 5
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(n_queries * size, 20)), np.repeat(np.arange(n_queries), size)
    y, part = rng.integers(0, 3, len(X)).astype(float), rng.integers(0, n_parts, len(X))
    options = {"weighting": "pair", "open_queries": True, "sizes": QuerySizes.of(y, qid)}
    parts = [Moments.of(X[part == p], y[part == p], qid[part == p], **options) for p in range(n_parts)]

    def merge() -> Found:
        total = sum(parts[1:], start=parts[0])
        return {"weight": float(RankRLS.from_moments(total.close()).coef_[0])}

    return merge


def hinge_fit(rows: Rows) -> Run:
    from benchmarks.peers.hinges import ALPHA, MAX_EXCESS

    tight = RankSVM(ALPHA, weighting="pair", tol=1e-4).fit(rows.X, rows.y, rows.qid)
    bound = tight.objective_ - tight.gap_
    model = RankSVM(ALPHA, weighting="pair", tol=MAX_EXCESS * bound)

    def fit() -> Found:
        within = model.fit(rows.X, rows.y, rows.qid).objective_ / bound - 1.0 <= MAX_EXCESS
        return {"within 1 %": float(within)}

    return fit


def text_fit() -> Run:
    rows = text()
    return lambda: {"weight": float(RankRLS(solver="cg", tol=0.01).fit(rows.X, rows.y).coef_[0])}


WAITS = {
    "hinge": Wait("RankSVM to 1 %, 16,112 × 45", 0.013, lambda: hinge_fit(ohsumed_shaped()), one_thread=True),
    "hinge-wide": Wait(
        "RankSVM to 1 %, 100,000 × 136", 0.15, lambda: hinge_fit(web_shaped()), one_thread=True
    ),
    "text": Wait("RankRLS by cg on text, 20,000 × 47,152", 0.04, text_fit, times=5, one_thread=True),
    "frame": Wait("predict, 100 rows, frame of 136 numbers", 2.5e-4, lambda: request(1), times=100),
    "table": Wait("predict, 100 rows, mixed table", 4e-4, lambda: request(3), times=100),
    "open-queries": Wait("merging 20,000 open queries of 5 parts", 0.4, open_queries),
    "kernel": Wait(f"KernelRankRLS, {N_ROWS:,} × 15, {N_BASIS:,} basis rows", one_and_a_half_bounds, kernel),
    "hinge-search": Wait("LightGBM's example: RankSVMCV", 2.0, hinge_search, folder="lightgbm_lambdarank"),
    "audit": Wait("audit of 200,000 rows, 100 brands", 5.0, brands),
    "one-ranking": Wait("RankRLSCV, one ranking of 4,000 × 5", 1.0, lambda: one_ranking(False)),
    "one-ranking-noise": Wait("RankRLSCV, one ranking of 4,000 × 5, noise", 1.0, lambda: one_ranking(True)),
    "encoding": Wait("encoding the columns of the movies", 0.5, encoding, folder="movies"),
    "movies-folds": Wait("movies as splines: RankRLSCV, 5 folds", 1.2, lambda: on_movies(5), folder="movies"),
    "movies": Wait(
        "movies as splines: RankRLSCV, leave-query-out",
        2.5,
        lambda: on_movies("leave-query-out"),
        folder="movies",
    ),
}


@contextmanager
def on_one_thread(only: bool) -> Iterator[None]:
    with threadpool_limits(1 if only else None), config_context(n_threads=1 if only else None):
        yield


def serve() -> None:
    """For each line of the input, a name, do that work; print its processor time in seconds and its result.

    What is not timed is prepared where the name changes. Work that takes too long has no result and ends the
    process.
    """
    last, run = None, None
    for line in sys.stdin:
        name = line.strip()
        wait = WAITS[name]
        with config_context(one_ranking=True), on_one_thread(wait.one_thread):
            if name != last or run is None:
                run, last = wait.prepare(), name
            start = time.process_time()
            limit = Timer(MOST_SECONDS, give_up, [start])
            limit.start()
            found = [run() for _ in range(wait.times)][-1]
            limit.cancel()
            print(json.dumps([(time.process_time() - start) / wait.times, found]), flush=True)


def give_up(start: float) -> None:
    """End the process, whatever it is doing; say how much processor time it has taken since the start."""
    print(json.dumps([time.process_time() - start, None]), flush=True)
    os._exit(0)


if __name__ == "__main__":
    timing.quick = "--quick" in sys.argv
    serve()
