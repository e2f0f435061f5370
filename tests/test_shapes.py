"""The functions of one column: values, what is missing, and what lies outside of the training data."""

import math

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise.rows.table import table_of
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.shapes import (
    Flag,
    Line,
    LogLine,
    Lookup,
    OfAge,
    PiecewiseLinear,
    signed_log,
)

numbers = st.floats(-1e6, 1e6)
NUMBER_SHAPES = [
    Line(at=2.0, value=1.0, slope=0.5, missing=-7.0),
    LogLine(at=2.0, value=1.0, slope=0.5, missing=-7.0),
    PiecewiseLinear((1.0, 2.0, 4.0), (0.0, 3.0, 1.0), missing=-7.0),
    PiecewiseLinear((1.0,), (4.0,), missing=-7.0),
]


def between_knots(knots, values, x):
    """The value of a piecewise linear function at one number, found segment by segment."""
    segments = list(zip(knots, knots[1:], values, values[1:], strict=False))
    for a, b, low, high in segments:
        if x < b or (a, b) == (segments[-1][0], segments[-1][1]):
            return low + (high - low) * (x - a) / (b - a)
    return values[0]


def test_a_line_measures_numbers_from_where_it_is_given():
    assert Line(at=2.0, value=1.0, slope=0.5, missing=0.0)(np.array([2.0, 4.0])).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_a_line_keeps_small_differences_of_large_numbers(offset):
    x = offset + np.array([0.0, 0.25, 0.5])
    shape = Line(at=offset, value=0.0, slope=1 / 3, missing=0.0)
    np.testing.assert_array_equal(shape(x), np.array([0.0, 0.25, 0.5]) / 3)


@given(numbers)
def test_the_log_of_a_negative_number_is_minus_that_of_the_positive_one(x):
    logs = signed_log(np.array([x, -x]))
    assert logs[0] == -logs[1]
    assert logs[0] == pytest.approx(math.copysign(math.log1p(abs(x)), x))


@given(st.lists(numbers, min_size=2, max_size=6, unique=True), st.data(), numbers)
def test_a_piecewise_linear_function_continues_beyond_its_outer_knots(knots, data, x):
    knots = sorted(knots)
    if min(np.diff(knots)) < 1e-3:
        return
    values = data.draw(st.lists(st.floats(-10, 10), min_size=len(knots), max_size=len(knots)))
    shape = PiecewiseLinear(tuple(knots), tuple(values), missing=0.0)
    assert shape(np.array([x]))[0] == pytest.approx(between_knots(knots, values, x), rel=1e-9, abs=1e-6)
    np.testing.assert_allclose(shape(np.array(knots)), values, rtol=1e-9, atol=1e-9)


def test_a_single_knot_is_a_constant():
    shape = PiecewiseLinear((3.0,), (5.0,), missing=1.0)
    assert shape(np.array([-9.0, 3.0, 9.0, np.nan])).tolist() == [5.0, 5.0, 5.0, 1.0]


@pytest.mark.parametrize("shape", NUMBER_SHAPES, ids=lambda shape: type(shape).__name__)
def test_a_missing_number_has_a_value_of_its_own(shape):
    values = shape(np.array([np.nan, 3.0, np.nan]))
    assert values[[0, 2]].tolist() == [-7.0, -7.0]
    assert values[1] != -7.0


@pytest.mark.parametrize("shape", NUMBER_SHAPES, ids=lambda shape: type(shape).__name__)
def test_an_age_is_counted_in_days_before_the_reference(shape):
    dates = np.array(["2024-02-28", "2024-03-01T12:00", "2024-03-02", "NaT"], dtype="datetime64[us]")
    ages = np.array([2.0, -0.5, -1.0, np.nan])
    np.testing.assert_array_equal(OfAge("2024-03-01T00:00:00", shape)(dates), shape(ages))
    assert OfAge("2024-03-01", shape).missing == -7.0


def test_dates_of_any_unit_have_the_same_age():
    shape = OfAge("2024-03-01", NUMBER_SHAPES[0])
    for unit in ("D", "s", "ms", "us", "ns"):
        assert shape(np.array(["2024-02-28"], dtype=f"datetime64[{unit}]")).tolist() == [1.0]


def test_an_unseen_category_is_another_one_and_no_text_is_missing():
    shape = Lookup(("red", "", "nan"), (1.0, 2.0, 3.0), other=-1.0, missing=-2.0)
    texts = np.array(["red", "", "nan", None, "Red", "other"], dtype=object)
    assert shape(texts).tolist() == [1.0, 2.0, 3.0, -2.0, -1.0, -1.0]


def test_a_flag_is_true_false_or_missing():
    shape = Flag(true=2.0, false=-1.0, missing=0.5)
    assert shape(np.array([1.0, 0.0, np.nan])).tolist() == [2.0, -1.0, 0.5]


def test_a_score_is_the_sum_of_the_values_of_the_columns():
    shapes = Line(0.0, 0.0, 2.0, missing=0.0), Lookup(("a",), (1.0,), other=0.0, missing=0.0)
    function = AdditiveFunction((Term("price", shapes[0]), Term("brand", shapes[1])))
    rows = table_of(pandas.DataFrame({"brand": ["a", "b"], "price": [1.0, 3.0]}))
    assert function.contributions(rows).tolist() == [[2.0, 1.0], [6.0, 0.0]]
    assert function.scores(rows).tolist() == [3.0, 6.0]
