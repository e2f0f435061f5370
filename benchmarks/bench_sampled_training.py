"""Train on few labels of people and many of a model: NDCG@10 on other queries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.movies import FIELDS, NUMBERS, signals
from benchmarks.tables import show
from benchmarks.timing import header, quick, real_data
from rankwise import RankingData, RankRLSCV, fit_sampled
from rankwise.metrics import evaluate

REPEATS = 2 if quick else 20
N_TRAINING, N_TEST = (200, 200) if quick else (1000, 2000)
JUDGED, NOISE = (30, 100), (0.3, 0.8, 1.0)
# Of the labels of a biased model, so many are whether the movie is popular.
BIASED = 0.3
POPULARITY = len(FIELDS) + 4 + NUMBERS.index("popularity")


def run() -> None:
    header(f"Train on labels of people and of a model; {REPEATS} draws of queries")
    folder = real_data()
    if folder is None:
        return
    rows = signals(folder / "movies")
    data = RankingData.from_arrays(rows.X, rows.y, rows.qid).scale_per_query()
    names = [f"{100 * share:.0f} % random" for share in NOISE] + ["biased"]
    found: dict[tuple[str, int], list[list[float]]] = {}
    for seed in range(REPEATS):
        rng = np.random.default_rng(seed)
        order = rng.permutation(data.queries.labels)
        training = data.select(queries=order[:N_TRAINING].tolist())
        test = data.select(queries=order[N_TRAINING : N_TRAINING + N_TEST].tolist())
        judges = [noisy(training, share, rng) for share in NOISE] + [biased(training, rng)]
        for name, judge in zip(names, judges, strict=True):
            by_model = replace(training, y=judge)
            alone = quality(RankRLSCV(measure="ndcg@10").fit(by_model), test)
            for n in JUDGED:
                human = np.isin(training.qid, order[:n])
                people = quality(RankRLSCV(measure="ndcg@10").fit(training.select(human)), test)
                given = np.ma.masked_array(training.y, ~human)
                ranker, weight = fit_sampled(RankRLSCV(measure="ndcg@10"), by_model, given)
                found.setdefault((name, n), []).append([people, alone, quality(ranker, test), weight])
    columns = (
        *("labels of the model", "judged by people", "people alone", "model alone", "both"),
        *("both - people", "both - model", "weight: median"),
    )
    show("sampled-training", columns, [[name, str(n), *line(v)] for (name, n), v in found.items()])


def line(values: list[list[float]]) -> list[str]:
    people, alone, both, weight = np.array(values).T
    means = [f"{v.mean():.4f}" for v in (people, alone, both)]
    return [*means, *(with_margin(both - other) for other in (people, alone)), f"{np.median(weight):g}"]


def with_margin(values: NDArray) -> str:
    from scipy.stats import t

    margin = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():+.4f} ± {margin:.4f}"


def noisy(data: RankingData, share: float, rng: np.random.Generator) -> NDArray:
    return np.where(rng.random(data.n_rows) < share, rng.choice(data.y, data.n_rows), data.y)


def biased(data: RankingData, rng: np.random.Generator) -> NDArray:
    popular = data.X[:, POPULARITY] + 0.3 * rng.normal(size=data.n_rows) > 0.5
    return np.where(rng.random(data.n_rows) < BIASED, popular, data.y)


def quality(model: RankRLSCV, test: RankingData) -> float:
    return float(evaluate(test.y, model.predict(test.X), test.qid, "ndcg@10").means["ndcg@10"])
