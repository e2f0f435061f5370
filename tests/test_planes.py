"""Planes below a risk: the bound they prove, and the rounding that the proof allows for."""

from fractions import Fraction

import numpy as np
import pytest

from rankwise.svm import subspace
from rankwise.svm.planes import Metric, Planes
from rankwise.svm.rows_risk import ExploredRows
from rankwise.svm.subspace import Subspace


def random_planes(scale, seed=0, n=5, k=12):
    rng = np.random.default_rng(seed)
    planes = Planes(n)
    slopes, offsets = scale * rng.normal(size=(k, n)), rng.uniform(0.0, 1.0, k)
    for slope, offset in zip(slopes, offsets, strict=True):
        planes.add(slope, offset)
    return planes, np.vstack([np.zeros(n), slopes]), np.append(0.0, offsets)


def exact_bound(share, slopes, offsets, alpha):
    """The two terms of the dual objective, without rounding."""
    exact = [[Fraction(float(x)) for x in slope] for slope in slopes]
    shares = [Fraction(float(s)) for s in share]
    slope = [sum(s * row[j] for s, row in zip(shares, exact, strict=True)) for j in range(len(exact[0]))]
    linear = sum(s * Fraction(float(b)) for s, b in zip(shares, offsets, strict=True))
    return linear, sum(x * x for x in slope) / (4 * Fraction(alpha))


@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_the_allowance_for_rounding_covers_both_terms_of_the_bound_and_little_more(scale, alpha):
    for seed in range(5):
        planes, slopes, offsets = random_planes(scale, seed)
        bound = planes.bound(alpha)
        linear, quadratic = exact_bound(planes.share, slopes, offsets, alpha)
        assert abs(float(Fraction(bound) - (linear - quadratic))) <= planes.resolution
        size = np.finfo(float).eps * (1.0 + float(quadratic))
        assert 8.0 * size <= planes.resolution <= 32.0 * size


def test_the_allowance_grows_with_the_term_that_is_rounded():
    # One plane of a known slope takes part with a share that leaves the quadratic term dominant.
    planes = Planes(1)
    planes.add(np.array([1e4]), 1e8)
    planes.bound(1.0)
    assert planes.share[1] > 0.99
    assert planes.resolution > 8.0 * np.finfo(float).eps * 1e8 / 4.0


def test_a_proposal_is_the_point_nearest_to_the_centre_at_its_level():
    rng = np.random.default_rng(0)
    for seed in range(10):
        planes, slopes, offsets = random_planes(3.0, seed)
        alpha, center = 0.05, rng.normal(size=5)
        metric = Metric(rng.uniform(0.1, 2.0, 5), np.linalg.qr(rng.normal(size=(5, 5)))[0])

        def value(w, slopes=slopes, offsets=offsets, alpha=alpha):
            return (offsets + slopes @ w).max() + alpha * w @ w

        def distance(w, center=center, metric=metric):
            return metric.curvature @ (metric.axes.T @ (w - center)) ** 2

        bound, start = planes.bound(alpha), value(center)
        level, slack = bound + 0.3 * (start - bound), 0.1 * (start - bound)
        found = planes.propose(alpha, center, metric, level, slack)
        assert abs(value(found) - level) <= slack
        for _ in range(200):
            other = found + 10.0 ** rng.uniform(-3, 0) * rng.normal(size=5)
            if value(other) <= value(found):
                assert distance(other) >= distance(found)


def test_the_metric_of_a_subspace_is_the_covariance_of_its_scores():
    rng = np.random.default_rng(0)
    density = rng.uniform(size=30)
    known = Subspace(ExploredRows(30, lambda scores: scores * density), (30, 8))
    scores = rng.normal(size=(3, 30)) + 5.0
    for unit, row in zip(np.eye(8), scores, strict=False):
        known.add_direction(unit, row)
    metric = known.metric(np.ones(30))
    covariance = density.sum() * np.cov(scores, aweights=density, bias=True)
    np.testing.assert_allclose((metric.axes * metric.curvature) @ metric.axes.T, covariance, rtol=1e-9)
    np.testing.assert_array_equal(known.metric(np.zeros(30)).curvature, np.ones(3))


@pytest.mark.parametrize("scarce", [False, True])
def test_directions_are_dropped_only_where_memory_is_scarce_and_the_point_stays(scarce, monkeypatch):
    if scarce:
        monkeypatch.setattr(subspace, "_BYTES", 1)
    n = subspace._DIRECTIONS + 5
    known = Subspace(ExploredRows(4, np.ones_like), (4, n))
    for unit in np.eye(n):
        known.add_direction(unit, unit[:4])
    z = np.random.default_rng(0).normal(size=n)
    moved = known.make_room(z)
    assert len(known) == len(moved) == (n - n // 2 + 1 if scarce else n)
    np.testing.assert_allclose(known.weights(moved), z)
    np.testing.assert_allclose(known.scores(moved), z[:4])
