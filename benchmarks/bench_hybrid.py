"""Hybrid search on the movies: matches of words and an embedding, with weights that depend on the query.

Every learner and every choice sees training queries only; half of the queries are test queries, then the
other half. Next to it is what most engines do: the best single signal, and fusions without labels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks import timing
from benchmarks.bench_interactions import DEPTH_2, MEASURE, N_TREES_OF_DEPTH_2, compare_on, in_folds
from benchmarks.bench_splines import LEAVES, Fitted, Learner, by_ranker, by_trees, ndcg, of_queries, tuned
from benchmarks.movies import CONTEXT, MATCHES, hybrid_signals
from benchmarks.peers.comparing import is_installed, one_thread
from benchmarks.peers.shapes import Rows
from benchmarks.peers.trees import fit_lightgbm
from benchmarks.timing import real_data
from rankwise import RankRLSCV

N_FOLDS, N_QUERIES = 2, 3_000
N = len(MATCHES)
SINGLE, SCALED, RECIPROCAL = slice(0, N), slice(N, 2 * N), slice(2 * N, 3 * N)
LEARNED = [*range(2 * N), *range(3 * N, 3 * N + len(CONTEXT))]


def run() -> None:
    folder = real_data()
    if folder is None:
        return
    rows = hybrid_signals(folder / "movies")
    queries = np.random.default_rng(0).permutation(rows.qid.max() + 1)
    rows = of_queries(rows, queries[: 300 if timing.quick else N_QUERIES])
    with one_thread():
        compare_on(in_folds("hybrid-movies", rows, N_FOLDS), dict(learners()))


def learners() -> Iterator[tuple[str, Learner]]:
    """The columns of all rows are those of `hybrid_signals`."""
    yield "best single signal", best_single
    yield "min-max fusion", sum_of(SCALED)
    yield "reciprocal-rank fusion", sum_of(RECIPROCAL)
    yield "one set of weights", on(range(N, 2 * N), by_ranker(RankRLSCV(measure=MEASURE)))
    yield "splines of signals", on(LEARNED, by_ranker(RankRLSCV(columns="spline", measure=MEASURE)))
    yield "weights that depend on the query", on(LEARNED, by_ranker(weights_by_query()))
    yield "five interactions that are searched for", on(LEARNED, by_ranker(auto()))
    if is_installed("lightgbm", "lightgbm"):
        yield "LightGBM, depth 2", on(LEARNED, by_trees(fit_lightgbm, DEPTH_2, N_TREES_OF_DEPTH_2))
        yield "LightGBM, defaults", on(LEARNED, by_trees(fit_lightgbm))
        yield "LightGBM, tuned", on(LEARNED, tuned(fit_lightgbm, LEAVES))


def weights_by_query() -> RankRLSCV:
    """Every scaled signal with every column that is constant within queries."""
    pairs = [(f"x{2 * N + c}", f"x{N + signal}") for c in range(len(CONTEXT)) for signal in range(N)]
    return RankRLSCV(interactions=pairs, measure=MEASURE)


def auto() -> RankRLSCV:
    return RankRLSCV(interactions=5, measure=MEASURE)


def on(columns: Iterator[int] | range | list[int], learn: Learner) -> Learner:
    """The same of some columns."""
    kept = list(columns)

    def fit(rows: Rows) -> Fitted:
        fitted = learn(Rows(np.ascontiguousarray(rows.X[:, kept]), rows.y, rows.qid))
        return Fitted(lambda X: fitted.scores(np.ascontiguousarray(X[:, kept])), fitted.n_bytes)

    return fit


def best_single(rows: Rows) -> Fitted:
    found = [ndcg(rows.y, rows.X[:, column], rows.qid) for column in range(N)]
    best = int(np.argmax(found))
    return Fitted(lambda X: X[:, best], lambda: 0)


def sum_of(columns: slice) -> Learner:
    return lambda _: Fitted(lambda X: X[:, columns].sum(axis=1), lambda: 0)
