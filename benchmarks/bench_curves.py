"""Learning curves: do intervals contain the quality at twice the queries, and the gain?"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.movies import signals
from benchmarks.tables import show
from benchmarks.timing import header, quick, real_data
from rankwise import RankingData, RankRLSCV, learning_curve, make_search_data
from rankwise.errors import GridWarning
from rankwise.metrics import evaluate

# Of the queries, so many are judged, and so many more are measured on.
JUDGED, MEASURED = (50, 100), 1000
REPEATS = 4 if quick else 100


def run() -> None:
    header(f"Predict NDCG@10 at twice the judged queries, {REPEATS} draws of queries each")
    warnings.simplefilter("ignore", GridWarning)
    data = {"simulated": make_search_data(3000, random_state=1)}
    folder = real_data()
    if folder is not None:
        rows = signals(folder / "movies")
        data["movies"] = RankingData.from_arrays(rows.X, rows.y, rows.qid).scale_per_query()
    columns = (
        *("data", "judged queries", "quality at twice as many: coverage", "mean ±", "± needed"),
        *("gain: mean", "coverage", "mean ±", "± needed"),
    )
    lines = []
    for name, rows in data.items():
        for n in JUDGED:
            drawn = np.array([predicted_and_true(rows, n, seed) for seed in range(REPEATS)])
            lines.append([name, str(n), *summary(drawn[:, 0]), f"{drawn[:, 1, 2].mean():+.4f}"])
            lines[-1] += summary(drawn[:, 1])
    show("curves", columns, lines)


def predicted_and_true(data: RankingData, n: int, seed: int) -> list[tuple[float, float, float]]:
    """The quality at twice n queries and the gain: predicted, half of the interval, and true."""
    order = np.random.default_rng(seed).permutation(data.queries.labels)
    test = data.select(queries=order[-MEASURED:].tolist())
    curve = learning_curve(data.select(queries=order[:n].tolist()), RankRLSCV(), random_state=seed)
    one, two = (quality(data.select(queries=order[:size].tolist()), test) for size in (n, 2 * n))
    return [(*curve.predict(2 * n), two), (*curve.gain(2 * n), two - one)]


def quality(training: RankingData, test: RankingData) -> float:
    model = RankRLSCV().fit(training)
    return float(evaluate(test.y, model.predict(test.X), test.qid, "ndcg@10").means["ndcg@10"])


def summary(drawn: np.ndarray) -> list[str]:
    """The coverage, the mean half of an interval, and what it would be if the error were known."""
    mean, margin, true = drawn.T
    covered = np.abs(mean - true) <= margin
    needed = 1.96 * np.sqrt(np.mean((mean - true) ** 2))
    chance = 196 * np.sqrt(covered.mean() * (1 - covered.mean()) / len(covered))
    return [f"{100 * covered.mean():.0f} ± {chance:.0f} %", f"{margin.mean():.4f}", f"{needed:.4f}"]
