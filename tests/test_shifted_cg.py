"""Multi-shift conjugate gradient: every system is solved, evaluated and stopped as if run alone."""

import dataclasses
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.config import config_context
from rankwise.held_out import HeldOut
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.ridge.cg_result import Stop
from rankwise.ridge.shifted_cg import shifted_cg

ALPHAS = 2.0 ** np.arange(-6, 7)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    m, n = 300, 40
    X = rng.normal(size=(m, n)) * rng.uniform(0.5, 1.5, n)
    y = X @ rng.normal(size=n) + 5.0 * rng.normal(size=m)
    qid = rng.integers(0, 20, m)
    F = QueryDifferences(group_rows(qid, m), y)
    design = MatrixDesign(X)
    X_val = rng.normal(size=(80, n)) * X.std(axis=0)
    noisy = X_val @ np.linalg.lstsq(X, y, rcond=None)[0] + 5.0 * rng.normal(size=80)
    return {
        "product": design.normal_operator(F),
        "right": design.adjoint(F.laplacian(y)),
        "A": design.difference_system(F, F.apply(y))[0],
        "judged": {
            "held_out": HeldOut(X_val, lambda f: float(((f - noisy) ** 2).mean())),
            "scores": lambda w: X_val @ w,
        },
        "X_val": X_val,
    }


def alone(problem, alpha, n_iter=None, tol=1e-5):
    """Textbook conjugate gradient on one system; all its iterates."""
    A = problem["A"] + alpha * np.eye(len(problem["right"]))
    w, r = np.zeros(len(A)), problem["right"].copy()
    p, iterates = r.copy(), []
    while n_iter is None or len(iterates) < n_iter:
        step = (r @ r) / (p @ A @ p)
        w, previous = w + step * p, r @ r
        r = r - step * (A @ p)
        p = r + (r @ r) / previous * p
        iterates.append(w)
        if n_iter is None and np.linalg.norm(r) <= tol * np.linalg.norm(problem["right"]):
            break
    return np.array(iterates)


def test_every_alpha_ends_like_a_run_of_its_own(problem):
    result = shifted_cg(problem["product"], problem["right"], ALPHAS)
    assert result.stop is Stop.CONVERGED
    assert result.converged.all()
    for k, alpha in enumerate(ALPHAS):
        iterates = alone(problem, alpha)
        assert abs(result.n_iter[k] - len(iterates)) <= 1
        np.testing.assert_allclose(result.solutions[k], iterates[-1], atol=2e-5 * np.abs(iterates[-1]).max())


def test_tight_tolerance_reaches_the_closed_form(problem):
    result = shifted_cg(problem["product"], problem["right"], ALPHAS, tol=1e-12)
    for alpha, w, residual in zip(ALPHAS, result.solutions, result.residual, strict=True):
        exact = np.linalg.solve(problem["A"] + alpha * np.eye(len(w)), problem["right"])
        np.testing.assert_allclose(w, exact, rtol=1e-8, atol=1e-10)
        true = np.linalg.norm(problem["right"] - problem["A"] @ w - alpha * w)
        assert true <= 1e-11 * np.linalg.norm(problem["right"])
        assert residual <= 1e-12


def test_the_surface_is_the_measure_of_every_iterate(problem):
    judged = problem["judged"]
    result = shifted_cg(problem["product"], problem["right"], ALPHAS, **judged)
    for k, alpha in enumerate(ALPHAS):
        n_iter = int(result.n_iter[k])
        scores = alone(problem, alpha, n_iter) @ problem["X_val"].T
        expected = [judged["held_out"].measure(row) for row in scores]
        np.testing.assert_allclose(result.surface.values[k, :n_iter], expected, rtol=1e-6)
        assert (result.surface.values[k, n_iter:] == result.surface.values[k, n_iter - 1]).all()


@pytest.mark.parametrize("n_alphas", [1, 13])
def test_products_are_as_many_as_iterations_whatever_the_number_of_alphas(problem, n_alphas):
    product = Counted(problem["product"])
    scores = Counted(problem["judged"]["scores"])
    judged = problem["judged"] | {"scores": scores}
    result = shifted_cg(product, problem["right"], ALPHAS[:n_alphas], **judged)
    assert product.calls == result.n_iterations
    assert scores.calls == result.n_iterations + 1
    assert abs(result.n_iterations - len(alone(problem, ALPHAS[0]))) <= 1


