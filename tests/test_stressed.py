"""Every solver on every kind of data that is not nice, against 60-digit arithmetic."""

import warnings
from functools import partial

import numpy as np
import pytest

from rankwise import KernelRankRLS, KernelRankRLSCV, RankRLS, RankRLSCV, RankSVM
from rankwise.family import Fold
from rankwise.metrics import pairwise_error
from rankwise.operators.kernel import Kernel, KernelName
from rankwise.preferences.queries import group_rows
from rankwise.ridge.closed_form import DualFamily, PrimalFamily
from rankwise.ridge.spaces import LinearSpace
from rankwise.ridge.squared import losses_on_scores
from rankwise.selection.folding import each_query
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem
from stressed import (
    KINDS,
    exact_differences,
    exact_hinge_objective,
    exact_kernel,
    exact_kernel_rankrls,
    exact_rankrls,
    exact_weights,
    pairs_of,
    stressed,
)

SOLVERS = {
    "primal": RankRLS(solver="primal"),
    "dual": RankRLS(solver="dual"),
    "cg": RankRLS(solver="cg", tol=1e-13, max_iter=5000),
    "linear kernel": KernelRankRLS(kernel="linear"),
    "linear kernel by cg": KernelRankRLS(kernel="linear", solver="cg", tol=1e-13, max_iter=5000),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("ties, weighting, alpha", [("keep", "example", 1.0), ("drop", "query", 0.01)])
def test_rankrls_is_right_on_data_that_is_not_nice(kind, name, ties, weighting, alpha):
    X, y, qid = stressed(kind)
    model = SOLVERS[name].set_params(alpha=alpha, ties=ties, weighting=weighting)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = model.fit(X, y, qid).predict(X)
    if caught:
        assert "kernel" in name, caught[0].message  # a linear model is always right
        assert kind in ("scales", "dominating query", "wide timestamps"), caught[0].message
        return
    i, j = pairs_of(y, qid)
    exact = exact_rankrls(X, y, qid, alpha, ties, weighting)
    np.testing.assert_allclose(scores[i] - scores[j], exact, rtol=0, atol=1e-6 * np.abs(exact).max())


KERNEL_SOLVERS = {
    "dual": KernelRankRLS(solver="dual"),
    "cg": KernelRankRLS(solver="cg", tol=1e-13, max_iter=5000),
    "basis": KernelRankRLS(basis=8, random_state=0),
    "basis by cg": KernelRankRLS(basis=8, random_state=0, solver="cg", tol=1e-13, max_iter=5000),
}
# Kinds that cost no kernel its digits: nothing is far from zero or out of scale.
WELL_SCALED = (
    "plain",
    "integers",
    "repeated rows",
    "one-row and tied queries",
    "more features than rows",
    "sparse",
    "misaligned",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
@pytest.mark.parametrize("alpha", [1.0, 1e-3])
def test_kernel_models_are_right_on_data_that_is_not_nice_or_warn(kind, kernel, alpha):
    X, y, qid = stressed(kind)
    i, j = pairs_of(y, qid)
    K, gamma = exact_kernel(X, kernel, 0.1), 0.1
    for name, ranker in KERNEL_SOLVERS.items():
        model = ranker.set_params(kernel=kernel, gamma=gamma, alpha=alpha)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scores = model.fit(X, y, qid).predict(X)
        if caught:
            assert kind not in WELL_SCALED, f"{name}: {caught[0].message}"
            continue
        exact = exact_kernel_rankrls(K, y, qid, alpha, model.basis_indices_)
        error = np.abs(scores[i] - scores[j] - exact).max() / np.abs(exact).max()
        assert error < 1e-5, f"{name}: {error}"


FAMILIES = {
    "primal": lambda X, loss: PrimalFamily(LinearSpace(X, loss.differences.reference()), loss),
    "dual": lambda X, loss: DualFamily(LinearSpace(X, loss.differences.reference()), loss),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("ties, weighting", [("keep", "example"), ("drop", "query")])
def test_leave_query_out_is_right_on_data_that_is_not_nice(kind, name, ties, weighting):
    X, y, qid = stressed(kind)
    alphas = np.array([1e-3, 1.0])
    problem = Problem(X, y, group_rows(qid, len(y)), None)
    loss_of = lambda rest: losses_on_scores(rest, Ties(ties), Weighting(weighting))[0]  # noqa: E731
    family = FAMILIES[name](X, loss_of(problem))
    folds = [
        Fold(X, rows, np.array([q]), partial(lambda held: loss_of(problem.without(held)), rows))
        for q, rows in enumerate(each_query(problem.queries).held)
    ]
    for fold, found in zip(folds, family.leave_out(folds, alphas), strict=True):
        rest = np.setdiff1d(np.arange(len(y)), fold.index)
        i, j = np.triu_indices(len(fold.index), 1)
        for a, alpha in enumerate(alphas):
            w = exact_weights(X[rest], y[rest], qid[rest], alpha, ties, weighting)
            exact = exact_differences(X, w, fold.index[i], fold.index[j])
            scores = found.scores[:, a]
            tolerance = 1e-6 * max(np.abs(exact).max(initial=0.0), 1e-3)
            np.testing.assert_allclose(scores[i] - scores[j], exact, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_ranksvm_certifies_its_true_objective_on_data_that_is_not_nice(kind, loss):
    X, y, qid = stressed(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one feature 1e7 times the others takes more iterations
        model = RankSVM(0.01, loss=loss, tol=1e-6, max_iter=200).fit(X, y, qid)
        other = RankSVM(0.01, loss=loss, tol=1e-9, max_iter=400).fit(X, y, qid)
    squared = loss == "squared_hinge"
    objective = exact_hinge_objective(X, y, qid, model.coef_, 0.01, squared=squared)
    assert model.objective_ == pytest.approx(objective, rel=1e-10)
    best = exact_hinge_objective(X, y, qid, other.coef_, 0.01, squared=squared)
    assert model.gap_ >= objective - best  # a certificate covers what another run gains


@pytest.mark.parametrize(
    "choice, single",
    [
        (RankRLSCV([0.1, 1.0]), RankRLS()),
        (RankRLSCV([0.1, 1.0], solver="dual"), RankRLS()),
        (KernelRankRLSCV([0.1, 1.0], gamma=0.1), KernelRankRLS(gamma=0.1)),
    ],
    ids=str,
)
def test_equal_rows_are_tied_when_left_out_as_in_predict(choice, single):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (60, 3)).astype(float)
    y, qid = rng.integers(0, 3, 60).astype(float), np.arange(60) % 6
    choice.fit(X, y, qid)
    for a, alpha in enumerate(choice.alphas_):
        scores = np.empty(60)
        for q in range(6):
            rest = qid != q
            scores[~rest] = single.set_params(alpha=alpha).fit(X[rest], y[rest], qid[rest]).predict(X[~rest])
        # Only rows that are equal tie exactly; rounding to ten digits ties those that should besides.
        expected = pairwise_error(y, np.round(scores, 10), qid)
        assert choice.scores_[0, a] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_kernels_of_single_precision_rows_are_computed_in_double(kernel):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(20, 3)) + 100.0).astype(np.float32)
    single, double = (Kernel(KernelName(kernel), 0.01)(rows, rows) for rows in (X, X.astype(float)))
    np.testing.assert_allclose(single, double, rtol=1e-13)


def test_a_dual_fit_at_a_tiny_alpha_keeps_what_with_alpha_keeps():
    X, y, qid = stressed("more features than rows")
    fitted = RankRLS(alpha=1e-12, solver="dual").fit(X, y, qid)
    again = RankRLS(alpha=1.0, solver="dual").fit(X, y, qid).with_alpha(1e-12)
    exact = [float(v) for v in exact_weights(X, y, qid, 1e-12)]
    for model in (fitted, again):
        np.testing.assert_allclose(model.coef_, exact, rtol=0, atol=1e-9 * np.abs(exact).max())


def test_a_kernel_fit_at_a_tiny_alpha_keeps_what_with_alpha_keeps():
    rng = np.random.default_rng(0)
    X = np.vstack([X := rng.normal(size=(30, 3)), X[:10]])
    y, qid = rng.integers(0, 3, 40), np.repeat(range(4), 10)
    fitted = KernelRankRLS(1e-12, kernel="rbf", gamma=0.5).fit(X, y, qid)
    again = KernelRankRLS(1.0, kernel="rbf", gamma=0.5).fit(X, y, qid).with_alpha(1e-12)
    np.testing.assert_allclose(fitted.predict(X), again.predict(X), atol=1e-9)
