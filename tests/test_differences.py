"""F is a square root of the Laplacian of the pairs to compare."""

import numpy as np
import pytest

from all_pairs import pair_laplacian
from rankwise.errors import DataError
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.pair_differences import PairDifferences, StackedDifferences, compacted
from rankwise.preferences.queries import group_rows
from rankwise.types import Ties, Weighting


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    m = 40
    return {
        "y": rng.integers(0, 4, m).astype(float),
        "qid": rng.choice(["a", "b", "c", "d"], m),
        "weight": rng.uniform(0.5, 2.0, m),
    }


@pytest.mark.parametrize("weighting", Weighting)
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighted", [False, True])
def test_laplacian_equals_the_sum_over_explicit_pairs(rows, ties, weighting, weighted):
    weight = rows["weight"] if weighted else None
    queries = group_rows(rows["qid"], len(rows["y"]))
    F = QueryDifferences(queries, rows["y"], ties=ties, weighting=weighting, row_weight=weight)
    expected = pair_laplacian(rows["y"], rows["qid"], ties=ties, weighting=weighting, weight=weight)
    np.testing.assert_allclose(F.laplacian(np.eye(F.n_rows)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("ties", Ties)
def test_adjoint_is_the_transpose_of_apply(rows, ties):
    F = QueryDifferences(group_rows(rows["qid"], 40), rows["y"], ties=ties, row_weight=rows["weight"])
    np.testing.assert_allclose(F.adjoint(np.eye(40)), F.apply(np.eye(40)).T, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 130])
def test_queries_of_equal_labels_have_no_pairs_however_their_weights_round(size):
    weight = np.random.default_rng(size).uniform(0.0, 1.0, 5 * size)
    qid = np.random.default_rng(size).permutation(np.repeat(np.arange(5), size))
    F = QueryDifferences(group_rows(qid, len(qid)), qid * 1.0, ties=Ties.DROP, row_weight=weight)
    assert (F.pair_sum == 0.0).all()
    assert (F.apply(weight) == 0.0).all()


def test_one_query_whose_weights_are_too_small_is_named():
    queries = group_rows(["a", "a", "b", "b", "c", "c"], 6)
    weight = np.array([1.0, 1.0, 0.4, 0.4, 2.0, 2.0])
    with pytest.raises(DataError, match=r"query b sum to 0.8; scale sample_weight"):
        QueryDifferences(queries, np.arange(6.0), weighting=Weighting.QUERY, row_weight=weight)


@pytest.mark.parametrize("seed", range(5))
def test_compacted_differences_are_as_many_as_needed_and_the_same_loss(seed):
    rng = np.random.default_rng(seed)
    # Four groups of 12 rows, which leave one direction each without a pair, and 8 rows in no pair.
    group = 12 * np.repeat(np.arange(4), 60)
    better, worse = group + rng.integers(0, 12, (2, 240))
    F, target = PairDifferences(56, better, worse, rng.uniform(0.5, 2.0, 240)), rng.normal(size=240)
    fewer, fewer_targets = compacted(F, target)
    assert fewer.n_differences == 44
    np.testing.assert_allclose(fewer.laplacian(np.eye(56)), F.laplacian(np.eye(56)), atol=1e-10)
    np.testing.assert_allclose(fewer.adjoint(fewer_targets), F.adjoint(target), atol=1e-10)


def test_the_laplacian_of_stacked_preferences_is_the_sum_of_theirs(rows):
    m, rng = len(rows["y"]), np.random.default_rng(1)
    queries = QueryDifferences(group_rows(rows["qid"], m), rows["y"])
    pairs = PairDifferences(m, rng.permutation(m)[:10], np.arange(10), rng.uniform(0.5, 2.0, 10))
    v = rng.normal(size=m)
    both = StackedDifferences([queries, pairs, pairs])
    np.testing.assert_allclose(both.laplacian(v), queries.laplacian(v) + 2.0 * pairs.laplacian(v), atol=1e-12)
