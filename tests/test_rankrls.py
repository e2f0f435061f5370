"""RankRLS is least squares over explicit pairs."""

import numpy as np
import pytest

from pairs import pair_laplacian
from rankwise import RankRLS


@pytest.mark.parametrize("weighting", ["example", "pair", "query"])
@pytest.mark.parametrize("ties", ["keep", "drop"])
def test_primal_equals_least_squares_over_explicit_pairs(ties, weighting):
    rng = np.random.default_rng(1)
    X, y, qid = rng.normal(size=(50, 6)), rng.integers(0, 3, 50).astype(float), rng.integers(0, 5, 50)
    L = pair_laplacian(y, qid, ties=ties, weighting=weighting)
    expected = np.linalg.solve(X.T @ L @ X + 0.3 * np.eye(6), X.T @ L @ y)
    model = RankRLS(alpha=0.3, ties=ties, weighting=weighting).fit(X, y, qid)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9)
