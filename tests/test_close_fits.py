"""Leave-pair-out where the model fits its labels almost exactly: at tiny alphas, and with many features."""

import numpy as np
import pytest

from rankwise import KernelRankRLS, KernelRankRLSCV, RankRLS, RankRLSCV
from rankwise.metrics import pairwise_error
from rankwise.ridge.leave_out.centred_ridge import CentredRidge, inverse

ROWS = 12


def refitted(X, y, model):
    """The share of pairs misordered by the model fitted without both rows, refitted for each."""
    errors = []
    for i, j in zip(*np.triu_indices(len(y), 1), strict=True):
        rest = np.setdiff1d(np.arange(len(y)), [i, j])
        if y[i] != y[j]:
            errors.append(pairwise_error(y[[i, j]], model.fit(X[rest], y[rest]).predict(X[[i, j]])))
    return np.mean(errors)


@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1e-8])
@pytest.mark.parametrize("n_features", [4, 9, 10, 11, 12, 20])
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_leave_pair_out_is_right_where_labels_are_fitted_exactly(alpha, n_features, solver):
    rng = np.random.default_rng(n_features)
    X = rng.normal(size=(ROWS, n_features))
    y = np.round(X[:, 0] + rng.normal(size=ROWS))
    found = RankRLSCV([alpha], solver=solver, cv="leave-pair-out").fit(X, y).scores_[0, 0]
    assert found == pytest.approx(refitted(X, y, RankRLS(alpha, solver=solver)), abs=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1e-8])
@pytest.mark.filterwarnings("ignore:Rounding errors leave")
def test_leave_pair_out_of_a_kernel_is_right_where_labels_are_fitted_exactly(alpha):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(ROWS, 6))
    y = np.round(X[:, 0] + rng.normal(size=ROWS))
    found = KernelRankRLSCV([alpha], gamma=0.1, cv="leave-pair-out").fit(X, y).scores_[0, 0]
    assert found == pytest.approx(refitted(X, y, KernelRankRLS(alpha, gamma=0.1)), abs=1e-12)


def test_leave_pair_out_ignores_a_feature_that_rounding_may_have_made():
    """As fits do: its singular value is below max(m, n) eps times the largest."""
    rng = np.random.default_rng(2)
    lone, plain, tiny = np.eye(200, 1)[:, 0], rng.normal(size=200), rng.normal(size=200)
    without = np.column_stack([lone, plain])
    X, y = np.column_stack([without, 1e-14 * tiny]), np.round(tiny)
    assert np.linalg.norm(RankRLS(0.0).fit(X, y).coef_) < 10.0
    found, expected = (RankRLSCV([0.0], cv="leave-pair-out").fit(rows, y).scores_ for rows in (X, without))
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("n_close", [0, 1, 5])
def test_a_single_row_that_is_fitted_exactly_costs_digits(n_close):
    """Each of some rows has a feature of its own, which leaves nothing of its residual."""
    weight, rows = np.ones(8), np.zeros((n_close, 8))
    for i in range(n_close):
        rows[i, i] = np.sqrt(1.0 - 1.0 / 8.0)
    ridge = CentredRidge(rows, weight, 0.0)
    np.testing.assert_allclose(ridge.free[:n_close], 0.0, atol=1e-15)
    assert ridge.loses_digits == (n_close > 0)


def test_a_weight_of_zero_has_an_inverse_of_zero():
    np.testing.assert_array_equal(inverse(np.array([0.0, 2.0, 0.5])), [0.0, 0.5, 2.0])
