"""RankRLS is least squares over explicit pairs, in whichever space it is solved."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from all_pairs import pair_laplacian
from rankwise import DataError, ParameterError, RankRLS, RankwiseError
from rankwise.preferences.pairs import PreferencePairs
from rankwise.ridge.ridge_family import choose_solver
from rankwise.ridge.spaces import linear_costs
from rankwise.types import Solver, Ties

WEIGHTINGS = ["example", "pair", "query"]
TIES = ["keep", "drop"]


def ranking(m=50, n=6, seed=1, targets=None):
    rng = np.random.default_rng(seed)
    shape = m if targets is None else (m, targets)
    return rng.normal(size=(m, n)) + 3.0, rng.integers(0, 3, shape).astype(float), rng.integers(0, 5, m)


def least_squares_over_pairs(X, y, qid, alpha, **options):
    L = pair_laplacian(y, qid, **options)
    return np.linalg.solve(X.T @ L @ X + alpha * np.eye(X.shape[1]), X.T @ L @ y)


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_both_solvers_equal_least_squares_over_explicit_pairs(solver, ties, weighting, storage):
    X, y, qid = ranking()
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    expected = least_squares_over_pairs(X, y, qid, 0.3, ties=ties, weighting=weighting, weight=weight)
    model = RankRLS(alpha=0.3, solver=solver, ties=ties, weighting=weighting)
    model.fit(storage(X), y, qid, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-8)


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("ties", TIES)
def test_several_targets_equal_one_model_each(solver, ties):
    X, Y, qid = ranking(targets=3)
    model = RankRLS(alpha=0.3, solver=solver, ties=ties).fit(X, Y, qid)
    assert model.coef_.shape == (3, 6)
    for k in range(3):
        alone = RankRLS(alpha=0.3, solver=solver, ties=ties).fit(X, Y[:, k], qid)
        np.testing.assert_allclose(model.coef_[k], alone.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_.T)


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("targets", [None, 2])
@pytest.mark.parametrize("ties", TIES)
def test_with_alpha_equals_fitting_with_that_alpha(solver, targets, ties):
    X, y, qid = ranking(targets=targets)
    model = RankRLS(alpha=1.0, solver=solver, ties=ties).fit(X, y, qid)
    for alpha in (0.0, 1e-3, 50.0):
        expected = RankRLS(alpha=alpha, solver=solver, ties=ties).fit(X, y, qid)
        np.testing.assert_allclose(model.with_alpha(alpha).coef_, expected.coef_, rtol=1e-8)
    assert model.alpha == 1.0


def test_a_pickled_model_predicts_but_does_not_carry_its_training_data():
    X, y, qid = ranking(m=2000)
    model = RankRLS().fit(X, y, qid)
    stored = pickle.dumps(model)
    assert len(stored) < X.nbytes / 10
    again = pickle.loads(stored)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(RankwiseError, match="fit the model again"):
        again.with_alpha(2.0)


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_alpha_zero_gives_the_minimum_norm_solution(solver):
    X, y, qid = ranking()
    X = np.hstack([X, X[:, :2], np.ones((50, 1))])  # two repeated features and a constant one
    L = pair_laplacian(y, qid)
    model = RankRLS(alpha=0.0, solver=solver).fit(X, y, qid)
    expected = np.linalg.pinv(X.T @ L @ X, rcond=1e-10, hermitian=True) @ (X.T @ L @ y)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-7, atol=1e-12)
    assert model.coef_[-1] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.coef_[:2], model.coef_[6:8], rtol=1e-7)


def test_nearly_dependent_features_lose_no_more_digits_than_a_singular_value_decomposition():
    X, y, qid = ranking(m=200)
    X = np.hstack([X, X[:, :1] + 1e-6 * np.random.default_rng(0).normal(size=(200, 1))])
    queries = qid[:, None] == np.unique(qid)
    centred = X - (queries / queries.sum(0)) @ (queries.T @ X)
    target = y - (queries / queries.sum(0)) @ (queries.T @ y)
    U, s, Vt = np.linalg.svd(centred, full_matrices=False)
    alpha = 1e-11
    expected = Vt.T @ (s / (s**2 + alpha) * (U.T @ target))
    model = RankRLS(alpha=alpha, solver="primal").fit(X, y, qid)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-7)


def test_scores_and_pairs_agree_when_they_say_the_same():
    X, y, qid = ranking()
    i, j = np.triu_indices(50, 1)
    together = qid[i] == qid[j]
    pairs = np.column_stack([i, j])[together]
    by_scores = RankRLS(alpha=2.0, weighting="pair").fit(X, y, qid)
    for solver in ("primal", "dual"):
        by_pairs = RankRLS(alpha=2.0, solver=solver)
        by_pairs.fit_preferences(X, pairs, magnitude=(y[i] - y[j])[together])
        np.testing.assert_allclose(by_pairs.coef_, by_scores.coef_, rtol=1e-8)


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("n_pairs", [20, 300])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_pairs_with_weights_and_scores_equal_their_stacked_least_squares(solver, n_pairs, storage):
    X, y, qid = ranking()
    rng = np.random.default_rng(3)
    pairs = np.column_stack([rng.integers(0, 25, n_pairs), rng.integers(25, 50, n_pairs)])
    magnitude, weight = rng.uniform(0.5, 2, n_pairs), rng.uniform(0, 2, n_pairs)
    Z = X[pairs[:, 0]] - X[pairs[:, 1]]
    L = pair_laplacian(y, qid)
    A, b = Z.T @ (weight[:, None] * Z), Z.T @ (weight * magnitude)
    model = RankRLS(alpha=0.5, solver=solver).fit_preferences(storage(X), pairs, magnitude, weight)
    np.testing.assert_allclose(model.coef_, np.linalg.solve(A + 0.5 * np.eye(6), b), rtol=1e-8)
    both = RankRLS(alpha=0.5, solver=solver)
    both.fit_preferences(storage(X), pairs, magnitude, weight, y=y, qid=qid)
    expected = np.linalg.solve(A + X.T @ L @ X + 0.5 * np.eye(6), b + X.T @ L @ y)
    np.testing.assert_allclose(both.coef_, expected, rtol=1e-8)


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_pairs_count_for_every_target(solver):
    X, Y, qid = ranking(targets=3)
    pairs = [[0, 1], [5, 9], [7, 2]]
    together = RankRLS(solver=solver).fit_preferences(X, pairs, y=Y, qid=qid)
    for k in range(3):
        alone = RankRLS(solver=solver).fit_preferences(X, pairs, y=Y[:, k], qid=qid)
        np.testing.assert_allclose(together.coef_[k], alone.coef_, rtol=1e-8)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    ties=st.sampled_from(TIES),
    weighting=st.sampled_from(WEIGHTINGS),
    solver=st.sampled_from(["primal", "dual"]),
)
def test_laws_of_ranking_hold(seed, ties, weighting, solver):
    X, y, qid = ranking(m=30, n=4, seed=seed)
    rng = np.random.default_rng(seed)

    def coef(X, y, qid, weight=None):
        model = RankRLS(alpha=0.7, ties=ties, weighting=weighting, solver=solver)
        return model.fit(X, y, qid, sample_weight=weight).coef_

    expected = coef(X, y, qid)
    same = {"rtol": 1e-8, "atol": 1e-10}
    np.testing.assert_allclose(coef(X, y + rng.normal(size=5)[qid], qid), expected, **same)
    order = rng.permutation(30)
    np.testing.assert_allclose(coef(X[order], y[order], [f"q{q}" for q in qid[order]]), expected, **same)
    singleton = coef(np.vstack([X, X[:1]]), np.append(y, 9.0), np.append(qid, 77))
    np.testing.assert_allclose(singleton, expected, **same)
    weight = rng.integers(1, 3, 30)
    repeated = np.repeat(np.arange(30), weight)
    twice = coef(X[repeated], y[repeated], qid[repeated])
    np.testing.assert_allclose(coef(X, y, qid, weight), twice, **same)


def test_float32_features_are_summed_in_double_precision():
    X, y, qid = ranking(m=400)
    X = (X + 1000.0).astype(np.float32)
    expected = RankRLS(alpha=0.1).fit(X.astype(np.float64), y, qid)
    np.testing.assert_allclose(RankRLS(alpha=0.1).fit(X, y, qid).coef_, expected.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("solver", "shape", "density", "chosen"),
    [
        (Solver.AUTO, (10, 10), 1.0, Solver.PRIMAL),
        (Solver.AUTO, (10, 11), 1.0, Solver.DUAL),
        (Solver.DUAL, (10, 2), 1.0, Solver.DUAL),
        (Solver.AUTO, (1_000_000, 136), 1.0, Solver.PRIMAL),
        (Solver.AUTO, (500, 50_000), 0.01, Solver.DUAL),
        (Solver.AUTO, (781_265, 47_152), 0.0016, Solver.CG),
        (Solver.AUTO, (20_000, 20_000), 1.0, Solver.CG),
    ],
)
def test_auto_takes_the_cheapest_solver_that_memory_holds(solver, shape, density, chosen):
    assert choose_solver(solver, linear_costs(*shape, int(density * shape[0] * shape[1]))) is chosen


def test_the_chosen_solver_is_said():
    assert RankRLS().fit(*ranking(m=20, n=30)).solver_ == "dual"


def test_explanation_is_an_exact_sum_of_feature_contributions():
    pandas = pytest.importorskip("pandas")
    X, y, qid = ranking()
    frame = pandas.DataFrame(X, columns=[f"feature {c}" for c in "abcdef"])
    model = RankRLS().fit(frame, y, qid)
    why = model.explain(frame, 4, 7)
    scores = model.predict(frame)
    assert why.difference == pytest.approx(scores[4] - scores[7], rel=1e-10)
    np.testing.assert_allclose(why.contributions, model.coef_ * (X[4] - X[7]))
    assert why.top(1)[0][0] == "feature " + "abcdef"[np.abs(why.contributions).argmax()]
    assert "feature" in str(why)
    with pytest.raises(DataError, match=r"i must be a row of X, 0 to 49; got 50"):
        model.explain(frame, 50, 0)


@pytest.mark.parametrize("n", [1, 9, 10, 11, 14])
def test_a_printed_explanation_adds_up_to_the_difference(n):
    X, y, qid = ranking(n=n)
    why = RankRLS().fit(X, y, qid).explain(X, 4, 7)
    first, *lines = str(why).splitlines()
    difference, *parts = (float(line.split()[-1]) for line in (first, *lines))
    assert sum(parts) == pytest.approx(difference, abs=1e-4 * max(map(abs, [difference, *parts])))
    assert len(lines) == min(n, 11)
    others = "other" if n == 11 else "others"
    assert [line.split()[:2] for line in lines[10:]] == [[str(n - 10), others]][: n - 10]
    magnitudes = np.abs(parts[:10])
    assert (np.diff(magnitudes) <= 0.0).all()


@pytest.mark.parametrize("alpha", [-1.0, float("nan"), "large", True])
def test_alpha_must_be_a_number_that_is_not_negative(alpha):
    with pytest.raises(ParameterError, match=r"'alpha' parameter must be a finite number of at least 0; got"):
        RankRLS(alpha=alpha).fit(*ranking())


@pytest.mark.parametrize(
    "pairs, options, message",
    [
        ([[0, 50]], {}, r"pairs\[0\] is \(0, 50\), but there are only rows 0 to 49"),
        ([[0, 1], [-1, 3]], {}, r"pairs\[1\] is \(-1, 3\)"),
        ([[0, 1], [4, 4]], {}, r"pairs\[1\] compares row 4 with itself"),
        ([0, 1], {}, r"shape \(n_pairs, 2\)"),
        ([], {}, r"at least one pair"),
        ([[0.5, 1]], {}, "integer row numbers"),
        ([[0, 1]], {"magnitude": [1.0, 2.0]}, r"magnitude must have shape \(1,\)"),
        ([[0, 1]], {"magnitude": [np.nan]}, "magnitude must be finite; pair 0 has nan"),
        ([[0, 1]], {"weight": [-1.0]}, "weight must be finite and non-negative; pair 0 has -1.0"),
        ([[0, 1]], {"weight": [1e308]}, r"weight must be 0 or between .*; pair 0 has 1e\+308"),
    ],
)
def test_bad_pairs_are_named(pairs, options, message):
    with pytest.raises(DataError, match=message):
        RankRLS().fit_preferences(ranking()[0], pairs, **options)


def test_pairs_that_carry_weights_bring_them_along():
    X, pairs, weight = ranking()[0], np.array([[0, 1], [2, 3], [4, 1]]), np.array([1.0, 2.0, 0.5])
    carried = RankRLS().fit_preferences(X, PreferencePairs(pairs, weight))
    np.testing.assert_array_equal(carried.coef_, RankRLS().fit_preferences(X, pairs, weight=weight).coef_)
    with pytest.raises(DataError, match="weight is given twice: the pairs already have weights"):
        RankRLS().fit_preferences(X, PreferencePairs(pairs, weight), weight=weight)


def test_a_cycle_of_pairs_is_noise_not_an_error():
    X = ranking()[0]
    model = RankRLS(alpha=1.0).fit_preferences(X, [[0, 1], [1, 2], [2, 0]])
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-12)


def test_nothing_to_compare_is_an_error():
    X, y, _ = ranking()
    tied_but_for_a_row_without_weight = np.r_[2.0, np.ones(49)], np.r_[0.0, np.ones(49)]
    for ties in Ties:
        model = RankRLS(ties=ties)
        with pytest.raises(DataError, match="have the same label"):
            model.fit(X, y, np.arange(50))
        with pytest.raises(DataError, match="have the same label"):
            model.fit(X, np.full(50, 0.1), np.zeros(50))
        labels, weight = tied_but_for_a_row_without_weight
        with pytest.raises(DataError, match="have the same label"):
            model.fit(X, labels, np.zeros(50), sample_weight=weight)


def test_targets_and_features_of_the_wrong_shape_are_named():
    X, y, qid = ranking()
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples"):
        RankRLS().fit(X, y[:-1], qid)
    with pytest.raises(DataError, match=r"qid must have one entry per row of X: expected 50, got 49"):
        RankRLS().fit(X, y, qid[:-1])
    with pytest.raises(ValueError, match="X has 5 features, but RankRLS is expecting 6 features"):
        RankRLS().fit(X, y, qid).predict(X[:, :5])
