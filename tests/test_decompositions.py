"""Tridiagonal forms and spectra solve the same systems, and how many of them a fit takes."""

import numpy as np
import pytest
from scipy.linalg import block_diag, cython_blas, cython_lapack

from graded_queries import ranking
from rankwise import KernelRankRLSCV, RankRLS, RankRLSCV, _native
from rankwise.ridge import spectrum, tridiagonal
from rankwise.ridge.leave_out import leave_query_out, left_out_systems
from rankwise.ridge.spectrum import RidgeSystem

ALPHAS = 10.0 ** np.arange(-2, 3)


def system_of(size, n_targets=()):
    rng = np.random.default_rng(size)
    Z = rng.normal(size=(2 * size + 3, size))
    return RidgeSystem(Z.T @ Z, rng.normal(size=(size, *n_targets)))


@pytest.mark.parametrize("size", [1, 2, 3, 20, 70])
@pytest.mark.parametrize("kind", ["tridiagonal", "spectrum"])
def test_a_decomposition_gives_back_the_matrix_and_its_inverse(size, kind):
    system = system_of(size)
    found = getattr(system, kind)
    Q, identity = found.basis, np.eye(size)
    np.testing.assert_allclose(Q.T @ Q, identity, atol=1e-12)
    np.testing.assert_allclose(found.times_middle(Q) @ Q.T, system.matrix, atol=1e-12 * system.matrix.max())
    np.testing.assert_allclose(found.from_basis(identity), Q, atol=1e-14)
    inverse = np.linalg.inv(system.matrix + 0.5 * identity)
    half = found.half_inverse(Q.T, 0.5)
    np.testing.assert_allclose(half.T @ half, inverse, atol=1e-12)
    R, complement = found.smoother(0.5)
    smoother = identity - R.T @ R if complement else R.T @ R
    np.testing.assert_allclose(smoother, system.matrix @ inverse, atol=1e-12)
    np.testing.assert_allclose(found.extremes, np.linalg.eigvalsh(system.matrix)[[0, -1]], rtol=1e-12)


def test_the_extremes_of_eigenvalues_that_only_rounding_tells_apart_are_found():
    """An rbf kernel between rows far from each other has such; LAPACK's bisection may not find them."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        d, e = 1.0 - 2.0**-52 * rng.integers(0, 8, 60), 2.0**-52 * rng.normal(size=59)
        form = tridiagonal.Tridiagonal(d, e, np.ones(60), np.zeros((59, 59)), np.zeros(59))
        np.testing.assert_allclose(form.extremes, 1.0, rtol=1e-12)


def test_without_an_alpha_what_has_no_eigenvalue_is_not_fitted():
    Z = np.random.default_rng(0).normal(size=(3, 5))
    R, complement = RidgeSystem(Z.T @ Z, np.ones(5)).spectrum.smoother(0.0)
    assert not complement
    np.testing.assert_allclose(R.T @ R, np.linalg.pinv(Z) @ Z, atol=1e-12)


def test_a_matrix_of_zeros_is_well_conditioned():
    assert spectrum.condition(np.zeros(3), 1.0, of_root=False) == 1.0


def test_a_matrix_of_blocks_that_share_no_feature_is_given_back_too():
    matrix = block_diag(system_of(3).matrix, system_of(4).matrix)
    found = RidgeSystem(matrix, np.ones(7)).tridiagonal
    assert (found.off_diagonal == 0.0).any()
    np.testing.assert_allclose(found.times_middle(found.basis) @ found.basis.T, matrix, atol=1e-12)


@pytest.mark.parametrize("n_targets", [(), (3,)])
def test_all_alphas_solve_their_systems(n_targets):
    system = system_of(20, n_targets)
    expected = [np.linalg.solve(system.matrix + alpha * np.eye(20), system.right) for alpha in ALPHAS]
    for found in (system.tridiagonal, system.spectrum):
        np.testing.assert_allclose(found.solve_all(ALPHAS), expected, rtol=1e-11)
        np.testing.assert_allclose(found.solve(ALPHAS[0]), expected[0], rtol=1e-11)


def test_the_tridiagonal_form_serves_only_alphas_above_the_rounding_errors():
    Z = np.random.default_rng(0).normal(size=(5, 8))
    system = RidgeSystem(Z.T @ Z, Z.T @ np.ones(5))
    assert system.decomposition(1e-3) is system.tridiagonal
    assert system.decomposition(1e-12) is system.spectrum
    np.testing.assert_allclose(system.spectrum.solve(0.0), np.linalg.pinv(Z) @ np.ones(5), atol=1e-12)


@pytest.fixture
def calls(monkeypatch):
    """The names of the decompositions and kernels called."""
    seen = []

    def count(place, name):
        original = getattr(place, name)

        def counted(*arguments, **options):
            seen.append(name)
            return original(*arguments, **options)

        monkeypatch.setattr(place, name, counted)

    count(tridiagonal.linalg.lapack, "dsytrd")
    count(spectrum.linalg, "eigh_tridiagonal")
    count(spectrum.linalg, "svd")
    count(left_out_systems, "left_out_systems")
    count(leave_query_out, "left_out_blocks")
    return seen


@pytest.mark.parametrize(
    "model, n_queries, kernel",
    [
        (RankRLSCV(ALPHAS), 3, "left_out_systems"),
        (RankRLSCV(ALPHAS), 30, "left_out_blocks"),
        (KernelRankRLSCV(ALPHAS), 10, "left_out_blocks"),
    ],
)
def test_leave_query_out_takes_one_tridiagonal_form_and_one_call_of_a_kernel(model, n_queries, kernel, calls):
    model.fit(*ranking(m=90, n=12, n_queries=n_queries))
    assert calls == ["dsytrd", kernel]


def test_alphas_solved_one_by_one_share_a_tridiagonal_form(calls):
    model = RankRLS().fit(*ranking())
    for alpha in ALPHAS:
        model.with_alpha(alpha)
    assert calls == ["dsytrd"]


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_one_alpha_takes_no_decomposition(solver, calls):
    RankRLS(1.0, solver=solver).fit(*ranking())
    assert calls == []


def test_another_signature_of_lapack_is_refused():
    lapack, blas = dict(cython_lapack.__pyx_capi__), dict(cython_blas.__pyx_capi__)
    for broken in (lapack | {"dpotrf": lapack["dpotrs"]}, {}):
        with pytest.raises(RuntimeError, match="SciPy's dpotrf does not have the signature void"):
            _native.Lapack(broken, blas)