def test_a_run_holds_few_vectors_and_leaves_those_it_was_given_alone():
    n = 100_000
    right, image, scale = np.ones(n), np.empty(n), np.linspace(1.0, 2.0, n)
    tracemalloc.start()
    result = shifted_cg(lambda v: np.multiply(scale, v, out=image), right, [0.5], max_iter=5, tol=0.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A solution, its direction, the residual, the next one, and the terms of an inner product.
    assert peak < 5.5 * right.nbytes
    assert result.n_iterations == 5
    assert (right == 1.0).all()


def test_early_stopping_keeps_the_best_before_patience_runs_out(problem):
    product, right, judged = (problem[name] for name in ("product", "right", "judged"))
    for patience in (1, 3, 10):
        full = shifted_cg(product, right, [0.0, 1.0], **judged, patience=patience, tol=1e-12)
        early = shifted_cg(product, right, [0.0], **judged, patience=patience, stop_early=True, tol=1e-12)
        errors = full.surface.values[0]
        best = 0
        while (errors[best + 1 : best + 1 + patience] < errors[best]).any():
            best += 1 + int((errors[best + 1 : best + 1 + patience] < errors[best]).argmax())
        assert early.surface.best_iter[0] == full.surface.best_iter[0] == best + 1
        assert early.stop is Stop.NO_IMPROVEMENT
        assert early.n_iterations == best + 1 + patience
        reading = early.by_iteration()
        expected = alone(problem, 0.0, best + 1)[-1]
        np.testing.assert_allclose(reading.solution, expected, rtol=1e-6, atol=1e-9)
        assert reading.value == errors[best]


def test_the_readings_are_the_best_of_their_kind(problem):
    result = shifted_cg(problem["product"], problem["right"], ALPHAS, **problem["judged"])
    surface = result.surface
    assert result.tikhonov().value == surface.values[:, -1].min()
    assert result.hybrid().value == surface.best_value.min() <= result.by_iteration().value
    k = int(surface.best_value.argmin())
    hybrid = result.hybrid()
    assert (hybrid.alpha, hybrid.n_iter) == (ALPHAS[k], surface.best_iter[k])
    hybrid.solution[:] = 0.0
    assert result.surface.best[k].any()


def test_a_measure_to_maximize_gives_the_same_readings(problem):
    run = {"product": problem["product"], "right": problem["right"], "alphas": ALPHAS}
    low = problem["judged"]["held_out"]
    high = HeldOut(low.X, lambda f: -low.measure(f), higher_is_better=True)
    scores = problem["judged"]["scores"]
    one, other = (shifted_cg(**run, held_out=judge, scores=scores) for judge in (low, high))
    for reading in ("tikhonov", "by_iteration", "hybrid"):
        np.testing.assert_array_equal(getattr(one, reading)().solution, getattr(other, reading)().solution)


@pytest.mark.parametrize("stop_at", [1, 7, 11])
def test_a_run_taken_up_again_gives_the_same_bits(problem, stop_at):
    run = {"product": problem["product"], "right": problem["right"], "alphas": ALPHAS}
    run |= problem["judged"]
    whole = shifted_cg(**run)
    saved = []

    def save(state):
        if state.iteration == stop_at:
            copies = {f.name: np.copy(getattr(state, f.name)) for f in dataclasses.fields(state)}
            saved.append(dataclasses.replace(state, **copies))

    shifted_cg(**run, on_iteration=save)
    resumed = shifted_cg(**run, state=saved[0])
    assert resumed.solutions.tobytes() == whole.solutions.tobytes()
    assert resumed.surface.values.tobytes() == whole.surface.values.tobytes()
    assert resumed.surface.best.tobytes() == whole.surface.best.tobytes()


@pytest.mark.parametrize("n_threads", [2, 5])
def test_threads_do_not_change_a_bit(problem, n_threads):
    run = {"product": problem["product"], "right": problem["right"], "alphas": ALPHAS}
    found = []
    for n in (1, n_threads):
        with config_context(n_threads=n):
            found.append(shifted_cg(**run).solutions.tobytes())
    assert found[0] == found[1]


def test_a_right_hand_side_of_zero_is_solved_at_once(problem):
    result = shifted_cg(problem["product"], np.zeros(40), ALPHAS)
    assert result.stop is Stop.CONVERGED
    assert not result.solutions.any()
    assert result.n_iterations == 0


def test_alpha_zero_on_a_singular_matrix_gives_the_solution_of_smallest_norm():
    rng = np.random.default_rng(2)
    B = rng.normal(size=(5, 12))
    A, b = B.T @ B, B.T @ rng.normal(size=5)
    result = shifted_cg(lambda v: A @ v, b, [0.0], tol=1e-10)
    np.testing.assert_allclose(result.solutions[0], np.linalg.pinv(A) @ b, rtol=1e-6)


def test_a_matrix_that_is_not_semi_definite_is_reported():
    A = np.diag([1.0, -1.0])
    assert shifted_cg(lambda v: A @ v, np.array([0.1, 1.0]), [0.0]).stop is Stop.BREAKDOWN


def test_a_product_that_is_not_finite_ends_the_run_with_the_last_finite_iterates(problem):
    calls = []

    def failing(v):
        calls.append(v)
        return problem["product"](v) if len(calls) < 5 else np.full_like(v, np.nan)

    result = shifted_cg(failing, problem["right"], [0.5], **problem["judged"])
    assert result.stop is Stop.NOT_FINITE
    assert result.n_iterations == 4
    np.testing.assert_allclose(result.solutions[0], alone(problem, 0.5, 4)[-1], rtol=1e-9)


def test_an_interrupt_returns_what_there_is(problem):
    def interrupt(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    result = shifted_cg(problem["product"], problem["right"], [0.5], on_iteration=interrupt)
    assert result.stop is Stop.INTERRUPTED
    np.testing.assert_allclose(result.solutions[0], alone(problem, 0.5, 3)[-1], rtol=1e-9)


def test_the_iteration_limit_is_reported(problem):
    result = shifted_cg(problem["product"], problem["right"], [0.001, 1e6], max_iter=4)
    assert result.stop is Stop.MAX_ITER
    assert result.converged.tolist() == [False, True]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), spread=st.floats(0.0, 4.0))
def test_shifts_of_any_spread_are_solved(seed, spread):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = Q @ np.diag(10.0 ** rng.uniform(-spread / 2, spread / 2, n)) @ Q.T
    b = rng.normal(size=n)
    alphas = np.unique(10.0 ** rng.uniform(-2, 5, 6))
    result = shifted_cg(lambda v: A @ v, b, alphas, tol=1e-10)
    assert result.converged.all()
    for alpha, z in zip(alphas, result.solutions, strict=True):
        assert np.linalg.norm(A @ z + alpha * z - b) <= 1e-8 * np.linalg.norm(b)
