"""Fit and check a `Calibration` on pairs that the models were not trained on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from rankwise.errors import DataError
from rankwise.held_out import HeldOut
from rankwise.preferences.queries import group_rows
from rankwise.preferences.samples import PairSample, sample_judged_pairs
from rankwise.scoring.calibration import Calibration
from rankwise.scoring.functions import FeatureFunction
from rankwise.threads import one_blas_thread
from rankwise.types import Floats, Ints
from rankwise.validation import check_labels

# Bins of the curve, and parts of the queries whose probabilities come from the slope of the other parts.
N_BINS, PAIRS_PER_BIN, N_PARTS = 10, 10, 5


@one_blas_thread()
def calibrate(scores: Floats, sample: PairSample, source: str) -> Calibration | None:
    """The calibration of models that gave these scores to rows they were not trained on.

    Queries are dealt at random into five parts, and the probabilities of the curve come from the slope of the
    other parts. If there is only one query, they come from its own slope. O(p log p) for p pairs.

    Returns None if there is nothing to fit: no pairs, or equal scores only.
    """
    difference, weight, group = _counted(scores, sample)
    slope = _slope(difference, weight)
    if slope is None:
        return None
    part = np.random.default_rng(0).permutation(group.max() + 1)[group] % N_PARTS
    probability = np.empty(len(difference))
    for number in np.unique(part):
        own = part == number
        others = _slope(difference[~own], weight[~own])
        probability[own] = expit((slope if others is None else others) * difference[own])
    error = _slope_error(slope, difference, weight, group)
    return _measured(slope, error, probability, weight, group, source)


def calibrate_on(held_out: HeldOut, function: FeatureFunction) -> Calibration | None:
    """The calibration on rows that were held out; None if there are too few."""
    return calibrate(function.scores(held_out.X), held_out.sample(), held_out.name)


@one_blas_thread()
def recalibrated(calibration: Calibration, scores: Floats, sample: PairSample, source: str) -> Calibration:
    """The same slope, with its curve on other pairs, such as those of test data."""
    difference, weight, group = _counted(scores, sample)
    probability = calibration.probability(difference)
    return _measured(calibration.slope, calibration.slope_error, probability, weight, group, source)


def measured_on(calibration: Calibration, scores: Floats, y: Any, qid: Any) -> Calibration:
    """The same slope, with its curve on all pairs of judged rows that have these scores."""
    query = group_rows(qid, len(scores)).query_of_row()
    sample = sample_judged_pairs(check_labels(y, len(scores)), query)
    if not len(sample.better):
        raise DataError("Calibration cannot be measured: no query has two rows with different labels.")
    return recalibrated(calibration, scores, sample, "given rows")


def _counted(scores: Floats, sample: PairSample) -> tuple[Floats, Floats, Ints]:
    """Differences, weights with a mean of 1, and groups from 0, of the pairs that have a weight."""
    weight = np.ones(len(sample.better)) if sample.weight is None else sample.weight
    counted = weight > 0.0
    group = np.unique(sample.group[counted], return_inverse=True)[1]
    weight = weight[counted] * (counted.sum() / weight.sum()) if counted.any() else weight[:0]
    return sample.differences(scores)[counted], weight, group


def _slope(difference: Floats, weight: Floats) -> float | None:
    """Minimize the log loss ``Σ −t log p − (1 − t) log(1 − p)`` with ``t = (n + 1) / (n + 2)`` for n pairs.

    This is Platt's target for outcomes that are all positive, as they are if the preferred row comes first.
    With t = 1, pairs that the scores order without error would have an infinite slope.
    """
    largest = np.abs(difference).max(initial=0.0)
    if largest == 0.0:
        return None
    scaled, target = difference / largest, (len(difference) + 1.0) / (len(difference) + 2.0)
    weighted = weight * scaled

    def derivative(slope: float) -> float:
        return float(weighted @ (expit(slope * scaled) - target))

    low, high = -1.0, 1.0
    while derivative(high) < 0.0:
        low, high = high, 2.0 * high
    while derivative(low) > 0.0:
        low, high = 2.0 * low, low
    slope = float(brentq(derivative, low, high)) / float(largest)
    return slope if math.isfinite(slope) else None


def _slope_error(slope: float, difference: Floats, weight: Floats, group: Ints) -> float:
    """The larger of the standard errors for independent queries and for independent pairs."""
    p = expit(slope * difference)
    curvature = (weight * difference**2) @ (p * (1.0 - p))
    by_group = np.bincount(group, weight * difference * (1.0 - p))
    return float(np.maximum(np.sqrt(by_group @ by_group / curvature), 1.0) / np.sqrt(curvature))


def _measured(
    slope: float, slope_error: float, probability: Floats, weight: Floats, group: Ints, source: str
) -> Calibration:
    """The curve: predicted and observed probabilities in bins of equally many pairs.

    `probability` is that of the order of the labels. Either of two rows may be the first, so the curve shows
    the probabilities of the order of the scores, which are at least 0.5.
    """
    confidence = np.maximum(probability, 1.0 - probability)
    correct = np.heaviside(probability - 0.5, 0.5)
    n_bins = max(1, min(N_BINS, len(confidence) // PAIRS_PER_BIN))
    bins = np.array_split(np.argsort(confidence, kind="stable"), n_bins)
    rows = np.array([_bin(confidence[b], correct[b], weight[b], group[b]) for b in bins])
    predicted, observed, error, total = rows.T
    return Calibration(
        slope=slope,
        slope_error=slope_error,
        expected_calibration_error=float(np.average(np.abs(predicted - observed), weights=total)),
        predicted=predicted,
        observed=observed,
        observed_error=error,
        n_pairs_in_bin=np.array([len(b) for b in bins]),
        source=source,
    )


def _bin(confidence: Floats, correct: Floats, weight: Floats, group: Ints) -> tuple[float, ...]:
    """Mean confidence, mean of correct, the standard error of their difference, and the sum of weights.

    The error is the larger of those for independent queries and for independent pairs.
    """
    total = weight.sum()
    predicted, observed = weight @ confidence / total, weight @ correct / total
    by_group = np.bincount(group, weight * (correct - confidence - (observed - predicted)))
    between = by_group @ by_group
    within = weight**2 @ (confidence * (1.0 - confidence))
    return predicted, observed, math.sqrt(max(between, within)) / total, total
