"""Kernel RankRLS: all rows, basis vectors, precomputed kernels and invalid input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

import rankwise
from all_pairs import pair_laplacian
from rankwise import DataError, KernelRankRLS, KernelRankRLSCV, ParameterError, RankRLS
from rankwise.operators import kernel as kernels
from rankwise.ridge.digits import _rounding

WEIGHTINGS = ["example", "pair", "query"]


def ranking(m=50, n=6, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, n)), rng.integers(0, 3, m).astype(float), rng.integers(0, 5, m)


@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_dual_coefficients_are_equation_8(ties, weighting):
    X, y, qid = ranking()
    L, K = pair_laplacian(y, qid, ties=ties, weighting=weighting), rbf_kernel(X, gamma=0.2)
    expected = np.linalg.solve(L @ K + 0.3 * np.eye(50), L @ y)
    model = KernelRankRLS(alpha=0.3, gamma=0.2, ties=ties, weighting=weighting).fit(X, y, qid)
    np.testing.assert_allclose(model.dual_coef_, expected, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(model.predict(X), K @ expected, rtol=1e-8)


@pytest.mark.parametrize("ties", ["keep", "drop"])
def test_basis_vectors_solve_equation_8_of_paper_b(ties):
    X, y, qid = ranking()
    basis = np.array([3, 40, 11, 7, 22])
    L, K = pair_laplacian(y, qid, ties=ties, weighting="pair"), rbf_kernel(X, gamma=0.2)
    K_MR, K_RR = K[:, basis], K[np.ix_(basis, basis)]
    expected = np.linalg.solve(K_MR.T @ L @ K_MR + 0.3 * K_RR, K_MR.T @ L @ y)
    model = KernelRankRLS(alpha=0.3, gamma=0.2, ties=ties, weighting="pair", basis=basis).fit(X, y, qid)
    by_row = dict(zip(model.basis_indices_, model.dual_coef_, strict=True))
    np.testing.assert_allclose([by_row[row] for row in basis], expected, rtol=1e-8)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_primal_dual_and_sparse_with_all_basis_vectors_are_one_model(weighting, storage):
    X, y, qid = ranking()
    rows = storage(X)
    expected = RankRLS(alpha=0.3, weighting=weighting).fit(rows, y, qid).predict(rows)
    for basis in (None, 50, np.arange(50)):
        model = KernelRankRLS(alpha=0.3, kernel="linear", weighting=weighting, basis=basis).fit(rows, y, qid)
        scores = model.predict(rows)
        np.testing.assert_allclose(scores - scores.mean(), expected - expected.mean(), rtol=1e-8, atol=1e-10)
        assert model.rank_ == (50 if basis is None else 6)


def test_basis_vectors_that_others_span_are_left_out_and_counted():
    X, y, qid = ranking()
    X[20:30] = X[:10]
    basis = np.concatenate([np.arange(10), np.arange(20, 30)])
    doubled = KernelRankRLS(alpha=0.1, basis=basis).fit(X, y, qid)
    once = KernelRankRLS(alpha=0.1, basis=np.arange(10)).fit(X, y, qid)
    assert doubled.rank_ == 10
    assert len(doubled.basis_) == 10
    np.testing.assert_allclose(doubled.predict(X), once.predict(X), rtol=1e-8)


@pytest.mark.parametrize("basis", [None, 20])
def test_precomputed_and_callable_kernels_equal_the_named_one(basis):
    X, y, qid = ranking()
    T = ranking(seed=2)[0]

    def poly(A, B):
        return polynomial_kernel(A, B, degree=2, gamma=0.5, coef0=1)

    named = KernelRankRLS(kernel="polynomial", degree=2, gamma=0.5, basis=basis, random_state=0)
    expected = named.fit(X, y, qid).predict(T)
    called = KernelRankRLS(kernel=poly, basis=basis, random_state=0).fit(X, y, qid)
    np.testing.assert_allclose(called.predict(T), expected, rtol=1e-8)
    given = KernelRankRLS(kernel="precomputed", basis=basis, random_state=0).fit(poly(X, X), y, qid)
    np.testing.assert_allclose(given.predict(poly(T, X)), expected, rtol=1e-8)


def test_features_far_from_zero_keep_the_digits_of_the_rbf_kernel():
    X, y, qid = ranking()
    near = np.round(64 * X) / 64
    far = near + 2.0**30
    expected = KernelRankRLS(alpha=0.1).fit(near, y, qid).predict(near)
    np.testing.assert_allclose(KernelRankRLS(alpha=0.1).fit(far, y, qid).predict(far), expected, rtol=1e-9)


def test_every_row_is_the_nearest_to_itself_however_far_rows_are_apart():
    X = 1e8 * np.random.default_rng(0).normal(size=(20, 3))
    rbf = kernels.Kernel(kernels.KernelName.RBF)
    np.testing.assert_array_equal(rbf(X, X), np.eye(20))
    assert rbf(X, X.copy()).max() == 1.0


def test_equal_rows_have_equal_scores_wherever_they_stand():
    X, y, qid = ranking()
    # Products of these are exact, so only sums of kernel values are rounded.
    whole = np.round(X)
    model = KernelRankRLS(kernel="linear").fit(whole, y, qid)
    for m in range(2, 40):
        assert len(set(model.predict(np.tile(whole[0], (m, 1))))) == 1


def test_prediction_streams_in_blocks(monkeypatch):
    X, y, qid = ranking()
    model = KernelRankRLS().fit(X, y, qid)
    T = ranking(m=1000, seed=2)[0]
    expected = model.predict(T)
    sizes = []

    def spied(self, A, B):
        sizes.append(A.shape[0])
        return rbf_kernel(A, B, gamma=self.gamma)

    monkeypatch.setitem(kernels._NAMED, kernels.KernelName.RBF, spied)
    monkeypatch.setattr(kernels, "BLOCK_BYTES", 8 * 50 * 100)
    np.testing.assert_allclose(model.predict(T), expected)
    assert max(sizes) == 100


def test_with_alpha_pairs_and_several_targets_work_on_kernels_too():
    X, y, qid = ranking()
    Y = np.column_stack([y, -y, y**2])
    for basis in (None, 20):
        options = {"basis": basis, "random_state": 0, "ties": "drop"}
        model = KernelRankRLS(alpha=1.0, **options).fit(X, Y, qid)
        assert model.predict(X).shape == (50, 3)
        again = KernelRankRLS(alpha=0.1, **options).fit(X, Y, qid)
        np.testing.assert_allclose(model.with_alpha(0.1).predict(X), again.predict(X), rtol=1e-7)
        i, j = np.triu_indices(50, 1)
        together = (qid[i] == qid[j]) & (y[i] != y[j])
        pairs, magnitude = np.column_stack([i, j])[together], (y[i] - y[j])[together]
        by_pairs = KernelRankRLS(**options).fit_preferences(X, pairs, magnitude)
        by_scores = KernelRankRLS(weighting="pair", **options).fit(X, y, qid)
        np.testing.assert_allclose(by_pairs.predict(X), by_scores.predict(X), rtol=1e-8)


def test_explanation_sums_over_training_rows():
    X, y, qid = ranking()
    model = KernelRankRLS(basis=10, random_state=0).fit(X, y, qid)
    why, scores = model.explain(X, 0, 1), model.predict(X)
    assert why.difference == pytest.approx(scores[0] - scores[1], rel=1e-9)
    assert set(why.names) == {f"training row {row}" for row in model.basis_indices_}


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_saved_model_predicts_the_same(tmp_path, kernel):
    X, y, qid = ranking()
    rows = X if kernel == "rbf" else X @ X.T
    model = KernelRankRLS(kernel=kernel, basis=10, random_state=0).fit(rows, y, qid)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(rankwise.load_model(tmp_path / "model").predict(rows), model.predict(rows))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"basis": 51}, "'basis' parameter must be between 1 and 50 rows; got 51"),
        ({"basis": 0}, "'basis' parameter must be between 1 and 50 rows; got 0"),
        ({"basis": [1, 2, 1]}, "'basis' parameter must not repeat rows; got 1 more than once"),
        ({"basis": [1, 50]}, "'basis' parameter must contain rows 0 to 49; got 50"),
        ({"basis": "most"}, "'basis' parameter must be None, an int or an array of row numbers; got 'most'"),
        (
            {"kernel": "cosine"},
            "'kernel' parameter must be one of 'linear', 'polynomial', 'rbf', 'precomputed'",
        ),
        ({"gamma": -1.0}, "'gamma' parameter must be a finite number of at least 0; got -1.0"),
        ({"kernel": "polynomial", "degree": 2.5}, "'degree' parameter must be an integer.*; got 2.5"),
        ({"alpha": "x"}, "'alpha' parameter must be a finite number of at least 0; got 'x'"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ParameterError, match=message):
        KernelRankRLS(**options).fit(*ranking())


def test_bad_kernel_matrices_are_named_with_their_fault():
    X, y, qid = ranking()
    K = X @ X.T

    def fit(K, basis=None):
        KernelRankRLS(kernel="precomputed", basis=basis).fit(K, y, qid)

    with pytest.raises(DataError, match=r"square matrix .* got shape \(50, 49\)"):
        fit(K[:, :49])
    skewed = K.copy()
    skewed[3, 7] += 1.0
    with pytest.raises(DataError, match=r"must be symmetric; its values at \(3, 7\) and \(7, 3\) are"):
        fit(skewed)
    with pytest.raises(DataError, match="positive semi-definite; its smallest eigenvalue is -"):
        fit(K - 5.0 * np.eye(50))
    with pytest.raises(DataError, match="positive semi-definite"):
        fit(K - 5.0 * np.eye(50), basis=20)
    with pytest.raises(DataError, match=r"one value per pair of rows, shape \(50, 50\); got shape \(50,\)"):
        KernelRankRLS(kernel=lambda A, B: np.ones(len(A))).fit(X, y, qid)


def test_a_kernel_matrix_that_does_not_fit_is_refused_with_a_way_out(monkeypatch):
    X, y, qid = ranking()
    monkeypatch.setattr(kernels, "MAX_MATRIX_BYTES", 8 * len(y) ** 2 - 1)
    with pytest.raises(DataError, match="Use KernelRankRLS with basis vectors or solver='cg'"):
        KernelRankRLS(solver="closed").fit(X, y, qid)


@pytest.mark.parametrize("ranker", [KernelRankRLS, KernelRankRLSCV], ids=lambda ranker: ranker.__name__)
def test_a_model_on_basis_vectors_never_holds_the_features_of_all_rows(ranker):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(6000, 3)), np.arange(6000) // 50
    sizes = []

    def kernel(A, B):
        sizes.append(len(A) * len(B))
        return np.exp(-np.square(A[:, None] - B).sum(axis=2))

    ranker(kernel=kernel, basis=100, random_state=0).fit(X, X[:, 0] + rng.normal(size=6000), qid)
    assert sum(sizes) >= 6000 * 100
    assert max(sizes) * 8 <= 2**20


def test_a_kernel_matrix_may_take_two_gigabytes():
    kernels.check_kernel_fits(16_384)
    with pytest.raises(DataError, match=r"16,385 rows \(2\.0 GB\).*at most 16,384 rows"):
        kernels.check_kernel_fits(16_385)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_the_rounding_of_an_rbf_kernel_does_not_depend_on_the_unit_of_measurement(unit):
    rows = 5.0 * ranking()[0]
    kernel = kernels.Kernel(kernels.KernelName.RBF, gamma=0.01)
    rescaled = kernels.Kernel(kernels.KernelName.RBF, gamma=0.01 / unit**2)
    assert _rounding(rescaled, unit * rows) == pytest.approx(_rounding(kernel, rows), rel=1e-9)
    assert _rounding(kernel, rows) > 2.0 * np.finfo(np.float64).eps
