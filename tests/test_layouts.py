"""However numbers lie in memory, models and measures are the same to the last bit."""

import numpy as np
import pytest
from scipy import sparse

from rankwise import KernelRankRLS, Moments, RankingData, RankRLS, RankRLSCV, RankSVM, RankSVMPath
from rankwise.metrics import evaluate
from stressed import misaligned


def every_second(array):
    return np.repeat(array, 2, axis=0)[::2]


def from_the_end(array):
    return array[::-1].copy()[::-1]


def other_byte_order(array):
    return array.astype(array.dtype.newbyteorder())


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def packed_field(array):
    records = np.zeros(len(array), dtype=[("flag", "u1"), ("value", array.dtype, array.shape[1:])])
    records["value"] = array
    return records["value"]


LAYOUTS = [
    every_second,
    from_the_end,
    other_byte_order,
    np.asfortranarray,
    read_only,
    misaligned,
    packed_field,
]
RANKERS = [
    RankRLS(),
    RankRLS(solver="cg"),
    RankRLS(solver="dual"),
    RankRLSCV([0.1, 1.0]),
    KernelRankRLS(gamma=0.1),
    KernelRankRLS(gamma=0.1, basis=10, random_state=0),
    RankSVM(0.01),
    RankSVM(0.01, loss="squared_hinge"),
]


def rows(seed=0):
    """X, y, qid and weights."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 5)), np.arange(60) % 3 + 0.5, np.arange(60) // 10, rng.uniform(1.0, 3.0, 60)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_a_layout_changes_no_bit_of_a_model(layout, ranker):
    given = rows()
    expected = ranker.fit(*given).predict(given[0])
    X, *others = map(layout, given)
    np.testing.assert_array_equal(ranker.fit(X, *others).predict(X), expected)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_a_layout_changes_no_bit_of_anything_else(layout):
    def results(X, y, qid, weight, pairs):
        yield RankRLS().fit_preferences(X, pairs, weight[:20], weight[20:40]).coef_
        yield RankSVMPath(gamma=0.1).fit(X, y, qid).predict(X)
        yield Moments.of(X, y, qid, weight).A
        yield list(evaluate(y, weight, qid).means.values())
        yield RankingData.from_arrays(X, y, qid).scale_per_query().X

    given = (*rows(), 59 - np.arange(40).reshape(20, 2))
    for found, expected in zip(results(*map(layout, given)), results(*given), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("layout", [read_only, misaligned], ids=lambda layout: layout.__name__)
def test_a_layout_of_sparse_rows_changes_no_bit(layout):
    X, y, qid, weight = rows()
    X[np.abs(X) < 0.5] = 0.0
    stored = sparse.csr_matrix(X)
    moved = sparse.csr_matrix(X)
    moved.data, moved.indices, moved.indptr = map(layout, (stored.data, stored.indices, stored.indptr))
    for ranker in RANKERS:
        expected = ranker.fit(stored, y, qid, weight).predict(stored)
        np.testing.assert_array_equal(ranker.fit(moved, y, qid, weight).predict(moved), expected)
