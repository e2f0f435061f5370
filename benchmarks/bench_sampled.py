"""Few labels of people and many of a model: coverage and width of intervals of NDCG@10 of movies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.movies import signals
from benchmarks.tables import show
from benchmarks.timing import header, quick, real_data
from rankwise import RankingData, RankRLSCV
from rankwise.metrics import evaluate, evaluate_sampled

REPEATS = 100 if quick else 2000
N_QUERIES = 1000
# The share of a model's labels that are drawn at random from all labels, and of queries that people judge.
NOISE, SAMPLES = (0.1, 0.3, 0.6, 1.0), (30, 100)


def run() -> None:
    header(f"People judge some of {N_QUERIES:,} queries of movies, a noisy model all; {REPEATS:,} draws each")
    folder = real_data()
    if folder is None:
        return
    rows = signals(folder / "movies")
    data = RankingData.from_arrays(rows.X, rows.y, rows.qid).scale_per_query()
    training, test = data.split(0.1, random_state=0)
    scores = RankRLSCV().fit(training).predict(test.X)
    people = by_query(test, test.y, scores)
    lines = []
    for noise in NOISE:
        rng = np.random.default_rng(0)
        judge = np.where(rng.random(test.n_rows) < noise, rng.choice(test.y, test.n_rows), test.y)
        model = by_query(test, judge, scores)
        counted = np.isfinite(people) & np.isfinite(model)
        for n in SAMPLES:
            lines.append(simulated(people[counted], model[counted], noise, n, rng))
    columns = (
        *("random labels", "judged by people", "correlation", "coverage", "of people alone"),
        *("width / width of people alone", "the same with weight 1"),
    )
    show("sampled", columns, lines)


def by_query(data: RankingData, y: NDArray, scores: NDArray) -> NDArray:
    return evaluate(y, scores, data.qid, "ndcg@10").per_query["ndcg@10"]


def value(labels: NDArray, scores: NDArray) -> float:
    """A measure that is any number: the label of the only row of a query."""
    return float(labels[0])


def simulated(people: NDArray, model: NDArray, noise: float, n: int, rng: np.random.Generator) -> list[str]:
    truth, hits, alone, widths, untuned = people.mean(), [], [], [], []
    mask, nothing, queries = np.arange(N_QUERIES) >= n, np.zeros(N_QUERIES), np.arange(N_QUERIES)
    for _ in range(REPEATS):
        drawn = rng.choice(len(people), N_QUERIES, replace=False)
        given = np.ma.masked_array(people[drawn], mask)
        (found,) = evaluate_sampled(model[drawn], given, nothing, queries, value).means
        hits.append(abs(found.mean - truth) <= found.margin)
        alone.append(abs(found.people - truth) <= found.people_margin)
        widths.append(found.margin / found.people_margin)
        h, f = people[drawn[:n]], model[drawn]
        plain = np.var(h - f[:n], ddof=1) / n + np.var(f[n:], ddof=1) / (N_QUERIES - n)
        untuned.append(np.sqrt(plain / (np.var(h, ddof=1) / n)))
    correlation = np.corrcoef(people, model)[0, 1]
    return [
        *(f"{100 * noise:.0f} %", str(n), f"{correlation:.2f}", f"{100 * np.mean(hits):.1f} %"),
        *(f"{100 * np.mean(alone):.1f} %", f"{np.mean(widths):.2f}", f"{np.mean(untuned):.2f}"),
    ]
