"""Few labels of people and many of a model: coverage and width of intervals of NDCG@10."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.movies import signals
from benchmarks.tables import show
from benchmarks.timing import header, quick, real_data
from rankwise import RankingData, RankRLSCV
from rankwise.metrics import evaluate
from rankwise.metrics.prediction_powered import Part, combine

REPEATS = 200 if quick else 5000
N_QUERIES = 1000
# The share of a model's labels that are drawn at random from all labels, and of queries that people judge.
NOISE, SAMPLES = (0.1, 0.3, 1.0), (20, 30, 100)
# The second ranker learns from so many queries, the first from all for training.
FEW = 20


def run() -> None:
    header(f"People judge some of {N_QUERIES:,} queries of movies, a noisy model all; {REPEATS:,} draws each")
    folder = real_data()
    if folder is None:
        return
    rows = signals(folder / "movies")
    data = RankingData.from_arrays(rows.X, rows.y, rows.qid).scale_per_query()
    training, test = data.split(0.1, random_state=0)
    few = training.select(queries=training.queries.labels[:FEW].tolist())
    one, other = (RankRLSCV().fit(of).predict(test.X) for of in (training, few))
    lines = []
    for noise in NOISE:
        rng = np.random.default_rng(0)
        judge = np.where(rng.random(test.n_rows) < noise, rng.choice(test.y, test.n_rows), test.y)
        people, model = (by_query(test, y, one) for y in (test.y, judge))
        counted = np.isfinite(people) & np.isfinite(model)
        apart = [values - by_query(test, y, other) for values, y in ((people, test.y), (model, judge))]
        for what, h, f in (("one ranker", people, model), ("difference of two", *apart)):
            for n in SAMPLES:
                found = simulated(h[counted], f[counted], n, rng)
                lines.append([what, f"{100 * noise:.0f} %", str(n), *found])
    columns = (
        *("NDCG@10 of", "random labels", "judged by people", "correlation", "coverage", "of people alone"),
        *("width / width of people alone", "the same with weight 1"),
    )
    show("sampled", columns, lines)


def by_query(data: RankingData, y: NDArray, scores: NDArray) -> NDArray:
    return evaluate(y, scores, data.qid, "ndcg@10").per_query["ndcg@10"]


def simulated(people: NDArray, model: NDArray, n: int, rng: np.random.Generator) -> list[str]:
    truth, hits, alone, widths = people.mean(), [], [], []
    for _ in range(REPEATS):
        drawn = rng.choice(len(people), N_QUERIES, replace=False)
        h, f, others = people[drawn[:n]], model[drawn[:n]], model[drawn[n:]]
        sample, proxy, outside = (Part(v.mean(), v - v.mean()) for v in (h, f, others))
        found = combine(sample, proxy, outside)
        hits.append(abs(found.mean - truth) <= found.margin)
        alone.append(abs(sample.mean - truth) <= sample.margin)
        untuned = np.var(h - f, ddof=1) / n + outside.variance
        widths.append([found.margin, sample.margin, np.sqrt(untuned), np.sqrt(sample.variance)])
    both, by_people, plain, error = np.mean(widths, axis=0)
    return [
        *(f"{np.corrcoef(people, model)[0, 1]:.2f}", f"{100 * np.mean(hits):.1f} %"),
        *(f"{100 * np.mean(alone):.1f} %", f"{both / by_people:.2f}", f"{plain / error:.2f}"),
    ]
