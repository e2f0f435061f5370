"""However RankSVM ends (limit, double precision exhausted, interrupt), its model is certified."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hinge_ranking import LOSSES, objective, ranking, solvers_and_risk
from rankwise import DataError, RankSVM, config_context
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.queries import group_rows
from rankwise.svm import bundle, newton, planes, subspace
from rankwise.svm.hinge import query_hinge
from rankwise.svm.risk import CountedProducts
from rankwise.svm.rows_risk import RowsRisk
from rankwise.types import Weighting
from rankwise.validation import Problem


@pytest.fixture(autouse=True)
def fits_return_what_an_interrupt_left():
    with config_context(on_interrupt="keep"):
        yield


@pytest.mark.parametrize("loss", LOSSES)
def test_too_few_iterations_warn_and_name_the_gap(loss):
    X, y, qid = ranking(m=300, n=20)
    for limit in (1, 3):
        with pytest.warns(ConvergenceWarning, match=rf"max_iter={limit} .* gap_="):
            model = RankSVM(1e-6, loss=loss, tol=1e-9, max_iter=limit).fit(X, y, qid)
        assert model.gap_ > 1e-9
        assert model.n_iter_ == limit


@pytest.mark.parametrize("loss", LOSSES)
def test_a_tolerance_that_doubles_cannot_certify_says_so(loss):
    X, y, qid = ranking()
    with pytest.warns(ConvergenceWarning, match="double precision"):
        model = RankSVM(1e-1, loss=loss, tol=0.0).fit(X, y, qid)
    assert model.gap_ < 1e-12


@pytest.mark.parametrize("alpha", [1e-12, 1e-8, 1e-4])
def test_the_squared_hinge_reaches_a_tight_tolerance_where_the_rows_are_separable(alpha):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rng.integers(20, 150), rng.integers(2, 12)))
        y = X @ rng.normal(size=X.shape[1])
        y = np.digitize(y, np.quantile(y, [0.3, 0.6, 0.9])) if seed % 2 else y
        assert RankSVM(alpha, loss="squared_hinge", tol=1e-9).fit(X, y).gap_ <= 1e-9


def test_a_solver_that_rounding_keeps_from_going_on_says_so(monkeypatch):
    X, y, qid = ranking()

    def uphill(rows, spread, value, alpha, gradient, accuracy):
        return gradient, rows.scores(gradient)

    monkeypatch.setattr(newton, "_newton_direction", uphill)
    with pytest.warns(ConvergenceWarning, match=r"^Rounding errors .* after 1 iterations: .* gap_="):
        RankSVM(1e-4, loss="squared_hinge").fit(X, y, qid)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_interrupt_returns_the_best_so_far_with_its_gap(loss, monkeypatch):
    X, y, _ = ranking(m=300, n=20)
    scores, calls = MatrixDesign.scores, []

    def interrupted(self, weights):
        calls.append(weights)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return scores(self, weights)

    monkeypatch.setattr(MatrixDesign, "scores", interrupted)
    with pytest.warns(ConvergenceWarning, match=r"Interrupted: .* gap_="):
        model = RankSVM(1e-4, loss=loss, tol=1e-9).fit(X, y)
    assert 0.0 < model.gap_ < np.inf
    assert model.objective_ == pytest.approx(objective(model.coef_, X, y, 0 * y, 1e-4, loss), rel=1e-9)


class InterruptedAtLine:
    """Raise Ctrl-C before the n-th line that the solvers run; None only counts lines."""

    FILES = tuple(module.__file__ for module in (bundle, newton, planes, subspace))

    def __init__(self, number=None):
        self.number, self.count = number, 0

    def __enter__(self):
        sys.settrace(lambda frame, event, arg: self._line if frame.f_code.co_filename in self.FILES else None)
        return self

    def _line(self, frame, event, arg):
        self.count += event == "line"
        if self.count == self.number and event == "line":
            raise KeyboardInterrupt
        return self._line

    def __exit__(self, kind, error, traceback):
        sys.settrace(None)
        return kind is KeyboardInterrupt


@pytest.mark.parametrize("loss", LOSSES)
def test_an_interrupt_at_any_line_leaves_a_certified_model_and_ends_the_path(loss):
    X, y, _ = ranking(m=60, n=12, seed=8)
    solvers, risk = solvers_and_risk(X, y, loss)
    alphas, follow = [1e-1, 1e-2, 1e-3], solvers.solve_each
    minima = [result.objective for result in follow(risk, alphas, tol=1e-9, max_iter=1000)]
    with InterruptedAtLine() as lines:
        list(follow(risk, alphas, tol=1e-5, max_iter=1000))
    for number in np.random.default_rng(0).integers(1, lines.count, 40):
        results = []
        with InterruptedAtLine(number):
            results.extend(follow(risk, alphas, tol=1e-5, max_iter=1000))
        for k, result in enumerate(results):
            at_coef = objective(result.coef, X, y, 0 * y, alphas[k], loss)
            assert result.objective == pytest.approx(at_coef, rel=1e-9)
            assert result.objective - result.gap <= minima[k] + 1e-12
        assert not any(result.interrupted for result in results[:-1])


@pytest.mark.filterwarnings("ignore:Interrupted")
@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_after_an_interrupt_finds_the_same_minimum(loss):
    X, y, qid = ranking(m=60, n=12, seed=8)
    options = {"loss": loss, "tol": 1e-6}
    expected = RankSVM(1e-3, **options).fit(X, y, qid)
    with InterruptedAtLine() as lines:
        RankSVM(1e-3, **options).fit(X, y, qid)
    saved = 0
    for number in np.random.default_rng(0).integers(1, lines.count, 15):
        model = RankSVM(1e-3, **options, warm_start=True)
        with InterruptedAtLine(number):
            model.fit(X, y, qid)
        model.fit(X, y, qid)
        assert model.gap_ <= 1e-6
        assert model.objective_ == pytest.approx(expected.objective_, abs=1e-6)
        saved += model.n_products_ < expected.n_products_
    assert saved > 0


def test_the_allowance_of_a_certificate_covers_the_rounding_of_scores():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)) * np.logspace(0, 6, 8) + 50.0, rng.integers(0, 3, 60).astype(float)
    problem = Problem(X, y, group_rows(None, 60), None)
    loss = query_hinge(problem, Weighting.QUERY)
    rows = CountedProducts(RowsRisk(MatrixDesign(X), loss))
    w = rng.normal(size=8)
    exact = np.array(
        [float(sum(Fraction(a) * Fraction(b) for a, b in zip(row, w, strict=True))) for row in X]
    )
    error = np.abs(rows.scores(w) - loss.arranged(exact)).max()
    assert 0.0 < error <= rows.rounding(w) <= 1e3 * error


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("columns", [slice(None), slice(1, 2)], ids=["all", "one"])
@pytest.mark.parametrize("exponent", [70.0, 100.0, 140.0, 149.0, 152.0, 153.0, 153.8, 155.0, 200.0, 307.0])
def test_features_of_any_size_give_a_certified_model_or_are_refused(loss, columns, exponent):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 3))
        y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=40), [-0.5, 0.5])
        X[:, columns] *= 10.0**exponent
        X = np.clip(X, -1.7e308, 1.7e308)
        for alpha in (1e-3, 1e3):
            model = RankSVM(alpha, loss=loss, max_iter=10)
            try:
                model.fit(X, y)
            except DataError:
                continue
            assert model.objective_ <= 1.0 + 1e-9  # that of weights 0
            assert np.isfinite(model.gap_)
            assert np.isfinite(model.coef_).all()
