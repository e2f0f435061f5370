"""The objective of RankSVM along a line, searched without products with X."""

import numpy as np
import pytest

from rankwise.preferences.pairs import Pairs
from rankwise.svm.line_search import Tangent, _better, minimize_along, minimize_ridge_along
from rankwise.svm.pair_hinge import PairHinge

ALPHA, ACCURACY = 0.05, 1e-4


def line(seed):
    """A hinge on all pairs of a ranking, a point, a direction, and the scores of both."""
    rng = np.random.default_rng(seed)
    X, m = rng.normal(size=(12, 3)), 12
    better, worse = np.triu_indices(m, 1)
    loss = PairHinge(m, Pairs(better, worse, np.ones(len(better))))
    w, direction = rng.normal(size=3), rng.normal(size=3)
    return loss, w, direction, X @ w, X @ direction


def on_line(risk_at, scores, moves):
    """The risk along a line of scores."""

    def at(t):
        value = risk_at(scores + t * moves)
        return Tangent(t, value.risk, float(value.gradient @ moves), value)

    return at


@pytest.mark.parametrize("squared", [False, True], ids=["hinge", "squared hinge"])
@pytest.mark.parametrize("seed", range(6))
def test_the_point_found_is_within_the_accuracy_of_the_best_on_the_line(squared, seed):
    loss, w, direction, scores, moves = line(seed)
    risk_at = loss.squared_value if squared else loss.value

    def objective(t):
        point = w + t * direction
        return risk_at(scores + t * moves).risk + ALPHA * point @ point

    best = minimize_ridge_along(on_line(risk_at, scores, moves), ALPHA, w, direction, accuracy=ACCURACY)
    assert best.value == pytest.approx(objective(best.t), rel=1e-12)
    assert best.payload.risk == pytest.approx(risk_at(scores + best.t * moves).risk, rel=1e-12)
    assert best.value <= min(objective(t) for t in np.linspace(0.0, 20.0, 4001)) + ACCURACY


@pytest.mark.parametrize("squared", [False, True], ids=["hinge", "squared hinge"])
def test_a_direction_that_leads_upwards_is_not_taken(squared):
    loss, w, direction, scores, moves = line(0)
    risk_at = loss.squared_value if squared else loss.value
    slope = risk_at(scores).gradient @ moves + 2.0 * ALPHA * w @ direction
    up = np.sign(slope)
    best = minimize_ridge_along(
        on_line(risk_at, scores, up * moves), ALPHA, w, up * direction, accuracy=ACCURACY
    )
    assert best.t == 0.0


@pytest.mark.parametrize("lowest", [0.3, np.inf], ids=["bracketed", "never bracketed"])
def test_the_number_of_values_is_limited(lowest):
    tried = []

    def at(t):
        tried.append(t)
        return Tangent(t, 0.0, -1.0 if t < lowest else 1.0, None)

    minimize_along(at, accuracy=-1.0, max_values=9)
    assert len(tried) == 10  # and the start


def test_where_values_differ_by_rounding_only_the_slopes_lead_near_the_minimum():
    def at(t):
        # The true value is 1e-20 (t - 0.3)², of which doubles near 1 see nothing but noise.
        return Tangent(t, 1.0 + 1e-15 * t, 2e-20 * (t - 0.3), None)

    assert minimize_along(at, accuracy=1e-30).t == pytest.approx(0.3, rel=0.1)


@pytest.mark.parametrize("low", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("high", [3.1, 4.0, 9.0])
def test_the_tangents_at_the_ends_of_a_bracket_bound_the_minimum(low, high):
    def at(t):
        return Tangent(t, (t - 3.0) ** 2, 2.0 * (t - 3.0), None)

    best, excess = _better(at(low), at(high))
    assert best.value == min(at(low).value, at(high).value)
    # Tangents of a parabola meet half-way.
    meet = at(low).value + at(low).slope * (high - low) / 2.0
    assert excess == pytest.approx(best.value - meet, rel=1e-12)
