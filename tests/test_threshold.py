"""The best threshold makes the fewest mistakes that any threshold makes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import DataError
from rankwise.metrics import best_threshold

rows = st.lists(st.tuples(st.booleans(), st.integers(-4, 4)), min_size=2, max_size=20).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


@given(rows)
@settings(deadline=None, max_examples=100)
def test_no_threshold_makes_fewer_mistakes(rows):
    y, scores = np.array(rows, dtype=float).T

    def mistakes(threshold):
        return np.count_nonzero((scores >= threshold) != (y == 1))

    everywhere = np.arange(-5, 6) - 0.5
    assert mistakes(best_threshold(y, scores)) == min(map(mistakes, everywhere))


def test_it_lies_midway_between_the_classes():
    assert best_threshold([1, 1, 2, 2], [0.0, 1.0, 3.0, 4.0]) == 2.0


def test_neighbouring_numbers_can_be_told_apart():
    for low in (0.1, 1.0, -3.0):
        high = np.nextafter(low, np.inf)
        assert best_threshold([0, 0, 1], [-10.0, low, high]) == high


def test_scores_of_any_size_can_be_cut():
    assert 1e308 < best_threshold([0, 1], [1e308, 1.5e308]) < 1.5e308


def test_more_than_two_labels_are_refused():
    with pytest.raises(DataError, match="y has 3"):
        best_threshold([0, 1, 2], [0.0, 1.0, 2.0])
