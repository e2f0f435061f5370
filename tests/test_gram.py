"""X'LX and the triangular factor of FX do not depend on how rows are split into blocks."""

import numpy as np
import pytest
from scipy import sparse

from all_pairs import pair_laplacian
from rankwise._native import centred_rows
from rankwise.operators import blocks, gram
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.pair_differences import PairDifferences, StackedDifferences
from rankwise.preferences.queries import group_rows
from rankwise.types import Ties, Weighting

M, N = 400, 5


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    # One query, like some of its levels, is larger than a block of 64 rows; the others are small.
    qid = np.concatenate([np.zeros(250, int), rng.integers(1, 8, M - 250)])
    order = rng.permutation(M)
    X = rng.normal(size=(M, N)) + 100.0
    return X[order], rng.integers(0, 3, M).astype(float)[order], qid[order], rng.uniform(0, 2, M)


@pytest.mark.parametrize("block_bytes", [1, 1 << 22])
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighting", Weighting)
@pytest.mark.parametrize("storage", [np.asarray, np.float32, sparse.csr_array, "by sparse products"])
def test_system_equals_explicit_pairs(rows, monkeypatch, block_bytes, ties, weighting, storage):
    X, y, qid, weight = rows
    monkeypatch.setattr(blocks, "BLOCK_BYTES", block_bytes)
    F = QueryDifferences(group_rows(qid, M), y, ties=ties, weighting=weighting, row_weight=weight)
    L = pair_laplacian(y, qid, ties=ties, weighting=weighting, weight=weight)
    by_sparse_products = storage == "by sparse products"
    if by_sparse_products:
        storage = sparse.csr_array
        monkeypatch.setattr(gram, "SPARSE_GRAM_COST", 0.0)
    given = storage(X)
    exact = np.asarray(given.toarray() if sparse.issparse(given) else given, dtype=float)
    centred = exact - exact.mean(axis=0)
    A, b = gram.difference_system(given, F, F.apply(y))
    near = {"rtol": 1e-6 if by_sparse_products else 1e-9, "atol": 1e-8 * np.abs(L).max() * M}
    np.testing.assert_allclose(A, centred.T @ L @ centred, **near)
    np.testing.assert_allclose(b, centred.T @ L @ y, **near)


@pytest.mark.parametrize("block_bytes", [1, 1 << 22])
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_triangle_is_that_of_all_differences_together(rows, monkeypatch, block_bytes, ties, storage):
    X, y, qid, weight = rows
    monkeypatch.setattr(blocks, "BLOCK_BYTES", block_bytes)
    scores = QueryDifferences(group_rows(qid, M), y, ties=ties, row_weight=weight)
    rng = np.random.default_rng(1)
    pairs = PairDifferences(M, rng.integers(0, 200, 150), rng.integers(200, M, 150), rng.uniform(0, 2, 150))
    F = StackedDifferences([scores, pairs])
    t = np.concatenate([scores.apply(y), np.ones(150)])
    R, projected = gram.difference_factor(storage(X), F, t)
    FX = F.apply(X - X.mean(axis=0))
    np.testing.assert_allclose(R.T @ R, FX.T @ FX, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(R.T @ projected, FX.T @ t, rtol=1e-9, atol=1e-9)
    A, b = gram.difference_system(storage(X), F, t)
    np.testing.assert_allclose(A, FX.T @ FX, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(b, FX.T @ t, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_queries", [1, 2, 300])
@pytest.mark.parametrize("ties", Ties)
def test_sparse_rows_whose_sums_are_dense_give_the_same_system(ties, n_queries):
    rng = np.random.default_rng(0)
    X = sparse.random_array((600, 400), density=0.005, rng=rng, format="csr")
    qid, y = np.arange(600) % n_queries, rng.integers(0, 3, 600).astype(float)
    F = QueryDifferences(group_rows(qid, 600), y, ties=ties)
    assert gram._is_cheaper_sparse(X)
    A, b = gram.difference_system(X, F, F.apply(y))
    expected_A, expected_b = gram.difference_system(X.toarray(), F, F.apply(y))
    np.testing.assert_allclose(A, expected_A, atol=1e-10)
    np.testing.assert_allclose(b, expected_b, atol=1e-10)


@pytest.mark.parametrize("size", [31, 32, 33, 63, 64, 65, 128, 129])
@pytest.mark.parametrize("ties", Ties)
def test_blocks_that_queries_or_levels_fill_exactly_hold_the_same_differences(monkeypatch, ties, size):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)  # 64 rows
    rng = np.random.default_rng(size)
    X = rng.normal(size=(4 * size, 3))
    for n_queries, n_levels in ((4, 2), (1, 4)):
        qid, y = np.arange(len(X)) % n_queries, np.arange(len(X)) // n_queries % n_levels
        F = QueryDifferences(group_rows(qid, len(X)), y.astype(float), ties=ties)
        Z = np.full((F.n_differences, 3), np.nan)
        for block, place in blocks.difference_blocks(F, X):
            assert place.stop - place.start <= 64
            Z[place] = block
        np.testing.assert_allclose(Z, F.apply(X), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_centred_rows_have_the_same_bits_for_any_number_of_threads(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 7)).astype(dtype)
    offsets = np.concatenate([[0], np.sort(rng.choice(np.arange(1, 5000), 300, replace=False)), [5000]])
    row, weight, scale = rng.permutation(5000), rng.uniform(size=5000), rng.uniform(size=5000)
    for mean in (None, X.mean(axis=0).astype(np.float64)):
        out = [np.empty((5000, 7)) for _ in range(3)]
        for k in range(3):
            centred_rows(X, row, offsets, weight, scale, mean, out[k], k + 1)
        np.testing.assert_array_equal(out[0], out[1])
        np.testing.assert_array_equal(out[0], out[2])
    with pytest.raises(TypeError):
        centred_rows(X.astype(int), row, offsets, weight, scale, None, out[0], 1)


@pytest.mark.parametrize("ties", Ties)
def test_system_has_the_same_bits_for_any_number_of_threads(rows, monkeypatch, ties):
    X, y, qid, weight = rows
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)
    F = QueryDifferences(group_rows(qid, M), y, ties=ties, row_weight=weight)
    systems = []
    for n_threads in "123":
        monkeypatch.setenv("RANKWISE_NUM_THREADS", n_threads)
        systems.append(gram.difference_system(X, F, F.apply(y)))
    for A, b in systems[1:]:
        np.testing.assert_array_equal(A, systems[0][0])
        np.testing.assert_array_equal(b, systems[0][1])


def test_products_of_barely_sparse_rows_are_those_of_all_rows():
    Z = sparse.random_array((300, 40), density=0.5, rng=np.random.default_rng(0), format="csr")
    assert not gram._is_cheaper_sparse(Z)
    np.testing.assert_allclose(gram._gram(Z), Z.toarray().T @ Z.toarray(), rtol=1e-12)
