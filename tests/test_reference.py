"""Sparse rows measured from a row of their query: which columns are shifted, and that no digits are lost."""

import numpy as np
import pytest
from scipy import sparse

from rankwise.operators.reference import near_zero
from rankwise.preferences.queries import group_rows

QID = np.repeat([0, 1, 2], 4)
REFERENCE = group_rows(QID, 12).first_rows()


def within_queries(X):
    return X.toarray() - X.toarray()[REFERENCE]


def small(seed=0):
    return np.random.default_rng(seed).normal(size=(12, 3)) + 2.0


def test_a_column_far_from_zero_in_one_query_alone_is_shifted_there():
    X = small()
    X[QID > 0, 1] = 0.0
    X[QID == 0, 1] += 1e9
    shifted, reference = near_zero(sparse.csr_array(X), REFERENCE)
    assert reference is None
    assert abs(shifted.toarray()).max() < 1e3
    np.testing.assert_array_equal(within_queries(shifted), within_queries(sparse.csr_array(X)))


def test_a_column_that_some_rows_of_a_query_do_not_store_stays():
    X = small()
    X[:, 1] += 1e9
    X[::4, 1] = 0.0  # the first row of every query
    given = sparse.csr_array(X)
    shifted, _ = near_zero(given, REFERENCE)
    np.testing.assert_array_equal(shifted.toarray(), X)


@pytest.mark.parametrize("rows", [1, 12])
def test_rows_near_zero_are_used_as_they_are(rows):
    given = sparse.csr_array(small()[:rows])
    shifted, reference = near_zero(given, REFERENCE[:rows])
    assert shifted is given
    assert reference is None
