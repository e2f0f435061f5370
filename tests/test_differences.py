"""F is a square root of the Laplacian of the pairs to compare."""

import numpy as np
import pytest

from all_pairs import pair_laplacian
from rankwise.preferences.differences import QueryDifferences
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
