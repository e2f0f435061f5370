"""Screening pairs of columns: processor time, and how many pairs pass where nothing interacts."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench_interactions import ohsumed, simulators_of
from benchmarks.bench_splines import lightgbm_example
from benchmarks.peers.shapes import Rows
from benchmarks.tables import show
from benchmarks.timing import best_times, header, real_data, sized
from rankwise import RankRLS, RankRLSCV
from rankwise.preferences.queries import group_rows
from rankwise.ridge.interaction_gains import interaction_gains

# Rows, columns and rows of a query.
SHAPES = ((3_000, 300, 20), (266_000, 16, 23))
# What an axis of numbers has, without its mean.
FUNCTIONS = 3
N_PERMUTATIONS = 3


def run() -> None:
    header("Screening pairs of columns, processor time")
    columns = ["rows", "columns", "pairs", "screening, s", "whole fit, s"]
    show("screening", columns, (_timed(*shape) for shape in SHAPES))
    header("Residuals permuted within queries")
    rows = (_permuted(name, data) for name, data in _data_sets())
    show("screening-permuted", ["data", "rows", "pairs", f"pairs found in {N_PERMUTATIONS} draws"], rows)


def _timed(n_rows: int, n_columns: int, of_query: int) -> tuple[str, ...]:
    """The screening alone, and all of a fit, with the residuals that are screened."""
    rng = np.random.default_rng(0)
    n_rows = sized(n_rows)
    X, qid = rng.normal(size=(n_rows, n_columns)), np.arange(n_rows) // of_query
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n_rows)
    functions, queries = rng.normal(size=(n_rows, FUNCTIONS * n_columns)), group_rows(qid, n_rows)
    starts = FUNCTIONS * np.arange(n_columns)
    alternatives = {
        "screening": lambda: interaction_gains(functions, starts, y, queries, np.ones(n_rows)),
        "fit": lambda: RankRLS(interactions="auto").fit(X, y, qid),
    }
    best = best_times(alternatives, repeats=2, clock=time.process_time)
    n_pairs = n_columns * (n_columns - 1) // 2
    seconds = (f"{best[name]:.1f}" for name in alternatives)
    return (f"{n_rows:,}", f"{n_columns}", f"{n_pairs:,}", *seconds)


def _data_sets() -> Iterator[tuple[str, Rows]]:
    folder = real_data()
    if folder is None:
        return
    simulators = simulators_of(folder / "simulators.py")
    if simulators is not None:
        for draw, n in ((simulators.shop, 300), (simulators.hard_shop, 300), (simulators.thirty, 500)):
            X, y, qid, _ = draw(sized(n), seed=0)
            yield draw.__name__, Rows(X, y, qid)
    yield "LightGBM's example", lightgbm_example(folder / "lightgbm_lambdarank")
    yield "OHSUMED", ohsumed(folder / "ohsumed_letor2")


def _permuted(name: str, rows: Rows) -> tuple[str, ...]:
    """Search in what the additive model misses of left-out queries, in another order."""
    model = RankRLSCV(columns="spline").fit(rows.X, rows.y, rows.qid)
    residuals = rows.y - model.left_out_scores_
    found, rng = [], np.random.default_rng(0)
    for _ in range(N_PERMUTATIONS):
        labels = _within_queries(residuals, rows.qid, rng)
        search = RankRLS(interactions="auto").fit(rows.X, labels, rows.qid).encoding_.search
        found.append(len(search.found))
    return name, rows.shape, f"{search.tried:,}", ", ".join(map(str, found))


def _within_queries(values: NDArray, qid: NDArray, rng: np.random.Generator) -> NDArray:
    """The values of each query in random order."""
    permuted = np.empty_like(values)
    permuted[np.lexsort((np.arange(len(qid)), qid))] = values[np.lexsort((rng.random(len(qid)), qid))]
    return permuted
