"""Grouping rows by query and scaling per query vs. straightforward NumPy and pandas code."""

import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler

from benchmarks.timing import best_times, header, sized
from rankwise.preferences.queries import group_rows
from rankwise.rows.scaling import scale_grouped


def run() -> None:
    rng = np.random.default_rng(0)
    n_rows, n_queries = sized(1_000_000), sized(20_000)
    qid = rng.integers(n_queries, size=n_rows)
    header(f"group_rows: {n_rows:,} shuffled rows, {n_queries:,} queries")
    report(
        best_times(
            {
                "rankwise": lambda: group_rows(qid, n_rows),
                "np.unique + argsort": lambda: np.argsort(
                    np.unique(qid, return_inverse=True)[1], kind="stable"
                ),
                "pd.factorize + argsort": lambda: np.argsort(pd.factorize(qid)[0], kind="stable"),
            }
        )
    )
    X = rng.random((n_rows // 4, 46))
    frame, sorted_qid = pd.DataFrame(X), np.sort(qid[: len(X)])
    queries = group_rows(sorted_qid, len(X))
    header(f"per-query scaling: {len(X):,} rows, 46 features, {queries.n_queries:,} queries")
    report(
        best_times(
            {
                "rankwise": lambda: scale_grouped(X, queries),
                "pandas groupby": lambda: scaled_by_pandas(frame, sorted_qid),
                "MinMaxScaler, all rows as one": lambda: MinMaxScaler().fit_transform(X),
            },
            repeats=3,
        )
    )


def scaled_by_pandas(frame: pd.DataFrame, qid: np.ndarray) -> pd.DataFrame:
    groups = frame.groupby(qid)
    low, high = groups.transform("min"), groups.transform("max")
    return (frame - low) / (high - low)


def report(times: dict[str, float]) -> None:
    for name, seconds in times.items():
        print(f"{name:30s} {seconds:8.3f} s   {seconds / times['rankwise']:6.2f} x")
