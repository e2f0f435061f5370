"""How sure a model is: samples of pairs, the slope, and its curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from rankwise.preferences.pairs import Pairs
from rankwise.preferences.samples import PairSample, sample_judged_pairs, sample_of_pairs
from rankwise.selection import calibrating
from rankwise.selection.calibrating import calibrate


def every_pair(y, query):
    n = range(len(y))
    return {(i, j) for i in n for j in n if query[i] == query[j] and y[i] > y[j]}


def best_slope(difference, weight=None):
    """The minimum of the log loss, with Platt's target, found without derivatives."""
    weight = np.ones(len(difference)) if weight is None else weight / weight.mean()
    target = (len(difference) + 1) / (len(difference) + 2)

    def loss(slope):
        x = slope * difference
        return weight @ (target * np.logaddexp(0, -x) + (1 - target) * np.logaddexp(0, x))

    return minimize_scalar(loss, bracket=(-1, 1), options={"xtol": 1e-10}).x


def judged(n_queries, rng, size=30, slope=1.0):
    """Scores of queries, and labels for which differences have exactly this slope.

    If the odds of a high label are exp(slope · score + c), those of two rows with different labels are
    exp(slope · difference).
    """
    query = np.repeat(np.arange(n_queries), size)
    scores = rng.normal(size=len(query))
    offset = rng.normal(size=n_queries)[query]
    y = (rng.random(len(query)) < 1 / (1 + np.exp(-slope * scores - offset))).astype(float)
    return scores, y, query


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_a_sample_of_few_pairs_is_all_of_them(rows):
    y, query = np.array(rows, dtype=float)[:, 0], np.array(rows)[:, 1]
    sample = sample_judged_pairs(y, query)
    drawn = list(zip(sample.better.tolist(), sample.worse.tolist(), strict=True))
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == every_pair(y, query)
    assert (sample.group == query[sample.better]).all()


def test_every_query_contributes_the_same_number_of_pairs_at_most():
    rng = np.random.default_rng(0)
    query = np.repeat([0, 1, 2], [5, 1000, 100])[rng.permutation(1105)]
    y = rng.integers(0, 3, len(query)).astype(float)
    sample = sample_judged_pairs(y, query, per_query=50)
    assert (query[sample.better] == query[sample.worse]).all()
    assert (y[sample.better] > y[sample.worse]).all()
    small, *large = np.bincount(sample.group)
    assert small == len(every_pair(y[query == 0], query[query == 0]))
    assert all(45 < n <= 50 for n in large)


def test_many_queries_share_the_total():
    y, query = np.tile([0.0, 1.0, 2.0], 40), np.repeat(np.arange(40), 3)
    assert len(sample_judged_pairs(y, query, in_total=80).better) <= 80
    one_each = sample_judged_pairs(y, query, in_total=7)
    assert np.bincount(one_each.group).tolist() == [1] * 40


def test_all_pairs_are_equally_likely_to_be_drawn():
    y, query = np.array([0.0, 1.0, 1.0, 2.0, 5.0, 5.0]), np.zeros(6, dtype=int)
    pairs = sorted(every_pair(y, query))
    counts = dict.fromkeys(pairs, 0)
    for seed in range(3000):
        sample = sample_judged_pairs(y, query, per_query=1, seed=seed)
        counts[sample.better[0], sample.worse[0]] += 1
    expected = 3000 / len(pairs)
    assert max(abs(n - expected) for n in counts.values()) < 5 * np.sqrt(expected)


def test_pairs_that_share_rows_are_grouped():
    pairs = Pairs(np.array([0, 1, 3]), np.array([1, 2, 4]), np.ones(3))
    assert sample_of_pairs(pairs, 5).group.tolist() == [0, 0, 1]
    connected = Pairs(np.array([0, 1]), np.array([1, 2]), np.ones(2))
    assert sample_of_pairs(connected, 3).group.tolist() == [0, 1]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_slope_minimizes_the_log_loss(weighted):
    rng = np.random.default_rng(1)
    scores, y, query = judged(20, rng)
    sample = sample_judged_pairs(y, query)
    weight = rng.random(len(sample.better)) if weighted else None
    sample = PairSample(sample.better, sample.worse, sample.group, weight)
    expected = best_slope(sample.differences(scores), weight)
    assert calibrate(scores, sample, "").slope == pytest.approx(expected, rel=1e-6)


def test_pairs_of_weight_0_do_not_count():
    rng = np.random.default_rng(2)
    scores, y, query = judged(10, rng)
    sample = sample_judged_pairs(y, query)
    weight = (rng.random(len(sample.better)) < 0.5).astype(float)
    kept = weight > 0
    some = PairSample(sample.better[kept], sample.worse[kept], sample.group[kept])
    weighted = calibrate(scores, PairSample(sample.better, sample.worse, sample.group, weight), "")
    assert weighted.to_dict() == calibrate(scores, some, "").to_dict()


