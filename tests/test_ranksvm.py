"""RankSVM minimizes the hinge loss over explicit pairs, and its gap proves it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from all_pairs import hinge_pairs
from hinge_ranking import LOSSES, objective, ranking, solvers_and_risk
from rankwise import DataError, ParameterError, RankSVM
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.svm import bundle, subspace
from rankwise.svm.bundle import Bundle, minimize_bundle
from rankwise.svm.hinge import QueryHinge
from rankwise.svm.planes import minimize_on_simplex
from rankwise.svm.rows_risk import ExploredRows, RowsRisk
from rankwise.svm.subspace import Subspace
from rankwise.types import Ties

WEIGHTINGS = ["query", "pair", "example"]


def hinge_risk(X, y):
    """The hinge of one global ranking."""
    loss = QueryHinge(QueryDifferences(group_rows(None, len(y)), y, ties=Ties.DROP))
    return RowsRisk(MatrixDesign(X), loss)


def minimum_over_pairs(X, y, qid, alpha, loss, **options):
    """The minimum: of a smooth primal, or of the hinge's dual over explicit pairs, a program with a box."""
    pairs, weights = hinge_pairs(y, qid, **options)
    if loss != "hinge":
        tight = {"gtol": 1e-11}
        start = np.zeros(X.shape[1])
        return optimize.minimize(
            lambda w: objective(w, X, y, qid, alpha, loss, **options), start, options=tight
        ).fun
    D = weights[:, None] * (X[pairs[:, 0]] - X[pairs[:, 1]])

    def scaled_dual(a):
        w = D.T @ a / (2 * alpha)
        return len(a) * (alpha * w @ w - weights @ a), len(a) * (D @ w - weights)

    tight = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-10}
    box = [(0.0, 1.0)] * len(pairs)
    solved = optimize.minimize(scaled_dual, np.zeros(len(pairs)), jac=True, bounds=box, options=tight)
    return -solved.fun / len(pairs)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("alpha", [1.0, 1e-2, 1e-3])
def test_objective_and_gap_enclose_the_minimum_over_explicit_pairs(loss, weighting, alpha):
    X, y, qid = ranking(m=24)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    lower = minimum_over_pairs(X, y, qid, alpha, loss, weighting=weighting, weight=weight)
    for tol in (1e-1, 1e-3, 1e-6):
        model = RankSVM(alpha, loss=loss, tol=tol, weighting=weighting).fit(X, y, qid, sample_weight=weight)
        at_coef = objective(model.coef_, X, y, qid, alpha, loss, weighting=weighting, weight=weight)
        assert model.objective_ == pytest.approx(at_coef, rel=1e-9)
        assert at_coef >= lower - 1e-9
        assert at_coef - lower <= model.gap_ + 1e-9
        assert model.gap_ <= tol


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-5])
def test_reported_gap_is_never_below_the_true_one(loss, alpha):
    X, y, _ = ranking(m=400, n=20, seed=3)
    solvers, risk = solvers_and_risk(X, y, loss)
    best = solvers.solve(risk, alpha, tol=1e-8).objective
    seen = []
    solvers.solve(risk, alpha, tol=1e-5, on_iteration=seen.append)
    assert len(seen) > 1
    for step in seen:
        assert step.objective - step.gap <= best + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
def test_storage_row_order_and_label_shifts_do_not_matter(loss):
    X, y, qid = ranking()
    first = RankSVM(1e-2, loss=loss, tol=1e-7).fit(X, y, qid)
    order = np.random.default_rng(0).permutation(len(y))
    shifted = y + 10.0 * qid
    for other in (
        RankSVM(1e-2, loss=loss, tol=1e-7).fit(sparse.csr_matrix(X), y, qid),
        RankSVM(1e-2, loss=loss, tol=1e-7).fit(X[order], shifted[order], qid[order].astype(str)),
    ):
        np.testing.assert_allclose(other.coef_, first.coef_, atol=5e-3)
        assert other.objective_ == pytest.approx(first.objective_, abs=2e-7)


