"""The kernels' two sorts: that of measures, by the bits of doubles, and that of the hinge, by places."""

import numpy as np
import pytest

from rankwise import _native

# On both sides of where the sorts change their methods: insertion or comparison, radix, several chunks.
LENGTHS = [1, 2, 64, 65, 512, 513, 40_000, 140_000]
VALUES = {
    "distinct": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: rng.integers(-3, 4, n).astype(float),
    "with an outlier": lambda rng, n: np.append(rng.normal(size=n - 1), 1e12),
    "of all magnitudes": lambda rng, n: rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-300, 300, n),
    "alike in their leading bits": lambda rng, n: 1.0 + rng.integers(0, n, n) * 2.0**-50,
}


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("n", LENGTHS)
def test_rows_are_ranked_by_descending_score_and_tied_rows_keep_their_order(n, values, n_threads):
    scores = values(np.random.default_rng(n), n)
    row, first, end = (np.empty(n, dtype=np.int64) for _ in range(3))
    _native.rank_rows(np.array([0, n]), scores, row, first, end, n_threads)
    np.testing.assert_array_equal(row, np.argsort(-scores, kind="stable"))
    ranked = -scores[row]
    np.testing.assert_array_equal(first, np.searchsorted(ranked, ranked, "left"))
    np.testing.assert_array_equal(end, np.searchsorted(ranked, ranked, "right"))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("n", LENGTHS)
def test_the_hinge_has_every_row_once_with_its_score_in_ascending_order(n, values, n_threads):
    scores = values(np.random.default_rng(n), n)
    row, score = np.empty(n, dtype=np.int32), np.empty(n)
    _native.order_scores(np.array([0, n]), scores, row, score, n_threads)
    np.testing.assert_array_equal(np.sort(row), np.arange(n))
    np.testing.assert_array_equal(score, np.sort(scores))
    np.testing.assert_array_equal(score, scores[row])
