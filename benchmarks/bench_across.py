"""Pairs across queries: NDCG lost, AUC across queries gained, and a threshold for good results."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t
from sklearn.linear_model import RidgeCV

from benchmarks.movies import signals
from benchmarks.tables import show
from benchmarks.timing import header, quick, real_data
from rankwise import RankingData, RankRLSCV, load_letor
from rankwise.errors import RankwiseError
from rankwise.metrics import auc, evaluate, find_good_results

REPEATS = 3 if quick else 10
BETAS = (0.0, 0.01, 0.1, 1.0, 10.0)
N_MOVIE_QUERIES = 200 if quick else 1000
POINTWISE = "ridge regression on rows"
# At which β, and with which precision, thresholds are found.
BETA, PRECISIONS = 1.0, {"OHSUMED": (0.5, 0.7), "movies": (0.5, 0.8)}


def run() -> None:
    header(f"Scores across queries: {REPEATS} random halves")
    folder = real_data()
    if folder is None:
        return
    warnings.simplefilter("ignore")  # grids of alpha, and columns constant within queries
    folds = sorted((folder / "ohsumed_letor2").glob("Fold*"))
    rows = signals(folder / "movies")
    movies = RankingData.from_arrays(np.log1p(np.maximum(rows.X, 0.0)), rows.y, rows.qid)
    ohsumed = RankingData.concat(load_letor(fold / "testset.txt.xz") for fold in folds)
    lines, thresholds = [], []
    for name, data in {"OHSUMED": ohsumed, "movies": movies}.items():
        found = [measured(*halves(data, seed), PRECISIONS[name]) for seed in range(REPEATS)]
        quality = np.array([one for one, _ in found])
        lines += [[name, *line] for line in table(quality)]
        thresholds += [[name, *line] for line in table_of_thresholds([one for _, one in found])]
    show(
        "across",
        ("data", "β", "NDCG@10", "against β = 0", "AUC across queries", "against β = 0"),
        lines,
    )
    columns = (
        "data",
        "precision asked for",
        "precision",
        "recall",
        "mean probability - share relevant",
    )
    show("good-results", columns, thresholds)


def halves(data: RankingData, seed: int) -> tuple[RankingData, RankingData]:
    """Some queries to train on, and as many others, with standardized features."""
    order = np.random.default_rng(seed).permutation(data.queries.labels)[:N_MOVIE_QUERIES]
    first, second = (data.select(queries=part.tolist()) for part in np.array_split(order, 2))
    mean, size = first.X.mean(axis=0), first.X.std(axis=0)
    size[size == 0.0] = 1.0
    scaled = [((part.X - mean) / size, part.y, part.qid) for part in (first, second)]
    return RankingData.from_arrays(*scaled[0]), RankingData.from_arrays(*scaled[1])


def measured(
    train: RankingData, test: RankingData, precisions: tuple[float, ...]
) -> tuple[list[tuple[float, float]], dict[float, list[float]]]:
    """NDCG@10 and AUC for each β and for ridge regression, and what thresholds do to the test rows."""
    found, thresholds = [], {}
    for beta in BETAS:
        model = RankRLSCV(across_queries=beta).fit(train)
        scores = model.predict(test.X)
        found.append(quality(test, scores))
        if beta == BETA:
            thresholds = {asked: with_threshold(train, model, test, scores, asked) for asked in precisions}
    pointwise = RidgeCV(2.0 ** np.arange(-5, 16)).fit(train.X, train.y)
    return [*found, quality(test, pointwise.predict(test.X))], thresholds


def quality(test: RankingData, scores: NDArray) -> tuple[float, float]:
    ndcg = evaluate(test.y, scores, test.qid, "ndcg@10").means["ndcg@10"]
    return float(ndcg), float(auc((test.y >= 1).astype(float), scores))


def with_threshold(
    train: RankingData, model: RankRLSCV, test: RankingData, scores: NDArray, precision: float
) -> list[float]:
    """Precision and recall on the test rows, and how far the mean probability is off; NaN if none."""
    try:
        good = find_good_results(train.y, model.left_out_scores_, train.qid, precision=precision)
    except RankwiseError:
        return [np.nan] * 3
    found = good.measure(test.y, scores, test.qid)
    return [found.precision, found.recall, float(good.probability(scores).mean() - np.mean(test.y >= 1))]


def table(quality: NDArray) -> list[list[str]]:
    lines = []
    for place, name in enumerate([f"{beta:g}" for beta in BETAS] + [POINTWISE]):
        ndcg, area = quality[:, place].T
        lost, gained = (quality[:, place] - quality[:, 0]).T
        lines.append(
            [name, f"{ndcg.mean():.4f}", with_margin(lost), f"{area.mean():.4f}", with_margin(gained)]
        )
    return lines


def table_of_thresholds(found: list[dict[float, list[float]]]) -> list[list[str]]:
    return [
        [f"{asked:g}", *(with_margin(np.array([one[asked][k] for one in found]), "") for k in range(3))]
        for asked in found[0]
    ]


def with_margin(values: NDArray, sign: str = "+") -> str:
    known = values[~np.isnan(values)]
    if len(known) < 2:
        return "none"
    margin = t.ppf(0.975, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known))
    return f"{known.mean():{sign}.4f} ± {margin:.4f}"
