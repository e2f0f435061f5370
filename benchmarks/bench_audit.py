"""Judgments to check again: how many of the first 100 rows that an audit of OHSUMED names were falsified."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit
from sklearn.model_selection import GroupKFold

from benchmarks.peers.comparing import is_installed
from benchmarks.tables import show
from benchmarks.timing import best_times, header, quick, real_data
from rankwise import RankingData, RankRLSCV, audit, load_letor
from rankwise.auditing.suspects import label_probabilities
from rankwise.preferences.samples import sample_judged_pairs
from rankwise.selection.calibrating import calibrate

REPEATS = 2 if quick else 10
FALSIFIED, NAMED = 0.05, 100


def run() -> None:
    header(f"Audit: {FALSIFIED:.0%} of the labels of OHSUMED falsified at random")
    folder = real_data()
    if folder is None:
        return
    folds = sorted((folder / "ohsumed_letor2").glob("Fold*"))
    data = RankingData.concat(load_letor(fold / "testset.txt.xz") for fold in folds).scale_per_query()
    found: dict[str, list[float]] = {}
    for seed in range(REPEATS):
        y, false = falsified(data.y, np.random.default_rng(seed))
        for name, rows in named(replace(data, y=y), np.random.default_rng([seed, 1])).items():
            found.setdefault(name, []).append(float(false[rows].mean()))
    lines = [(name, in_per_cent(np.mean(hits), min(hits), max(hits))) for name, hits in found.items()]
    show("falsified", (f"the first {NAMED} by", "falsified: mean (least to most)"), lines)
    print(f"{REPEATS} draws of {round(FALSIFIED * data.n_rows)} of {data.n_rows:,} rows")
    took = best_times({"audit": lambda: audit(data)}, 3, time.process_time)["audit"]
    print(f"an audit takes {took:.2f} s of processor time")


def in_per_cent(mean: float, least: float, most: float) -> str:
    return f"{100 * mean:.0f} % ({100 * least:.0f} to {100 * most:.0f})"


def falsified(y: NDArray, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Labels some of which are replaced by another grade, any with the same probability; and which."""
    false = np.zeros(len(y), dtype=bool)
    false[rng.choice(len(y), round(FALSIFIED * len(y)), replace=False)] = True
    grades = np.unique(y)
    number = np.searchsorted(grades, y) + false * rng.integers(1, len(grades), len(y))
    return grades[number % len(grades)], false


def named(data: RankingData, rng: np.random.Generator) -> dict[str, list[int]]:
    """The rows that each method would have judged again first."""
    found = audit(data, n_suspects=NAMED)
    methods = {
        "`audit`, rows": [suspect.row for suspect in found.rows],
        "`audit`, the higher row of each pair": [suspect.better_row for suspect in found.pairs],
        "mean log loss of the pairs of a row": np.argsort(-pair_losses(data))[:NAMED].tolist(),
        "how rare the label is in its query, without scores": _least_probable(data, np.zeros(data.n_rows)),
        "random": rng.choice(data.n_rows, NAMED, replace=False).tolist(),
    }
    if is_installed("lightgbm", "lightgbm"):
        left_out = lightgbm_left_out(data)
        query = data.queries.query_of_row()
        slope = calibrate(left_out, sample_judged_pairs(data.y, query), "").slope
        methods["LightGBM, residuals of a regression out of fold"] = np.argsort(-np.abs(data.y - left_out))[
            :NAMED
        ].tolist()
        methods["LightGBM, the same scores with the probabilities of `audit`"] = _least_probable(
            data, slope * left_out
        )
    return methods


def _least_probable(data: RankingData, log_odds: NDArray) -> list[int]:
    return np.argsort(label_probabilities(log_odds, data.y, data.queries)[0], kind="stable")[:NAMED].tolist()


def pair_losses(data: RankingData) -> NDArray:
    """The mean log loss of the pairs of each row, by the probabilities that an audit is based on."""
    model = RankRLSCV().fit(data)
    log_odds, loss = model.calibration_.slope * model.left_out_scores_, np.zeros(data.n_rows)
    query = data.queries.query_of_row()
    for number in range(data.n_queries):
        rows = np.flatnonzero(query == number)
        order = np.sign(data.y[rows, None] - data.y[rows])
        losses = -log_expit(order * (log_odds[rows, None] - log_odds[rows])) * np.abs(order)
        loss[rows] = losses.sum(axis=1) / np.maximum(1.0, np.abs(order).sum(axis=1))
    return loss


def lightgbm_left_out(data: RankingData) -> NDArray:
    """Labels of every fifth of the queries, predicted by regression trees fitted to the others."""
    from lightgbm import LGBMRegressor

    left_out, query = np.empty(data.n_rows), data.queries.query_of_row()
    for train, test in GroupKFold(5).split(data.X, data.y, query):
        model = LGBMRegressor(n_jobs=1, verbose=-1).fit(data.X[train], data.y[train])
        left_out[test] = model.predict(data.X[test])
    return left_out
