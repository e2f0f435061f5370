"""Choosing alpha by leaving out: real columns as splines, ever more queries, one global ranking."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import movies, timing
from benchmarks.tables import Table
from benchmarks.timing import best_times, header, real_data, sized
from rankwise import ColumnEncoder, RankRLS, RankRLSCV, audit, config_context

QUERIES = (100, 1_000, 10_000, 50_000)
ROWS, FEATURES = 20, 100
# One query more, or a hundred times as many, may not cost much more than its share.
LARGEST_EXPONENT = 1.1


def run() -> None:
    on_movies()
    growth()
    one_ranking()
    brands()


def on_movies() -> None:
    header("Movies: 16 signals as splines, 31 alphas")
    folder = real_data()
    if folder is None or not (folder / "movies").is_dir():
        print("Skipped: there is no folder movies among the real data sets.")
        return
    rows = movies.signals(folder / "movies")
    if timing.quick:
        kept = rows.qid < 500
        rows = type(rows)(rows.X[kept], rows.y[kept], rows.qid[kept])
    encoder = ColumnEncoder("spline").fit(rows.X)
    X = encoder.transform(rows.X)
    table = Table("leave-out-movies", f"{X.shape[0]:,} × {X.shape[1]}", "s", "processor, s")
    searches = {cv: RankRLSCV(cv=cv) for cv in ("leave-query-out", "auto", 5)}
    table.add("RankRLS", *both_times(lambda: RankRLS().fit(X, rows.y, rows.qid)))
    for search in searches.values():
        times = both_times(lambda search=search: search.fit(X, rows.y, rows.qid))
        table.add(f"RankRLSCV, {search.cv_}", *times)


def growth() -> None:
    header(f"Leave-query-out: queries of {ROWS} rows × {FEATURES} features, 31 alphas")
    table = Table("leave-out-growth", "queries", "s", "processor, s", "exponent")
    rng = np.random.default_rng(0)
    before: tuple[int, float] | None = None
    for n_queries in QUERIES[:2] if timing.quick else QUERIES:
        X = rng.normal(size=(ROWS * n_queries, FEATURES))
        y = np.round(X[:, :5].sum(axis=1) + rng.normal(size=len(X)))
        qid = np.repeat(np.arange(n_queries), ROWS)
        for cv in ("leave-query-out", "auto"):
            search = RankRLSCV(cv=cv)
            wall, processor = both_times(lambda search=search: search.fit(X, y, qid))  # noqa: B023
            if cv == "leave-query-out":
                exponent = ""
                if before is not None:
                    grown = np.log(float(processor) / before[1]) / np.log(n_queries / before[0])
                    exponent = f"{grown:.2f}{' (more than it should be)' if grown > LARGEST_EXPONENT else ''}"
                before = n_queries, float(processor)
                table.add(f"{n_queries:,}", wall, processor, exponent)
            elif search.cv_ != cv and search.cv_ != "leave-query-out":
                table.add(f"{n_queries:,}, {search.cv_}", wall, processor, "")


def one_ranking() -> None:
    header("Leave-pair-out of one global ranking, 31 alphas")
    table = Table("leave-out-pairs", "rows × features, labels", "s", "processor, s")
    rng = np.random.default_rng(0)
    for n_features in (5, 100):
        X = rng.normal(size=(sized(4_000), n_features))
        labels = {"with signal": X[:, 0] + rng.normal(size=len(X)), "noise": rng.normal(size=len(X))}
        for name, y in labels.items():
            with config_context(one_ranking=True):
                times = both_times(lambda: RankRLSCV(cv="leave-pair-out").fit(X, y))  # noqa: B023
            table.add(f"{len(X):,} × {n_features}, {name}", *times)


def brands() -> None:
    header("Audit of a table with a column of 100 brands")
    frame, y, qid = shop(sized(200_000))
    times = both_times(lambda: audit(frame, y, qid, ranker=RankRLSCV(columns="auto")))
    table = Table("audit-brands", "rows", "s", "processor, s")
    table.add(f"{len(frame):,}", *times)


def shop(n_rows: int) -> tuple[pd.DataFrame, NDArray, NDArray]:
    """Products of 100 brands in queries of 20, and their grades."""
    rng = np.random.default_rng(0)
    brand, numbers = rng.integers(100, size=n_rows), rng.normal(size=(n_rows, 3))
    columns = {
        "brand": [f"brand {number}" for number in brand],
        "price": rng.gamma(2.0, 10.0, n_rows),
        "rating": np.round(rng.normal(4.0, 0.5, n_rows), 1),
        "match": numbers[:, 0],
        "clicks": numbers[:, 1],
        "age": numbers[:, 2],
    }
    liked = numbers[:, 0] + rng.normal(size=100)[brand] + rng.normal(size=n_rows)
    return pd.DataFrame(columns), np.clip(np.round(liked), 0.0, 4.0), np.arange(n_rows) // ROWS


def both_times(call: Callable[[], object]) -> tuple[str, str]:
    """The shortest wall time and processor time of a few runs."""
    clocks = {"wall": time.perf_counter, "processor": time.process_time}
    found = {name: best_times({name: call}, 2, clock)[name] for name, clock in clocks.items()}
    return f"{found['wall']:.2f}", f"{found['processor']:.2f}"
