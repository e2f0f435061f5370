"""The kernels of RankSVMPath: named, functions or matrices; invalid ones are rejected."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from graded_queries import toy
from rankwise import DataError, KernelRankRLS, RankSVMPath
from rankwise.operators.kernel import Kernel


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_kernels_come_by_name_as_a_function_and_precomputed(kernel):
    X, y, qid = toy(n=30)
    named = RankSVMPath(kernel=kernel, gamma=0.3).fit(X, y, qid)
    function = named.model_.function.kernel
    called = RankSVMPath(kernel=lambda A, B: function(A, B)).fit(X, y, qid)
    given = RankSVMPath(kernel="precomputed").fit(function(X, X), y, qid)
    sparse_rows = RankSVMPath(kernel=kernel, gamma=0.3).fit(sparse.csr_matrix(X), y, qid)
    for other, rows in ((called, X), (given, function(X, X)), (sparse_rows, sparse.csr_matrix(X))):
        np.testing.assert_allclose(other.predict(rows, alpha=0.02), named.predict(X, alpha=0.02), atol=1e-8)


def test_a_kernel_function_may_return_a_sparse_matrix():
    X, y, qid = toy(n=30)
    rows = sparse.csr_matrix(X)
    model = RankSVMPath(kernel=lambda A, B: A @ B.T).fit(rows, y, qid)
    named = RankSVMPath(kernel="linear").fit(rows, y, qid)
    np.testing.assert_allclose(model.predict(rows), named.predict(rows), atol=1e-9)


@pytest.mark.parametrize(
    "kernel, message",
    [
        (lambda A, B: "much", "The return value of the kernel function must hold numbers: could not convert"),
        (lambda A, B: np.zeros((len(A), len(B))), "nothing to learn"),
        (lambda A, B: -A @ B.T, "The kernel function must be positive semi-definite"),
        (
            lambda A, B: np.arange(len(A) * len(B)).reshape(len(A), -1),
            "The kernel function must be symmetric",
        ),
        (lambda A, B: A, r"one value per pair of rows, shape \(12, 12\); got shape \(12, 3\)"),
    ],
)
def test_a_function_that_is_no_kernel_is_refused(kernel, message):
    X, y, qid = toy(n=12)
    with pytest.raises(DataError, match=message):
        RankSVMPath(kernel=kernel).fit(X, y, qid)


@pytest.mark.parametrize("graph", ["full", "reduced"])
def test_a_kernel_in_single_precision_is_one(graph):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = np.round(X[:, 0] + 0.5 * rng.normal(size=200))
    rounded = (X @ X.T).astype(np.float32)
    assert np.linalg.eigvalsh(rounded.astype(np.float64))[0] < -1e-6
    # Products in another order may differ by one unit in the last place.
    skewed = np.where(rng.random((200, 200)) < 0.5, np.nextafter(rounded, np.float32(0)), rounded)
    model = RankSVMPath(kernel="precomputed", graph=graph).fit(skewed, y)
    assert model.violation_.max() < 1e-10


def test_an_indefinite_kernel_is_refused_with_its_eigenvalue():
    X, y, qid = toy(n=12)
    K = X @ X.T - 2 * np.eye(12)
    with pytest.raises(DataError, match="smallest eigenvalue is -2"):
        RankSVMPath(kernel="precomputed").fit(K, y, qid)


@pytest.mark.parametrize(
    "model",
    [RankSVMPath(graph="reduced"), KernelRankRLS(), KernelRankRLS(basis=5), KernelRankRLS(solver="cg")],
    ids=["path", "all rows", "basis", "cg"],
)
def test_features_too_far_apart_for_the_kernel_are_noticed(model):
    X, y, qid = toy()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.fit(X, y, qid)
    with pytest.warns(UserWarning, match="scale the features, or choose a smaller gamma"):
        model.fit(1000 * X, y, qid)


@pytest.mark.parametrize("fit", ["labels", "preferences"])
def test_too_many_rows_are_refused_before_the_kernel_matrix_is_made(fit, monkeypatch):
    X, y, qid = toy()
    monkeypatch.setattr("rankwise.operators.kernel.MAX_MATRIX_BYTES", 8 * len(y) ** 2 - 1)
    monkeypatch.setattr(Kernel, "__call__", lambda *_: pytest.fail("the kernel matrix was made"))
    with pytest.raises(DataError, match=f"at most {len(y) - 1} rows are supported. Use KernelRankRLS"):
        if fit == "labels":
            RankSVMPath(kernel="linear", graph="reduced").fit(X, y, qid)
        else:
            RankSVMPath(kernel="linear").fit_preferences(X, [[0, 1], [2, 3]])
