"""What to judge next: NDCG@10 on other queries against the number of judgments, by how they were chosen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.movies import signals
from benchmarks.tables import show
from benchmarks.timing import header, quick, real_data
from rankwise import RankingData, RankRLS, RankwiseError, load_letor
from rankwise.judging.next_judgments import next_judgments
from rankwise.metrics import get_measure

DRAWS = 2 if quick else 20
BUDGETS = (25, 50, 100, 200, 400)
TABLES = {"OHSUMED": "next-ohsumed", "LightGBM": "next-lightgbm", "Movies": "next-movies"}
# Judgments before the model chooses for the first time, and between two choices of methods that use it.
FIRST = ROUND = 25
MOVIE_QUERIES = 600
# How many documents of a query are judged where that is limited.
DEPTH = 10


def run() -> None:
    header("What to judge next")
    folder = real_data()
    if folder is None:
        return
    warnings.simplefilter("ignore")  # most queries have no pairs yet
    for name, data in data_sets(folder).items():
        print(f"\n{name}: {data.n_rows:,} documents of {data.n_queries:,} queries, {DRAWS} draws")
        found: dict[str, list[list[float]]] = {}
        for seed in range(DRAWS):
            for method, values in curves(data, np.random.default_rng(seed)).items():
                found.setdefault(method, []).append(values)
        columns = ("chosen by", *(f"{budget} judgments" for budget in BUDGETS))
        show(TABLES[name], columns, [(method, *cells(v)) for method, v in found.items()])
        best = np.array(found.pop("`next`"))
        for method, values in found.items():
            gain = best - np.array(values)
            print(f"next minus {method}: {'  '.join(cells(gain.tolist()))}")


def data_sets(folder: Path) -> dict[str, RankingData]:
    folds = sorted((folder / "ohsumed_letor2").glob("Fold*"))
    ohsumed = RankingData.concat(load_letor(fold / "testset.txt.xz") for fold in folds)
    example = load_letor(folder / "lightgbm_lambdarank" / "rank.train.xz", zero_based=False)
    rows = signals(folder / "movies")
    movies = RankingData.from_arrays(rows.X, rows.y, rows.qid)
    some = np.random.default_rng(0).permutation(movies.n_queries)[:MOVIE_QUERIES]
    movies = movies.select(queries=movies.queries.labels[some].tolist())
    return {"OHSUMED": ohsumed.scale_per_query(), "LightGBM": example, "Movies": movies.scale_per_query()}


def cells(values: list[list[float]]) -> list[str]:
    """The mean of each column, with a 95 % interval from the draws."""
    table = np.array(values)
    error = 1.96 * table.std(axis=0, ddof=1) / np.sqrt(len(table))
    return [f"{mean:.3f} ± {width:.3f}" for mean, width in zip(table.mean(axis=0), error, strict=True)]


def curves(data: RankingData, rng: np.random.Generator) -> dict[str, list[float]]:
    """The quality after each budget, for each method, measured on other queries."""
    labels = rng.permutation(data.queries.labels)
    pool, test = (data.select(queries=half.tolist()) for half in np.array_split(labels, 2))
    prepared = get_measure("ndcg@10").prepare(test.y, test.queries)

    def quality(rows: NDArray) -> float:
        model = trained(pool, rows)
        return float(prepared(np.zeros(test.n_rows) if model is None else model.predict(test.X)))

    orders = {name: order(pool, rng) for name, order in METHODS.items()}
    found = {name: [quality(order[:budget]) for budget in BUDGETS] for name, order in orders.items()}
    return found | {"all documents of the half": [quality(np.arange(pool.n_rows))] * len(BUDGETS)}


def trained(pool: RankingData, rows: NDArray) -> RankRLS | None:
    """The model of some rows; None if they teach nothing."""
    try:
        return RankRLS().fit(pool.select(np.sort(rows)))
    except RankwiseError:
        return None


def by_next(pool: RankingData, rng: np.random.Generator) -> NDArray:
    found = next_judgments(None, pool, budget=BUDGETS[-1], reserve=0.0)
    return np.array([one.rows[0] for one in found])


def random_documents(pool: RankingData, rng: np.random.Generator) -> NDArray:
    return rng.permutation(pool.n_rows)


def random_queries(pool: RankingData, rng: np.random.Generator, depth: int | None = None) -> NDArray:
    queries = rng.permutation(pool.n_queries)
    return np.concatenate([rng.permutation(pool.queries.rows_of(query))[:depth] for query in queries])


def ten_of_random_queries(pool: RankingData, rng: np.random.Generator) -> NDArray:
    return random_queries(pool, rng, DEPTH)


def top_of_ranking(pool: RankingData, rng: np.random.Generator) -> NDArray:
    """The best document without a judgment, of the queries with fewest judgments."""
    query = pool.queries.query_of_row()

    def choose(scores: NDArray, judged: NDArray) -> NDArray:
        order = np.lexsort((-np.where(judged, -np.inf, scores), query))
        best = order[np.searchsorted(query[order], np.arange(pool.n_queries))]
        counts = np.bincount(query[judged], minlength=pool.n_queries) + rng.random(pool.n_queries)
        return best[np.argsort(counts)]

    return in_rounds(pool, rng, choose)


def uncertain(pool: RankingData, rng: np.random.Generator) -> NDArray:
    """Documents that are as likely above as below the others of their query."""
    query = pool.queries.query_of_row()

    def choose(scores: NDArray, judged: NDArray) -> NDArray:
        middle = np.bincount(query, scores) / np.bincount(query)
        return np.argsort(np.abs(scores - middle[query]), kind="stable")

    return in_rounds(pool, rng, choose)


def in_rounds(
    pool: RankingData, rng: np.random.Generator, choose: Callable[[NDArray, NDArray], NDArray]
) -> NDArray:
    """Judgments by a model that is trained on those before, in rounds."""
    start = ten_of_random_queries(pool, rng)
    chosen = list(start[:FIRST])
    while len(chosen) < BUDGETS[-1]:
        judged = np.zeros(pool.n_rows, dtype=bool)
        judged[chosen] = True
        model = trained(pool, np.array(chosen))
        scores = np.zeros(pool.n_rows) if model is None else model.predict(pool.X)
        more = list(_unjudged(choose(scores, judged), judged))[:ROUND]
        chosen += more or list(_unjudged(start, judged))[:ROUND]
    return np.array(chosen)


def _unjudged(rows: NDArray, judged: NDArray) -> Iterator[int]:
    return (row for row in rows.tolist() if not judged[row])


METHODS = {
    "`next`": by_next,
    "random documents": random_documents,
    "random queries, all documents": random_queries,
    f"random queries, {DEPTH} documents": ten_of_random_queries,
    "the top of the ranking": top_of_ranking,
    "uncertainty near 0.5": uncertain,
}
