"""Several raters: wrong judgments found by disagreement and features, and models of pooled labels."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.movies import signals
from benchmarks.tables import show
from benchmarks.timing import header, quick, real_data
from rankwise import RankingData, RankRLSCV, audit, load_letor
from rankwise.errors import GridWarning
from rankwise.metrics import evaluate
from rankwise.raters import Ratings, study_raters

REPEATS = 2 if quick else 10
WRONG, NAMED = 0.1, 100
# The noise of each rater, as a share of the step from one grade to the next.
NOISE = (0.3, 0.6, 0.9)


def run() -> None:
    header(f"Raters: three of them, {WRONG:.0%} of their judgments replaced by another grade")
    folder = real_data()
    if folder is None:
        return
    folds = sorted((folder / "ohsumed_letor2").glob("Fold*"))
    ohsumed = RankingData.concat(load_letor(fold / "testset.txt.xz") for fold in folds).scale_per_query()
    rows = signals(folder / "movies")
    movies = RankingData.from_arrays(rows.X, rows.y, rows.qid)
    sample = np.random.default_rng(0).permutation(movies.n_queries)[: 100 if quick else 1000]
    movies = movies.select(queries=movies.queries.labels[sample].tolist()).scale_per_query()
    warnings.simplefilter("ignore", GridWarning)
    named_tables = ("wrong-ohsumed", "pooled-ohsumed"), ("wrong-movies", "pooled-movies")
    for data, (wrong_table, pooled_table) in zip((ohsumed, movies), named_tables, strict=True):
        data = replace(data, docs=np.arange(data.n_rows))
        found: dict[str, list[float]] = {}
        quality: dict[str, list[float]] = {}
        for seed in range(REPEATS):
            given, wrong = rated(data, np.random.default_rng(seed))
            ratings = as_ratings(data, given)
            for method, documents in named(data, given, ratings).items():
                found.setdefault(method, []).append(float(wrong[documents].any(axis=1).mean()))
            for labels, value in pooled_quality(data, given, ratings, seed).items():
                quality.setdefault(labels, []).append(value)
        print(f"\n{data.n_rows:,} documents, {REPEATS} draws")
        lines = [(method, *in_per_cent(hits)) for method, hits in found.items()]
        show(
            wrong_table,
            (f"the first {NAMED} documents by", "wrong: mean", "least to most"),
            lines,
        )
        show(
            pooled_table,
            ("trained on", "NDCG@10 of the truth on other queries", "standard error"),
            [
                (labels, f"{np.mean(v):.4f}", f"{np.std(v) / np.sqrt(len(v)):.4f}")
                for labels, v in quality.items()
            ],
        )


def rated(data: RankingData, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """The grades of each rater for each document, and which of them are wrong."""
    grades = np.unique(data.y)
    step = (grades[-1] - grades[0]) / (len(grades) - 1)
    noisy = data.y[:, None] + step * np.array(NOISE) * rng.normal(size=(data.n_rows, len(NOISE)))
    place = np.clip(np.round((noisy - grades[0]) / step), 0, len(grades) - 1).astype(int)
    wrong = rng.random(place.shape) < WRONG
    place = np.where(wrong, (place + rng.integers(1, len(grades), place.shape)) % len(grades), place)
    return grades[place], wrong


def as_ratings(data: RankingData, given: NDArray) -> Ratings:
    row, rater = (index.ravel() for index in np.indices(given.shape))
    return Ratings.from_arrays(data.qid[row].tolist(), data.docs[row].tolist(), given.ravel(), rater.tolist())


def named(data: RankingData, given: NDArray, ratings: Ratings) -> dict[str, NDArray]:
    """The documents that each method would have judged again first."""
    mean, nearest = given.mean(axis=1), np.unique(data.y)
    rounded = nearest[np.abs(mean[:, None] - nearest).argmin(axis=1)]
    plain = audit(replace(data, y=rounded), n_suspects=NAMED)
    judged = audit(data, ratings=ratings, n_suspects=len(given) // 2)
    first = list(dict.fromkeys(int(one.doc) for one in judged.judgments))[:NAMED]
    return {
        "`audit` with ratings: disagreement and features": np.array(first),
        "spread of the raters": np.argsort(-given.std(axis=1), kind="stable")[:NAMED],
        "`audit` of mean grades": np.array([row.row for row in plain.rows]),
        "random": np.random.default_rng(0).choice(len(given), NAMED, replace=False),
    }


def pooled_quality(data: RankingData, given: NDArray, ratings: Ratings, seed: int) -> dict[str, float]:
    """NDCG@10 of the true labels on queries that were not trained on."""
    label, weight = study_raters(ratings).model.pooled(ratings)
    order = np.random.default_rng(seed).permutation(data.n_queries)
    labels = data.queries.labels
    half = [labels[part].tolist() for part in np.array_split(order, 2)]
    test = data.select(queries=half[1])
    inputs = {
        "the truth": (data.y, None),
        "pooled labels with weights": (label, weight),
        "mean grades": (given.mean(axis=1), None),
        "one rater, the least noisy": (given[:, 0], None),
        "one rater, the noisiest": (given[:, -1], None),
    }
    found = {}
    for name, (y, weights) in inputs.items():
        training = replace(data, y=y, sample_weight=weights).select(queries=half[0])
        model = RankRLSCV().fit(training)
        found[name] = evaluate(test.y, model.predict(test.X), test.qid, ["ndcg@10"]).means["ndcg@10"]
    return found


def standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def in_per_cent(hits: list[float]) -> tuple[str, str]:
    return f"{100 * np.mean(hits):.0f} %", f"{100 * min(hits):.0f} to {100 * max(hits):.0f}"
