"""RankRLS by conjugate gradient: the model of the closed form, early stopping, and bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from rankwise import DataError, KernelRankRLS, ParameterError, RankRLS, RankRLSCV, load
from rankwise.estimators.kernel_rankrls import choose_kernel_solver
from rankwise.metrics import pairwise_error, preference_error
from rankwise.operators.rows import NativeRows
from rankwise.types import KernelSolver

PRECISE = {"solver": "cg", "tol": 1e-12}


def noisy_ranking(m=300, n=30, seed=0, noise=3.0, n_queries=25):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = np.round(X @ np.linspace(1.0, 0.0, n) + noise * rng.normal(size=m))
    return X, y, rng.integers(0, n_queries, m)


@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("weighting", ["example", "pair", "query"])
def test_cg_gives_the_model_of_the_closed_form(ties, weighting):
    X, y, qid = noisy_ranking()
    weight = np.random.default_rng(1).uniform(1.0, 2.0, len(y))
    options = {"alpha": 0.5, "ties": ties, "weighting": weighting}
    closed = RankRLS(**options, solver="primal").fit(X, y, qid, weight)
    for stored in (X, sparse.csr_matrix(X), X.astype(np.float32)):
        cg = RankRLS(**options, **PRECISE).fit(stored, y, qid, weight)
        tolerance = 1e-8 if stored.dtype == np.float64 else 1e-5
        np.testing.assert_allclose(cg.coef_, closed.coef_, rtol=tolerance, atol=tolerance)
        assert (cg.solver_, closed.solver_) == ("cg", "primal")
        assert cg.n_iter_ >= 1
        assert closed.n_iter_ is None


def test_cg_learns_several_targets():
    X, y, qid = noisy_ranking()
    Y = np.column_stack([y, -y, y**2])
    closed, cg = RankRLS(solver="primal").fit(X, Y, qid), RankRLS(**PRECISE).fit(X, Y, qid)
    np.testing.assert_allclose(cg.coef_, closed.coef_, rtol=1e-8, atol=1e-9)


def test_cg_learns_from_pairs_with_magnitudes_and_weights_and_scores_too():
    X, y, qid = noisy_ranking()
    rng = np.random.default_rng(2)
    pairs = rng.choice(len(X), (500, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    magnitude, weight = rng.uniform(0.5, 2.0, len(pairs)), rng.uniform(0.0, 2.0, len(pairs))
    for scores in ({}, {"y": y, "qid": qid}):
        closed = RankRLS(solver="primal").fit_preferences(X, pairs, magnitude, weight, **scores)
        cg = RankRLS(**PRECISE).fit_preferences(X, pairs, magnitude, weight, **scores)
        np.testing.assert_allclose(cg.coef_, closed.coef_, rtol=1e-8, atol=1e-9)


def test_with_alpha_runs_again_for_the_other_alpha():
    X, y, qid = noisy_ranking()
    other = RankRLS(alpha=1.0, **PRECISE).fit(X, y, qid).with_alpha(7.0)
    np.testing.assert_allclose(other.coef_, RankRLS(alpha=7.0).fit(X, y, qid).coef_, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_early_stopping_keeps_the_iterate_that_the_eval_set_likes_best(alpha):
    X, y, qid = noisy_ranking()
    X_val, y_val, qid_val = noisy_ranking(seed=5)
    model = RankRLS(alpha=alpha, early_stopping=True, tol=0.0).fit(
        X, y, qid, eval_set=(X_val, y_val, qid_val)
    )
    assert model.solver_ == "cg"
    curve, best = model.validation_curve_, model.best_iter_
    assert len(curve) == model.n_iter_ == best + 10
    assert curve[best - 1] == curve.min() < curve[: best - 1].min()
    assert pairwise_error(y_val, model.predict(X_val), qid_val) == pytest.approx(curve.min(), abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        as_long = RankRLS(alpha=alpha, solver="cg", max_iter=best, tol=0.0).fit(X, y, qid)
    np.testing.assert_allclose(model.coef_, as_long.coef_, rtol=1e-12)


def test_an_eval_set_without_early_stopping_only_watches():
    X, y, qid = noisy_ranking()
    watched = RankRLS(solver="cg").fit(X, y, qid, eval_set=(X, y, qid))
    np.testing.assert_array_equal(watched.coef_, RankRLS(solver="cg").fit(X, y, qid).coef_)
    assert len(watched.validation_curve_) == watched.n_iter_


def test_early_stopping_holds_out_whole_queries_the_same_for_the_same_seed():
    X, y, qid = noisy_ranking()
    seen = {}

    class Watching(RankRLS):
        def _learn(self, rows, losses, fitted_with_qid, held_out):
            seen[self.random_state] = (rows, held_out.X)
            return super()._learn(rows, losses, fitted_with_qid, held_out)

    models = [Watching(early_stopping=True, validation_fraction=0.2, random_state=s) for s in (3, 4)]
    for model in models:
        model.fit(X, y, qid)
        again = RankRLS(early_stopping=True, validation_fraction=0.2, random_state=model.random_state)
        np.testing.assert_array_equal(again.fit(X, y, qid).coef_, model.coef_)
        kept, out = seen[model.random_state]
        query_of = {row.tobytes(): q for row, q in zip(X, qid, strict=True)}
        kept_queries = {query_of[row.tobytes()] for row in kept}
        out_queries = {query_of[row.tobytes()] for row in out}
        assert len(out_queries) == 5
        assert not kept_queries & out_queries
        assert len(kept) + len(out) == len(X)
    assert seen[3][1].tobytes() != seen[4][1].tobytes()


@pytest.mark.parametrize("measure", ["ndcg@5", "kendall_tau_b"])
def test_measures_to_maximize_are_maximized(measure):
    X, y, qid = noisy_ranking()
    y = np.clip(y, 0, 4)
    model = RankRLS(alpha=0.0, early_stopping=True, measure=measure, random_state=0).fit(X, y, qid)
    assert model.validation_curve_[model.best_iter_ - 1] == model.validation_curve_.max()


def test_early_stopping_on_pairs_measures_the_violated_part():
    X, y, _ = noisy_ranking()
    rng = np.random.default_rng(3)
    drawn = rng.choice(len(X), (2000, 2))
    drawn = drawn[y[drawn[:, 0]] > y[drawn[:, 1]]]
    train, held = drawn[:600], drawn[600:]
    model = RankRLS(alpha=0.0, early_stopping=True).fit_preferences(X, train, eval_set=(X, held))
    assert preference_error(model.predict(X), held) == pytest.approx(model.validation_curve_.min())
    split = RankRLS(alpha=0.0, early_stopping=True, random_state=0).fit_preferences(X, drawn)
    assert split.best_iter_ <= split.n_iter_


@pytest.mark.parametrize("basis", [None, 60])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed", "callable"])
def test_kernel_cg_gives_the_model_of_the_closed_form(kernel, basis):
    X, y, qid = noisy_ranking(m=150, n=5)
    rows = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2)) if kernel == "precomputed" else X
    given = (lambda A, B: (1.0 + A @ B.T) ** 2) if kernel == "callable" else kernel
    options = {"alpha": 0.3, "kernel": given, "gamma": 0.2, "basis": basis, "random_state": 0}
    closed = KernelRankRLS(**options).fit(rows, y, qid)
    cg = KernelRankRLS(**options, solver="cg", tol=1e-13, max_iter=2000).fit(rows, y, qid)
    np.testing.assert_allclose(cg.predict(rows), closed.predict(rows), rtol=1e-6, atol=1e-6)
    assert (cg.solver_, closed.solver_) == ("cg", "closed")


@pytest.mark.parametrize("basis", [None, 40])
def test_kernel_early_stopping_judges_the_scores_that_it_predicts(basis):
    X, y, qid = noisy_ranking(m=150, n=5)
    X_val, y_val, qid_val = noisy_ranking(m=150, n=5, seed=9)
    model = KernelRankRLS(alpha=0.0, basis=basis, early_stopping=True, random_state=0)
    model.fit(X, y, qid, eval_set=(X_val, y_val, qid_val))
    best = pairwise_error(y_val, model.predict(X_val), qid_val)
    assert best == pytest.approx(model.validation_curve_.min(), abs=1e-3)


def test_kernel_auto_squares_no_more_rows_than_memory_holds():
    assert choose_kernel_solver(KernelSolver.AUTO, 5_000, False) is KernelSolver.CLOSED
    assert choose_kernel_solver(KernelSolver.AUTO, 100_000, False) is KernelSolver.CG
    assert choose_kernel_solver(KernelSolver.AUTO, 100_000, True) is KernelSolver.CLOSED
    assert choose_kernel_solver(KernelSolver.CG, 10, True) is KernelSolver.CG


def test_a_saved_model_remembers_its_iterations(tmp_path):
    X, y, qid = noisy_ranking()
    model = RankRLS(early_stopping=True, random_state=0).fit(X, y, qid)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.validation_curve_, model.validation_curve_)
    assert (loaded.n_iter_, loaded.best_iter_) == (model.n_iter_, model.best_iter_)


def test_the_iteration_limit_warns():
    X, y, qid = noisy_ranking()
    with pytest.warns(ConvergenceWarning, match="after 2 iterations: the iteration limit was reached"):
        RankRLS(solver="cg", max_iter=2).fit(X, y, qid)


def test_nothing_that_regularizes_warns():
    with pytest.warns(UserWarning, match="nothing regularizes"):
        RankRLS(alpha=0, solver="cg").fit(*noisy_ranking())


def test_early_stopping_regularizes_alpha_zero_without_a_warning():
    X, y, qid = noisy_ranking()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RankRLS(alpha=0, early_stopping=True).fit(X, y, qid, eval_set=noisy_ranking(seed=5))


def failing_in_call(number, failure):
    """The product of `NativeRows`, until its call of this number."""
    product, calls = NativeRows.query_normal_product, []

    def product_or_failure(self, *arguments):
        calls.append(None)
        return product(self, *arguments) if len(calls) < number else failure(self)

    return product_or_failure


def interrupt(rows):
    raise KeyboardInterrupt


def not_finite(rows):
    return np.full(rows.shape[1], np.nan)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(interrupt, "interrupted from the keyboard"), (not_finite, "a product was not finite")],
)
@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_run_that_ends_before_its_time_keeps_the_best_so_far(monkeypatch, failure, reason, early_stopping):
    X, y, qid = noisy_ranking(noise=6.0)
    options = {"alpha": 0.5, "solver": "cg", "early_stopping": early_stopping}
    held = noisy_ranking(seed=5, noise=6.0)
    with pytest.warns(ConvergenceWarning, match="after 4 iterations: the iteration limit"):
        expected = RankRLS(**options, max_iter=4).fit(X, y, qid, eval_set=held)
    monkeypatch.setattr(NativeRows, "query_normal_product", failing_in_call(5, failure))
    with pytest.warns(ConvergenceWarning, match=f"after 4 iterations: {reason}.*best iterate so far is kept"):
        model = RankRLS(**options).fit(X, y, qid, eval_set=held)
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert model.best_iter_ == np.argmin(model.validation_curve_) + 1
    assert len(model.validation_curve_) == model.n_iter_ == 4


def test_an_interrupted_choice_keeps_the_settings_tried_so_far(monkeypatch):
    X, y, qid = noisy_ranking()
    monkeypatch.setattr(NativeRows, "query_normal_product", failing_in_call(5, interrupt))
    choice = RankRLSCV([0.5, 2.0], solver="cg", ties=("keep", "drop"))
    with (
        pytest.warns(UserWarning, match="no setting after .*'keep'.* is tried"),
        pytest.warns(ConvergenceWarning, match="after 4 iterations: interrupted"),
    ):
        choice.fit(X, y, qid, eval_set=noisy_ranking(seed=5))
    assert [setting["ties"] for setting in choice.settings_] == ["keep"]


def test_an_interrupt_among_folds_ends_the_choice(monkeypatch):
    monkeypatch.setattr(NativeRows, "query_normal_product", failing_in_call(5, interrupt))
    with pytest.raises(KeyboardInterrupt):
        RankRLSCV([0.5, 2.0], solver="cg", cv=3).fit(*noisy_ranking())


@pytest.mark.parametrize("scale", [1e100, 1e200])
def test_values_too_large_to_square_are_reported_once(scale):
    X, y, qid = noisy_ranking()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = RankRLS(solver="cg").fit(scale * X, y, qid)
    (warning,) = caught
    assert warning.category is ConvergenceWarning
    assert "a product was not finite" in str(warning.message)
    assert np.isfinite(model.coef_).all()


def test_held_out_rows_without_comparable_pairs_are_refused():
    X, qid = noisy_ranking()[::2]
    y = np.zeros(len(X))
    y[np.flatnonzero(qid == 0)[0]] = 1.0
    with pytest.raises(DataError, match=r"validation_fraction=0.1 of the training data cannot be measured"):
        RankRLS(early_stopping=True, random_state=0).fit(X, y, qid)
    with pytest.raises(DataError, match="eval_set cannot be measured by 'pairwise_error'"):
        RankRLSCV(solver="cg").fit(*noisy_ranking(), eval_set=(X, np.zeros(len(X)), qid))


@pytest.mark.parametrize(
    ("n_features", "judges", "message"),
    [
        (2, [[[0, 1]]], "eval_set: X has 2 features"),
        (30, [np.empty((0, 2), dtype=int)], "eval_set: pairs must have shape"),
        (30, [[[0, 300]]], r"eval_set: pairs\[0\] is \(0, 300\)"),
        (30, [[[0, 1]], [0.0]], "all its pairs have weight 0"),
    ],
)
def test_held_out_pairs_that_cannot_judge_are_refused(n_features, judges, message):
    X, _, _ = noisy_ranking()
    pairs = np.column_stack([np.arange(100), np.arange(100, 200)])
    with pytest.raises(DataError, match=message):
        RankRLS(early_stopping=True).fit_preferences(X, pairs, eval_set=(X[:, :n_features], *judges))


@pytest.mark.parametrize(
    ("options", "eval_set", "error", "message"),
    [
        (
            {"solver": "primal", "early_stopping": True},
            None,
            ParameterError,
            "early_stopping needs solver='cg'",
        ),
        ({"solver": "dual"}, "good", ParameterError, "eval_set needs solver='cg'"),
        ({"solver": "dual", "checkpoint": "x"}, None, ParameterError, "checkpoint needs solver='cg'"),
        ({"solver": "newton"}, None, ParameterError, "'solver' parameter must be one of"),
        ({"solver": "cg"}, "features", DataError, "eval_set: X has 2 features"),
        ({"solver": "cg"}, "tied", DataError, "eval_set cannot be measured by 'pairwise_error'"),
        ({"solver": "cg"}, "short", DataError, "the y of eval_set must have one entry per row"),
        ({"solver": "cg"}, "bare", DataError, r"eval_set must be \(X, y\) or \(X, y, qid\); got a ndarray"),
        ({"solver": "cg", "tol": -1.0}, None, ParameterError, "'tol' parameter"),
        ({"solver": "cg", "max_iter": 0}, None, ParameterError, "'max_iter' parameter"),
        ({"early_stopping": True, "patience": 0}, None, ParameterError, "'patience' parameter"),
        ({"early_stopping": True, "validation_fraction": 1.0}, None, ParameterError, "below 1"),
        ({"early_stopping": True, "measure": "beauty"}, None, ParameterError, "no measure 'beauty'"),
    ],
)
def test_mistakes_are_named(options, eval_set, error, message):
    X, y, qid = noisy_ranking()
    given = {
        None: None,
        "good": (X, y, qid),
        "features": (X[:, :2], y, qid),
        "tied": (X, np.zeros(len(X)), qid),
        "short": (X, y[:5], qid),
        "bare": X,
    }[eval_set]
    with pytest.raises(error, match=message):
        RankRLS(**options).fit(X, y, qid, eval_set=given)


ALPHAS = 2.0 ** np.arange(-10, 11)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_cv_reads_the_papers_methods_off_one_surface(early_stopping, tmp_path):
    X, y, qid = noisy_ranking(noise=6.0)
    held = noisy_ranking(seed=5, noise=6.0)
    model = RankRLSCV([0.0, *ALPHAS], solver="cg", early_stopping=early_stopping).fit(
        X, y, qid, eval_set=held
    )
    assert model.surface_.shape == (22, model.n_iter_)
    kept = "hybrid" if early_stopping else "tikhonov"
    assert model.best_["score"] == pytest.approx(model.readings_[kept]["score"], abs=1e-12)
    assert model.readings_["hybrid"]["score"] == model.surface_.min()
    by_iteration = RankRLS(0.0, early_stopping=True).fit(X, y, qid, eval_set=held)
    assert model.readings_["iteration"]["n_iter"] == by_iteration.best_iter_
    assert pairwise_error(held[1], model.predict(held[0]), held[2]) == pytest.approx(
        model.best_["score"], abs=1e-9
    )
    alone = RankRLS(model.best_["alpha"], solver="cg", early_stopping=early_stopping).fit(
        X, y, qid, eval_set=held
    )
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6, atol=1e-9)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").surface_, model.surface_)


@pytest.mark.parametrize("eval_set", [None, noisy_ranking(seed=5)])
def test_cv_by_cg_values_alphas_as_the_closed_form_does(eval_set):
    X, y, qid = noisy_ranking()
    options = {"alphas": ALPHAS[::4], "cv": 4, "ties": ("keep", "drop")}
    closed = RankRLSCV(**options, solver="primal").fit(X, y, qid, eval_set=eval_set)
    cg = RankRLSCV(**options, **PRECISE).fit(X, y, qid, eval_set=eval_set)
    np.testing.assert_allclose(cg.scores_, closed.scores_, atol=1e-9)
    np.testing.assert_allclose(cg.coef_, closed.coef_, rtol=1e-6, atol=1e-9)


def test_cv_by_cg_says_what_it_cannot_do():
    X, y, qid = noisy_ranking()
    with pytest.raises(ParameterError, match="early_stopping needs an eval_set"):
        RankRLSCV(solver="cg", early_stopping=True).fit(X, y, qid)
    with pytest.raises(ParameterError, match="Leave-pair-out needs a closed form"):
        RankRLSCV(solver="cg").fit(X, y)


@pytest.mark.parametrize("qid", [None, "queries"])
@pytest.mark.parametrize("n_alphas", [1, 21])
def test_passes_over_the_data_are_iterations_and_a_few(monkeypatch, qid, n_alphas):
    X, y, queries = noisy_ranking()
    held = noisy_ranking(m=100, seed=5)
    passes = []

    def counted(product):
        def counting(self, *arguments):
            if self.shape[0] == len(X):
                passes.append(product.__name__)
            return product(self, *arguments)

        return counting

    for name in ("scores", "adjoint", "query_normal_product", "row_normal_product"):
        monkeypatch.setattr(NativeRows, name, counted(getattr(NativeRows, name)))
    monkeypatch.setattr("rankwise.operators.normal.QUERY_BYTES", 30_000)
    model = RankRLSCV(ALPHAS[:n_alphas], solver="cg", cv=None)
    model.fit(X, y, None if qid is None else queries, eval_set=held)
    assert model.n_iter_ <= len(passes) <= model.n_iter_ + 2