@given(st.integers(0, 10**6), st.sampled_from(LOSSES), st.sampled_from(WEIGHTINGS))
@settings(max_examples=12, deadline=None)
def test_weight_two_is_the_row_twice_and_singletons_change_nothing(seed, loss, weighting):
    rng = np.random.default_rng(seed)
    X, y, qid = ranking(m=20, n=3, seed=seed)
    weight = rng.integers(1, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    options = {"loss": loss, "weighting": weighting, "tol": 1e-5}
    weighted = RankSVM(1e-2, **options).fit(X, y, qid, sample_weight=weight)
    repeated = RankSVM(1e-2, **options).fit(X[rows], y[rows], qid[rows])
    alone = RankSVM(1e-2, **options).fit(
        np.vstack([X[rows], X[:1]]), np.append(y[rows], 9.0), np.append(qid[rows], 77)
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=2e-5)
    assert alone.objective_ == pytest.approx(repeated.objective_, abs=2e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_pairs_and_scores_agree_when_they_say_the_same(loss):
    X, y, _ = ranking()
    pairs = np.argwhere(y[:, None] > y[None, :])
    listed = RankSVM(1e-3, loss=loss, tol=1e-7).fit_preferences(X, pairs)
    scored = RankSVM(1e-3, loss=loss, tol=1e-7).fit(X, y)
    assert listed.objective_ == pytest.approx(scored.objective_, abs=2e-7)
    np.testing.assert_allclose(listed.coef_, scored.coef_, atol=0.02)


def test_a_magnitude_is_the_margin_and_a_weight_counts_pairs():
    X, pairs = np.eye(3), [[0, 1], [1, 2]]
    wide = RankSVM(1e-6, tol=1e-9).fit_preferences(X, pairs, magnitude=[3.0, 1.0])
    scores = wide.predict(X)
    assert scores[0] - scores[1] == pytest.approx(3.0, abs=1e-3)
    assert scores[1] - scores[2] == pytest.approx(1.0, abs=1e-3)
    twice = RankSVM(0.1, tol=1e-9).fit_preferences(X, pairs, weight=[2.0, 1.0])
    again = RankSVM(0.1, tol=1e-9).fit_preferences(X, [*pairs, pairs[0]])
    np.testing.assert_allclose(twice.coef_, again.coef_, atol=1e-4)


def test_what_is_known_from_one_alpha_serves_the_next():
    X, y, _ = ranking(m=500, n=30, seed=4)
    risk = hinge_risk(X, y)
    alone = minimize_bundle(risk, 1e-5, tol=1e-4)
    known, start = Bundle(risk), None
    for alpha in (1e-3, 1e-4, 1e-5):
        result = minimize_bundle(risk, alpha, tol=1e-4, known=known, start=start)
        start = result.coef
    assert result.n_products < alone.n_products
    assert result.objective == pytest.approx(alone.objective, abs=1e-4)


def test_directions_that_are_given_up_do_not_spoil_the_certificate(monkeypatch):
    X, y, _ = ranking(m=300, n=30, seed=5)
    risk = hinge_risk(X, y)
    lower = minimize_bundle(risk, 1e-4, tol=1e-7)
    monkeypatch.setattr(subspace, "_DIRECTIONS", 6)
    monkeypatch.setattr(subspace, "_BYTES", 0)
    known, seen = Bundle(risk), []
    result = minimize_bundle(risk, 1e-4, tol=1e-4, known=known, on_iteration=seen.append)
    assert result.converged
    assert len(known.subspace) <= 6 < len(seen)
    assert all(step.objective - step.gap <= lower.objective + 1e-12 for step in seen)
    assert result.objective == pytest.approx(objective(result.coef, X, y, 0 * y, 1e-4, "hinge"), rel=1e-9)


def test_planes_taken_together_prove_what_the_subspace_proves_but_for_the_slope_outside():
    X, y, _ = ranking(m=60, n=12, seed=6)
    rng, alpha = np.random.default_rng(0), 1e-2
    risk = hinge_risk(X, y)
    known = Subspace(risk.explored(), risk.shape)
    for _ in range(4):
        unit = known.outside(rng.normal(size=12))
        known.add_direction(unit, risk.scores(unit))
        value = risk.value(known.scores(rng.normal(size=len(known))))
        known.add_plane(value.gradient, value.offset)
    inside = known.planes.bound(alpha)
    gradient, offset = known.together()
    slope = risk.slope(gradient)
    rest = slope - known.weights(known.coordinates(slope))
    assert rest @ rest > 1e-6
    everywhere = offset - slope @ slope / (4 * alpha)
    assert everywhere == pytest.approx(inside - rest @ rest / (4 * alpha), abs=1e-10)
    for scores in rng.normal(size=(50, len(y))):
        assert offset + gradient @ scores <= risk.value(scores).risk + 1e-12


def test_a_direction_inside_the_span_is_not_explored_again():
    known = Subspace(ExploredRows(5, np.ones_like), (5, 3))
    for w in np.eye(3)[:2]:
        known.add_direction(known.outside(w), np.ones(5))
    assert known.outside(np.array([3.0, -2.0, 0.0])) is None
    assert known.outside(np.zeros(3)) is None
    np.testing.assert_allclose(known.outside(np.array([3.0, -2.0, 0.5])), [0.0, 0.0, 1.0], atol=1e-12)


def test_curvature_along_features_saves_products(monkeypatch):
    X, y, _ = ranking(m=1000, n=100, seed=7)
    scaled = X * np.logspace(0, -2, 100)
    measured = RankSVM(1e-3).fit(scaled, y).n_products_
    monkeypatch.setattr(bundle, "_OF_CURVATURE", 0.0)
    assert measured <= 0.7 * RankSVM(1e-3).fit(scaled, y).n_products_


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("alpha", [1e-5, 1e-7])
def test_units_of_features_hardly_change_the_work(loss, alpha):
    X, y, _ = ranking(m=1000, n=100, seed=8)
    model = RankSVM(alpha, loss=loss).fit(X * np.logspace(0, -3, 100), y)
    assert model.gap_ <= 1e-3
    assert model.n_products_ <= 40


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("alpha", [1e-3, 1e-5])
def test_few_rows_of_many_features_get_their_certificate(loss, alpha):
    rng = np.random.default_rng(2)
    X = sparse.random(60, 3000, density=0.05, random_state=2, format="csr") * 10.0
    model = RankSVM(alpha, loss=loss, max_iter=100).fit(X, rng.normal(size=60))
    assert model.gap_ <= 1e-3


def test_planes_are_few_enough_for_a_small_program():
    X, y, _ = ranking(m=1000, n=100, seed=9)
    scaled = X * np.logspace(0, -3, 100)
    risk = hinge_risk(scaled, y)
    known = Bundle(risk)
    assert minimize_bundle(risk, 1e-7, known=known).converged
    assert len(known.subspace.planes) <= 100


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_at_the_solution_stops_sooner(loss):
    X, y, qid = ranking(m=300, n=20)
    model = RankSVM(1e-3, loss=loss, tol=1e-5, warm_start=True).fit(X, y, qid)
    cold, best = model.n_products_, model.objective_
    model.fit(X, y, qid)
    assert model.n_products_ < cold
    assert model.objective_ <= best + 1e-5


@pytest.mark.parametrize("n_copies", [1, 2])
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_the_simplex_program_is_solved_to_its_optimality_conditions(n_copies, scale):
    rng = np.random.default_rng(0)
    for k in (1, 2, 7, 40, 150):
        A = np.tile(rng.normal(size=(k, 30)) * np.linspace(1.0, scale, k)[:, None], (n_copies, 1))
        H, b = A @ A.T, np.tile(rng.normal(size=k), n_copies)
        for start in (np.eye(len(b))[0], rng.dirichlet(np.ones(len(b)))):
            x = minimize_on_simplex(H, b, start)
            gradient = H @ x - b
            assert x.min() >= 0.0
            assert x.sum() == pytest.approx(1.0)
            assert gradient.min() >= gradient @ x - 1e-9


def test_bad_input_is_named():
    X, y, qid = ranking()
    with pytest.raises(DataError, match=r"all rows of each query \(.*\) have the same label"):
        RankSVM().fit(X, np.ones(len(y)), qid)
    with pytest.raises(DataError, match="all rows of the ranking have the same label"):
        RankSVM().fit(X, np.ones(len(y)))
    with pytest.raises(ParameterError, match=r"'alpha'.*above 0"):
        RankSVM(alpha=0.0).fit(X, y)
    with pytest.raises(ParameterError, match=r"'loss'.*'hinge', 'squared_hinge'"):
        RankSVM(loss="log").fit(X, y)
    with pytest.raises(ValueError, match="y must hold finite numbers"):
        RankSVM().fit(X, np.where(np.arange(len(y)) == 3, np.nan, y))
    with pytest.raises(DataError, match="overflow"):
        RankSVM(1e-3).fit(X * 1e200, y)
