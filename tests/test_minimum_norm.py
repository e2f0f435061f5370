"""RankRLS without regularization, on rows that do not determine all weights, against 60-digit arithmetic."""

import numpy as np
import pytest
from scipy import sparse

from in_parts import in_parts
from rankwise import RankingData, RankRLS
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.types import Ties
from sixty_digits import rounded
from stressed import exact_weights

QID = np.repeat([0, 1, 2, 3], 5)
ONE = np.zeros(20, dtype=int)


def _offset(rng, by):
    X = rng.normal(size=(20, 28))
    X[:, :3] += by
    return X


def _one_hot_and_year(rng):
    kinds = [np.eye(k)[rng.integers(0, k, 20)] for k in (4, 3)]
    return np.column_stack([*kinds, rng.integers(2010, 2025, 20), rng.normal(size=(20, 3))])


def _constant_in_queries(rng):
    X = _offset(rng, 1e5)
    X[:, 3], X[:, 4] = 1e9 + 1e6 * QID, 1e9 / 3
    return X


def _equal_rows(rng):
    X = _offset(rng, 1e5)
    X[5:10] = X[5]
    return X


KINDS = {
    "near zero": lambda rng: _offset(rng, 0.0),
    "near": lambda rng: _offset(rng, 90.0),
    "offset 1e3": lambda rng: _offset(rng, 1e3),
    "offset 1e9": lambda rng: _offset(rng, 1e9),
    "square": lambda rng: _offset(rng, 1e3)[:, :20],
    "one-hot columns and a year": _one_hot_and_year,
    "constant in queries": _constant_in_queries,
    "a query of equal rows": _equal_rows,
    "float32": lambda rng: _offset(rng, 1e3).astype(np.float32),
}


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("kind", KINDS)
def test_alpha_zero_gives_the_smallest_weights_wherever_features_lie(kind, solver):
    rng = np.random.default_rng(0)
    X, y, weight = KINDS[kind](rng), rng.integers(0, 4, 20).astype(float), rng.uniform(0.1, 3.0, 20)
    for qid, ties, given in [(ONE, "keep", None), (QID, "keep", weight), (QID, "drop", weight)]:
        exact = rounded(exact_weights(X, y, qid, 0.0, ties, weight=given))
        model = RankRLS(alpha=0.0, solver=solver, ties=ties)
        for storage in (np.asarray, sparse.csr_array):
            found = model.fit(storage(X), y, qid, sample_weight=given).coef_
            np.testing.assert_allclose(found, exact, rtol=0, atol=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("n_parts", [1, 3])  # of whole queries, and of split ones
def test_parts_give_the_smallest_weights_wherever_features_lie(n_parts):
    rng = np.random.default_rng(1)
    X, y = _offset(rng, 1e6), rng.integers(0, 4, 20).astype(float)
    model = RankRLS(alpha=0.0).fit(in_parts(RankingData.from_arrays(X, y, QID), n_parts))
    exact = rounded(exact_weights(X, y, QID, 0.0))
    np.testing.assert_allclose(model.coef_, exact, rtol=0, atol=1e-9 * np.abs(exact).max())


def test_labels_and_pairs_together_give_the_smallest_weights_wherever_features_lie():
    rng = np.random.default_rng(2)
    X, y = _offset(rng, 1e6), rng.integers(0, 4, 20).astype(float)
    pairs = np.array([(i, j) for i in range(20) for j in range(i) if QID[i] == QID[j]])
    model = RankRLS(alpha=0.0, solver="primal", weighting="pair")
    model.fit_preferences(X, pairs, magnitude=y[pairs[:, 0]] - y[pairs[:, 1]], y=y, qid=QID)
    exact = rounded(exact_weights(X, y, QID, 0.0))
    np.testing.assert_allclose(model.coef_, exact, rtol=0, atol=1e-9 * np.abs(exact).max())


def test_a_row_without_weight_far_from_the_others_does_not_cost_their_digits():
    rng = np.random.default_rng(3)
    X, y, weight = _offset(rng, 1e5), rng.integers(0, 4, 20).astype(float), np.ones(20)
    X[[0, 5]], weight[[0, 5]] = 1e12, 0.0
    model = RankRLS(alpha=0.0, solver="primal").fit(X, y, QID, sample_weight=weight)
    exact = rounded(exact_weights(X, y, QID, 0.0, weight=weight))
    np.testing.assert_allclose(model.coef_, exact, rtol=0, atol=1e-9 * np.abs(exact).max())


def test_rows_are_measured_from_the_heaviest_of_their_query():
    qid, y = np.array([1, 0, 1, 0, 1]), np.array([2.0, 1.0, 0.0, 2.0, 1.0])
    weight = np.array([1.0, 2.0, 3.0, 2.0, 0.0])
    for ties in Ties:
        differences = QueryDifferences(group_rows(qid, 5), y, ties=ties, row_weight=weight)
        assert differences.heaviest_rows().tolist() == [2, 1, 2, 1, 2]