@given(st.floats(1e-6, 1e6), st.floats(-1e3, 1e3))
def test_probabilities_do_not_depend_on_the_scale_or_origin_of_scores(scale, origin):
    scores, y, query = judged(5, np.random.default_rng(3), size=8)
    sample = sample_judged_pairs(y, query)
    one, other = calibrate(scores, sample, ""), calibrate(scale * (scores + origin), sample, "")
    assert other.slope * scale == pytest.approx(one.slope, rel=1e-6)
    assert other.slope_error * scale == pytest.approx(one.slope_error, rel=1e-6)
    assert np.allclose(other.predicted, one.predicted, atol=1e-6)


def test_scores_that_are_the_wrong_way_round_have_a_negative_slope():
    scores, y, query = judged(20, np.random.default_rng(4))
    sample = sample_judged_pairs(y, query)
    one, reversed_ = calibrate(scores, sample, ""), calibrate(-scores, sample, "")
    assert reversed_.slope == pytest.approx(-one.slope)
    assert one.slope > 0
    assert np.allclose(reversed_.observed, one.observed)


def test_pairs_ordered_without_error_have_a_finite_slope():
    y, query = np.tile([0.0, 1.0], 10), np.repeat(np.arange(10), 2)
    found = calibrate(y, sample_judged_pairs(y, query), "")
    assert found.slope == pytest.approx(np.log(11), rel=1e-6)  # odds of (n + 1) to 1 for n pairs
    assert np.isfinite(found.slope_error)
    assert found.expected_calibration_error == pytest.approx(1 / 10, abs=0.01)


@pytest.mark.parametrize("y", [np.zeros(6), np.arange(6.0)])
def test_there_is_no_calibration_without_pairs_or_differences(y):
    assert calibrate(np.ones(6), sample_judged_pairs(y, np.zeros(6, dtype=int)), "") is None
    assert calibrate(np.ones(6), PairSample.none(), "") is None


def test_the_probabilities_of_a_query_come_from_the_slope_of_the_others():
    difference = {0: np.array([2.0, 1.0, -0.5, 3.0]), 1: np.array([0.5, -1.0, 0.2, 0.3, 0.1])}
    scores = np.concatenate([*difference.values(), [0.0]])
    group = np.repeat([0, 1], [4, 5])
    found = calibrate(scores, PairSample(np.arange(9), np.full(9, 9), group), "")
    expected, agrees = [], []
    for own, other in ((0, 1), (1, 0)):
        p = 1 / (1 + np.exp(-best_slope(difference[other]) * difference[own]))
        expected += np.maximum(p, 1 - p).tolist()
        agrees += (p > 0.5).tolist()
    assert found.predicted == pytest.approx([np.mean(expected)], rel=1e-6)
    assert found.observed == pytest.approx([np.mean(agrees)])
    assert found.expected_calibration_error == pytest.approx(abs(np.mean(expected) - np.mean(agrees)))


@pytest.mark.parametrize(("n_queries", "n_slopes"), [(1, 1), (2, 3), (20, 6)])
def test_slopes_are_found_for_parts_that_hold_queries_only(monkeypatch, n_queries, n_slopes):
    found = []
    monkeypatch.setattr(calibrating, "brentq", lambda *bounds: found.append(bounds) or 1.0)
    scores, y, query = judged(n_queries, np.random.default_rng(0))
    assert calibrate(scores, sample_judged_pairs(y, query), "") is not None
    assert len(found) == n_slopes


def test_the_curve_of_known_probabilities_is_the_diagonal_within_its_error_bars():
    scores, y, query = judged(400, np.random.default_rng(5), slope=2.0)
    found = calibrate(scores, sample_judged_pairs(y, query), "")
    assert abs(found.slope - 2.0) < 3 * found.slope_error
    z = (found.observed - found.predicted) / found.observed_error
    assert (np.abs(z) < 3.5).all()
    assert np.mean(z**2) < 2.5
    assert found.expected_calibration_error < 0.015
    assert found.n_pairs == found.n_pairs_in_bin.sum()
    assert len(found.predicted) == 10
    assert (np.diff(found.predicted) > 0).all()


def test_standard_errors_cover_the_truth_though_pairs_share_rows():
    rng = np.random.default_rng(6)
    z, bars = [], []
    for _ in range(150):
        scores, y, query = judged(40, rng, size=12)
        found = calibrate(scores, sample_judged_pairs(y, query), "")
        z.append((found.slope - 1.0) / found.slope_error)
        bars.append((found.observed - found.predicted) / found.observed_error)
    assert 0.8 < np.std(z) < 1.25
    assert 0.8 < np.std(bars) < 1.25
