"""RankRLS by conjugate gradient: the closed-form model, one surface for every alpha, few passes."""

import numpy as np
import pytest
from scipy import sparse

from noisy_ranking import noisy_ranking
from rankwise import KernelRankRLS, ParameterError, RankRLS, RankRLSCV, load_model
from rankwise.metrics import pairwise_error
from rankwise.operators.kernel import Kernel, KernelName
from rankwise.operators.native_rows import NativeRows
from rankwise.ridge.kernel_spaces import BasisSpace, kernel_costs
from rankwise.ridge.ridge_family import choose_solver
from rankwise.types import Solver

PRECISE = {"solver": "cg", "tol": 1e-12}


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
    assert (cg.solver_, closed.solver_) == ("cg", "dual" if basis is None else "primal")


def test_kernel_auto_squares_no_more_rows_than_memory_holds():
    assert choose_solver(Solver.AUTO, kernel_costs(5_000)) is Solver.DUAL
    assert choose_solver(Solver.AUTO, kernel_costs(100_000)) is Solver.CG
    assert choose_solver(Solver.CLOSED, kernel_costs(100_000)) is Solver.DUAL
    basis = BasisSpace(np.empty((100_000, 1)), Kernel(KernelName.RBF), np.arange(100))
    assert choose_solver(Solver.AUTO, basis.costs) is Solver.PRIMAL
    assert choose_solver(Solver.CG, basis.costs) is Solver.CG


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
    np.testing.assert_array_equal(load_model(tmp_path / "model").surface_, model.surface_)


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
        RankRLSCV(solver="cg", cv="leave-pair-out").fit(X, y)


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
