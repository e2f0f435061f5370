"""Pages are given back of maps that this library opened, and of nothing else."""

import copy
import mmap
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rankwise import RankingData, RankRLS, RankSVM, _native, open_store, save_store
from rankwise.mapped import blocks_of, is_mapped, is_on_disk, rows_at

M, N = 3000, 50  # many pages


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(M, N)), rng.normal(size=M), np.arange(M) // 20


def private_map(tmp_path, X):
    """The user's array: a private map of a file of zeros, written to in memory only."""
    np.save(tmp_path / "X.npy", np.zeros_like(X))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="c")
    mapped[:] = X
    return mapped


def read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


def as_csr(X):
    matrix = sparse.csr_matrix((M, N))
    matrix.data, matrix.indices = read_only(X.reshape(-1)), np.tile(np.arange(N, dtype=np.int32), M)
    matrix.indptr = np.arange(0, M * N + 1, N, dtype=np.int32)
    return matrix


@pytest.mark.parametrize("ranker", [RankRLS(solver="cg"), RankRLS(), RankSVM()], ids=["cg", "closed", "svm"])
@pytest.mark.parametrize(
    "view",
    [
        read_only,
        lambda X: pd.DataFrame(X, copy=False),
        lambda X: read_only(np.asarray(X)),
        lambda X: read_only(X[10:]),
        as_csr,
    ],
    ids=["map", "pandas", "array", "slice", "csr"],
)
def test_fitting_leaves_a_private_map_of_the_user_as_it_was(tmp_path, rows, view, ranker):
    X, y, qid = rows
    mapped = private_map(tmp_path, X)
    given = view(mapped)
    first = M - given.shape[0]
    model = ranker.fit(given, y[first:], qid[first:])
    np.testing.assert_array_equal(mapped, X)
    in_memory = view(X.copy())
    np.testing.assert_array_equal(
        model.predict(given), ranker.fit(in_memory, y[first:], qid[first:]).predict(given)
    )


def test_indices_in_memory_beside_values_of_a_store_are_left_as_they_were(tmp_path, rows):
    X, y, qid = rows
    save_store(RankingData.from_arrays(sparse.csr_matrix(X), y, qid), tmp_path / "store")
    stored = open_store(tmp_path / "store").X
    mixed = stored.copy()
    mixed.data = stored.data
    expected = mixed.indices.copy()
    assert not is_on_disk(mixed)
    RankRLS(solver="cg").fit(mixed, y, qid)
    np.testing.assert_array_equal(mixed.indices, expected)


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_a_map_that_the_user_opened_is_an_ordinary_array(tmp_path, rows, mode):
    np.save(tmp_path / "X.npy", rows[0])
    X = read_only(np.load(tmp_path / "X.npy", mmap_mode=mode))
    assert not is_mapped(X)
    assert not is_on_disk(
        sparse.csr_matrix((X.ravel(), np.arange(M * N) % N, np.arange(0, M * N + 1, N)), copy=False)
    )


def test_the_arrays_of_a_store_are_known_through_views(tmp_path, rows):
    save_store(RankingData.from_arrays(*rows), tmp_path / "store")
    X = open_store(tmp_path / "store").X
    views = [
        X,
        X[5:],
        X[:, 3],
        X.T,
        np.asarray(X),
        X.reshape(-1),
        X.view(np.ndarray),
        pd.DataFrame(X, copy=False).to_numpy(),
    ]
    assert all(is_mapped(view) for view in views)
    copies = [X.copy(), X + 0.0, X[[1, 2]], np.array(X), copy.deepcopy(X), pickle.loads(pickle.dumps(X))]
    assert not any(is_mapped(array) for array in copies)


def test_a_copy_made_to_read_blocks_in_order_is_no_map(tmp_path, rows, monkeypatch):
    """Blocks of columns, of a reversed or of a thinned array, are the entries in C order all the same."""
    monkeypatch.setattr("rankwise.mapped.BLOCK_BYTES", 1 << 16)
    save_store(RankingData.from_arrays(*rows), tmp_path / "store")
    X = open_store(tmp_path / "store").X
    for view in (X.T, X[::-1], X[::-1, :1], X[:, ::2], X.reshape(-1)[::-1], X.reshape(-1)[::3]):
        blocks = list(blocks_of(view))
        np.testing.assert_array_equal(np.concatenate(blocks), np.array(view).reshape(-1))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, released pages may keep their content")
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_a_pass_gives_back_the_pages_of_its_rows_and_no_others(kind):
    """Released pages of a private map without a file read as zeros."""
    n_rows, n_columns = 20_000, 64
    size = n_rows * n_columns
    memory = np.frombuffer(mmap.mmap(-1, 8 * 3 * size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    memory[:] = 1.0
    values = memory[size : 2 * size]
    if kind == "dense":
        matrix = _native.dense_rows(values.reshape(n_rows, n_columns), None, True)
    else:
        offsets = np.arange(0, size + 1, n_columns)
        matrix = _native.sparse_rows(offsets, np.tile(np.arange(n_columns), n_rows), values, n_columns, True)
    scores = np.empty(n_rows)
    _native.scores(matrix, np.ones(n_columns), scores, 1)
    np.testing.assert_array_equal(scores, n_columns)
    assert (memory[:size] == 1.0).all()
    assert (memory[2 * size :] == 1.0).all()
    assert (values == 0.0).mean() > 0.5  # pages that two chunks share stay


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_rows_from_all_over_a_store_are_those_of_memory_and_their_pages_are_released(
    tmp_path, rows, kind, monkeypatch
):
    X, y, qid = rows
    X = kind(X)
    save_store(RankingData.from_arrays(X, y, qid), tmp_path / "store")
    given_back = []
    monkeypatch.setattr(_native, "give_back_pages", given_back.append)
    index = np.arange(0, M, 7)
    found = rows_at(open_store(tmp_path / "store").X, index)
    assert len(given_back) >= len(index) // 128
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, dense_of(X[index]))
    assert not is_on_disk(found)


def dense_of(X):
    return X.toarray() if sparse.issparse(X) else X
