"""Probabilities of preferences: calibration errors on OHSUMED and on simulated data, and what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.peers.comparing import is_installed
from benchmarks.peers.shapes import Rows
from benchmarks.peers.trees import fit_lightgbm, rows_of
from benchmarks.tables import show
from benchmarks.timing import header, real_data, sized
from rankwise import KernelRankRLSCV, RankRLSCV, RankSVMCV, load_letor
from rankwise.metrics import get_measure
from rankwise.preferences.samples import PairSample, sample_judged_pairs
from rankwise.scoring.calibration import Calibration
from rankwise.selection.calibrating import calibrate, recalibrated

# Fits to training rows, with validation rows at hand: a scoring function and its calibration.
Fit = Callable[[Rows, Rows], tuple[Callable[[Any], NDArray], Calibration]]


def run() -> None:
    simulated()
    folder = real_data()
    if folder is not None:
        ohsumed(folder / "ohsumed_letor2")


def all_pairs(y: NDArray, qid: NDArray) -> PairSample:
    return sample_judged_pairs(y, qid, per_query=1_000_000, in_total=10**12)


def simulated() -> None:
    """Labels drawn so that the probability of each pair is known: a logistic function of the features."""
    header("Probabilities of preferences, simulated data with known probabilities")
    rng = np.random.default_rng(0)
    n_queries, size = sized(2_000), 20
    X, qid = rng.normal(size=(n_queries * size, 10)), np.repeat(np.arange(n_queries), size)
    true = X @ rng.normal(size=10) * 0.5
    y = (rng.random(len(qid)) < expit(true + rng.normal(size=n_queries)[qid])).astype(float)
    model = RankRLSCV().fit(X, y, qid)
    print(model.calibration_)
    within = np.abs(model.calibration_.observed - model.calibration_.predicted)
    print(f"largest distance in standard errors: {(within / model.calibration_.observed_error).max():.1f}")
    pairs = rng.permutation(len(qid)).reshape(-1, 2)
    off = model.predict_preference_proba(X, pairs) - expit(true[pairs[:, 0]] - true[pairs[:, 1]])
    print(f"mean distance from the known probability: {np.abs(off).mean():.4f}")
    start = time.process_time()
    calibrate(model.left_out_scores_, sample_judged_pairs(y, qid), "")
    print(f"calibrating took {time.process_time() - start:.2f} s of processor time")


def by_search(ranker: Any) -> Fit:
    """A ranker that calibrates itself on its training rows."""

    def fit(train: Rows, validation: Rows) -> tuple[Callable[[Any], NDArray], Calibration]:
        model = ranker.fit(train.X, train.y, train.qid)
        return model.predict, model.calibration_

    return fit


def sigmoid_of_lightgbm(train: Rows, validation: Rows) -> tuple[Callable[[Any], NDArray], Calibration]:
    """The number of trees, and the slope of the sigmoid, on the validation rows."""
    scores, ndcg = fit_lightgbm(train, 100), get_measure("ndcg@10")
    best = max(range(5, 101, 5), key=lambda k: ndcg(validation.y, scores(validation.X, k), validation.qid))
    sample = sample_judged_pairs(validation.y, validation.qid)
    return lambda X: scores(X, best), calibrate(scores(validation.X, best), sample, "validation")


def ohsumed(folder: Path) -> None:
    """The error on all test pairs with different labels: the mean over folds, and of all folds together."""
    header("Probabilities of preferences, OHSUMED, all test pairs with different labels")
    methods: dict[str, Fit] = {
        "RankRLSCV, leave-query-out": by_search(RankRLSCV()),
        "KernelRankRLSCV, leave-query-out": by_search(KernelRankRLSCV(gamma=0.1, basis=300, random_state=0)),
        "RankSVMCV, 5 folds": by_search(RankSVMCV()),
    }
    if is_installed("lightgbm", "lightgbm"):
        methods["LightGBM, sigmoid on the validation fold"] = sigmoid_of_lightgbm
    parts = ("training", "validation", "test")
    folds = [
        tuple(rows_of(load_letor(path / f"{part}set.txt.xz").scale_per_query()) for part in parts)
        for path in sorted(folder.glob("Fold*"))
    ]
    columns = ("", "own estimate", "folds", "mean", "all folds together", "pairs in the right order")
    show("calibration", columns, [(name, *measured(fit, folds)) for name, fit in methods.items()])


def measured(fit: Fit, folds: list[tuple[Rows, ...]]) -> tuple[str, ...]:
    """Calibration errors: own, of the test folds, their mean, all together; the share of pairs right."""
    own, errors, logits, labels, queries = [], [], [], [], []
    for number, (train, validation, test) in enumerate(folds):
        score, calibration = fit(train, validation)
        scores = score(test.X)
        found = recalibrated(calibration, scores, all_pairs(test.y, test.qid), "test")
        own.append(calibration.expected_calibration_error)
        errors.append(found.expected_calibration_error)
        logits.append(calibration.slope * scores)
        labels.append(test.y)
        queries.append(1000 * number + test.qid)
    sample = all_pairs(np.concatenate(labels), np.concatenate(queries))
    together = recalibrated(replace(calibration, slope=1.0), np.concatenate(logits), sample, "test")
    right = np.average(together.observed, weights=together.n_pairs_in_bin)
    error = together.expected_calibration_error
    span = f"{min(errors):.3f} to {max(errors):.3f}"
    return f"{np.mean(own):.3f}", span, f"{np.mean(errors):.3f}", f"{error:.3f}", f"{100 * right:.1f} %"
