"""Columns that a frame declares to be categories, and flags as categories."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rankwise import ColumnEncoder, RankRLS
from rankwise.export.elasticsearch import elasticsearch_script

LABELS, QUERY = [0.0, 1.0, 2.0, 0.0, 1.0, 2.0], [0] * 6
NUMBERS = [10, 20, 30, 10, 20, 30]
DECLARED = {
    "pandas": pd.DataFrame({"c": pd.Series(NUMBERS, dtype="category")}),
    "pandas, ordered": pd.DataFrame({"c": pd.Categorical(NUMBERS, ordered=True)}),
    "pandas, floats": pd.DataFrame({"c": pd.Series(NUMBERS, dtype=float).astype("category")}),
    "pyarrow": pa.table({"c": pa.array(NUMBERS).dictionary_encode()}),
}


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("columns", ["auto", "spline", {"*": "number"}])
def test_numbers_that_a_frame_declares_to_be_categories_are_not_measured(declared, columns):
    encoder = ColumnEncoder(columns).fit(DECLARED[declared])
    assert encoder.get_feature_names_out().tolist() == ["c=10", "c=20", "c=30"]


def test_a_category_of_numbers_is_still_a_number_if_the_user_says_so():
    encoder = ColumnEncoder({"c": "number"}).fit(DECLARED["pyarrow"])
    np.testing.assert_allclose(encoder.transform(pa.table({"c": [20]})), [[0.0]])


def test_categories_of_numbers_are_those_of_a_plain_column():
    model = RankRLS(columns="auto").fit(DECLARED["pandas"], LABELS, QUERY)
    plain = pd.DataFrame({"c": NUMBERS})
    np.testing.assert_array_equal(model.predict(plain), model.predict(DECLARED["pyarrow"]))


def test_a_declared_category_of_flags_or_dates_is_read_as_before():
    flags = pd.DataFrame({"c": pd.Series([True, False, None]).astype("category")})
    assert ColumnEncoder().fit(flags).get_feature_names_out().tolist() == ["c", "c: missing"]
    dates = pd.DataFrame({"c": pd.to_datetime(["2024-05-31", "2024-06-01"]).astype("category")})
    assert ColumnEncoder().fit(dates).get_feature_names_out().tolist() == ["age of c"]


@pytest.mark.parametrize("values", [[True, False] * 3, [1, 0] * 3, [1.0, 0.0] * 3])
@pytest.mark.parametrize("others", [[True, False, None], [1, 0, None], ["true", "false", None]])
def test_flags_as_categories_are_found_however_they_are_written(values, others):
    model = RankRLS(columns={"c": "category"}).fit(pd.DataFrame({"c": values}), [1.0, 0.0] * 3, QUERY)
    expected = model.predict(pd.DataFrame({"c": values}))[:2]
    assert expected[0] > expected[1]
    np.testing.assert_array_equal(model.predict(pa.table({"c": others}))[:2], expected)
    encoder = ColumnEncoder({"c": "category"}).fit(pd.DataFrame({"c": values}))
    found, known = encoder.transform(pa.table({"c": others})), encoder.transform(pd.DataFrame({"c": values}))
    np.testing.assert_array_equal(found[:2], known[:2])
    texts = json.loads(elasticsearch_script("", model.model_.function))["query"]["script_score"]["script"]
    assert texts["params"]["columns"][0]["texts"].keys() == {"true", "false", "1", "0"}


def test_numbers_among_which_are_zero_and_one_are_not_flags():
    model = RankRLS(columns={"c": "category"}).fit(pd.DataFrame({"c": [0, 1, 2] * 2}), LABELS, QUERY)
    unseen, true = model.predict(pd.DataFrame({"c": ["unseen", "true"]}))
    assert unseen == true
