"""What columns become: the same for every library, exact on odd values, and one sentence on bad ones."""

import datetime
import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.pipeline import make_pipeline

from messy_tables import FEATURES, LIBRARIES, messy_columns, messy_frame
from rankwise import ColumnEncoder, DataError, ParameterError, RankingData, RankRLS
from rankwise.rows.table import table_of

MESSY = {name: values for name, values in messy_columns().items() if name in FEATURES}
ALL_KINDS = {
    "price": "spline:6",
    "clicks": "log",
    "brand": "category",
    "in_stock": "flag",
    "added": "date:spline",
    "rating": "number",
}


def dense(features):
    return features.toarray() if sparse.issparse(features) else features


@pytest.mark.parametrize("columns", ["auto", "spline", ALL_KINDS], ids=["auto", "spline", "told"])
@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_every_library_gives_the_same_features(library, columns):
    expected = ColumnEncoder(columns).fit(pd.DataFrame(MESSY))
    encoder = ColumnEncoder(columns).fit(library(MESSY))
    assert encoder.encoding_ == expected.encoding_
    np.testing.assert_array_equal(encoder.transform(library(MESSY)), expected.transform(pd.DataFrame(MESSY)))


def test_auto_recognizes_each_kind_of_column():
    kinds = {
        name: code.kind for name, code in ColumnEncoder().fit(pd.DataFrame(MESSY)).encoding_.codes.items()
    }
    assert kinds == {
        "price": "log",
        "clicks": "log",
        "brand": "category",
        "in_stock": "flag",
        "added": "date",
        "rating": "number",
    }


@pytest.mark.parametrize("columns", ["auto", "number", "log", "spline:3", "spline", ALL_KINDS], ids=str)
def test_weights_of_features_are_a_function_of_the_columns(columns):
    frame, _, _ = messy_frame()
    encoder = ColumnEncoder(columns).fit(frame)
    weights = np.random.default_rng(1).normal(size=encoder.encoding_.n_features)
    other, _, _ = messy_frame(seed=7)  # with numbers outside of those of the fit
    scores = encoder.encoding_.function(weights).scores(table_of(other))
    np.testing.assert_allclose(scores, encoder.transform(other) @ weights, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_are_standardized_wherever_they_lie(offset, dtype):
    x = (offset + 64.0 * np.arange(200.0)).astype(dtype)
    scaled = ColumnEncoder("number").fit_transform(x[:, None])[:, 0]
    np.testing.assert_allclose(scaled, (np.arange(200.0) - 99.5) / np.arange(200.0).std(), atol=1e-6)


def test_a_constant_column_is_zero_even_if_its_mean_is_rounded():
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    np.testing.assert_array_equal(ColumnEncoder("number").fit_transform(X)[:, 0], 0.0)
    assert ColumnEncoder("spline").fit(X).get_feature_names_out()[0].startswith("x1[")


def test_a_missing_number_counts_as_the_median_and_is_marked_if_there_were_any():
    encoder = ColumnEncoder("number").fit([[1.0], [2.0], [np.nan], [9.0]])
    np.testing.assert_array_equal(
        encoder.transform([[2.0], [np.nan]])[:, 0], [encoder.transform([[2.0]])[0, 0]] * 2
    )
    assert encoder.transform([[2.0], [np.nan]])[:, 1].tolist() == [0.0, 1.0]
    complete = ColumnEncoder("number").fit([[1.0], [2.0], [9.0]])
    np.testing.assert_array_equal(*complete.transform([[2.0], [np.nan]]))


def test_every_kind_of_missing_value_is_the_same():
    holes = [None, np.nan, pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT"), float("nan")]
    for known, kind in (
        (1.5, "number"),
        ("a", "category"),
        (True, "flag"),
        (datetime.date(2024, 1, 1), "date"),
    ):
        frame = pd.DataFrame({"c": pd.Series([known, known, *holes], dtype=object), "n": np.arange(9.0)})
        features = ColumnEncoder({"c": kind, "n": "number"}).fit_transform(frame)
        assert (features[2:, :-1] == features[2, :-1]).all()
        assert (features[:2, :-1] != features[2, :-1]).any(axis=1).all()


def brute_force_spline(x, knots):
    """Increments of a piecewise linear function, written out gap by gap."""
    share = []
    for gap, (low, high) in enumerate(itertools.pairwise(knots)):
        part = (x - low) / (high - low)
        part = part if gap == 0 else max(part, 0.0)
        share.append(part if gap == len(knots) - 2 else min(part, 1.0))
    return np.sqrt(12.0 / len(share)) * np.array(share)


def test_a_spline_has_one_feature_per_gap_that_rises_across_it():
    encoder = ColumnEncoder("spline:4").fit(np.arange(10.0)[:, None])
    knots = encoder.encoding_.codes["x0"].knots
    assert knots == (0.0, 3.0, 6.0, 9.0)
    for x in (-5.0, 0.0, 1.5, 3.0, 7.0, 9.0, 20.0):
        np.testing.assert_allclose(encoder.transform([[x]])[0], brute_force_spline(x, knots))


@given(st.lists(st.integers(-3, 30), min_size=3, max_size=60), st.integers(2, 9))
def test_knots_are_observed_numbers_that_include_the_extremes(numbers, n_knots):
    if len(set(numbers)) < 2:
        return
    knots = ColumnEncoder(f"spline:{n_knots}").fit(np.array(numbers)[:, None]).encoding_.codes["x0"].knots
    assert set(knots) <= set(numbers)
    assert (knots[0], knots[-1]) == (min(numbers), max(numbers))
    assert len(knots) <= n_knots + 2
    assert len(knots) >= min(n_knots, len(set(numbers))) - 1


def test_a_count_that_is_mostly_zero_still_gets_knots_for_the_others():
    x = np.concatenate([np.zeros(900), np.arange(1.0, 101.0)])
    knots = ColumnEncoder("spline:8").fit(x[:, None]).encoding_.codes["x0"].knots
    assert len(knots) >= 7


def test_knots_that_are_almost_equal_are_one():
    x = np.array([0.0, 5e-324, 1.0, 1.0 + 1e-15, 2.0])
    assert ColumnEncoder("spline").fit(x[:, None]).encoding_.codes["x0"].knots == (0.0, 1.0, 2.0)


def test_rare_categories_are_other_and_new_ones_too():
    brands = ["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["rare", None, None]
    encoder = ColumnEncoder({"brand": "category:2"}).fit(pd.DataFrame({"brand": brands}))
    assert encoder.get_feature_names_out().tolist() == [
        "brand=a",
        "brand=b",
        "brand: other",
        "brand: missing",
    ]
    rows = pd.DataFrame({"brand": ["b", "c", "rare", "never seen", None]})
    assert dense(encoder.transform(rows)).argmax(axis=1).tolist() == [1, 2, 2, 2, 3]


def test_without_others_a_new_category_is_the_average_of_the_known_ones():
    frame = pd.DataFrame({"brand": list("aabbcc"), "x": range(6)})
    model = RankRLS(columns={"brand": "category"}).fit(frame, [3, 2, 1, 2, 0, 0])
    known = model.predict(pd.DataFrame({"brand": list("abc")}))
    new = model.predict(pd.DataFrame({"brand": ["new", None]}))
    np.testing.assert_allclose(new, known.mean(), atol=1e-12)


def test_ten_thousand_categories_stay_small():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"shop": [f"shop {k}" for k in rng.permutation(np.arange(30_000) % 10_000)], "x": 1.0}
    )
    assert ColumnEncoder().fit(frame[["shop"]]).encoding_.n_features == 101
    features = ColumnEncoder({"shop": "category:20000", "x": "number"}).fit_transform(frame)
    assert sparse.issparse(features)
    assert features.shape == (30_000, 10_001)
    assert features.data.nbytes + features.indices.nbytes < 1e6


@pytest.mark.parametrize("numbers", [[3, 3, 4], [3.0, 3.0, 4.0], ["3", "3", "4"], [3, 3.0, None]])
def test_a_number_that_is_a_category_is_the_same_however_it_is_stored(numbers):
    encoder = ColumnEncoder({"shop": "category"}).fit(pd.DataFrame({"shop": [3, 3, 4]}))
    features = dense(encoder.transform(pd.DataFrame({"shop": pd.Series(numbers, dtype=object)})))
    assert features[:2, 0].tolist() == [1.0, 1.0]


def test_identifiers_of_64_bits_can_be_categories_but_not_numbers():
    frame = pd.DataFrame({"id": [2**60 + 1, 2**60 + 1, 2**60 + 2]})
    names = ColumnEncoder({"id": "category"}).fit(frame).get_feature_names_out().tolist()
    assert names == [f"id={2**60 + 1}", "id: other"]
    with pytest.raises(DataError, match="Column 'id' holds values of type int"):
        ColumnEncoder().fit(frame)
    with pytest.raises(DataError, match=f"Column 'id' must hold numbers; row 0 is {2**60 + 1}"):
        ColumnEncoder({"id": "number"}).fit(frame)


def test_dates_are_ages_in_days_whatever_their_zone_and_type():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    times = [datetime.datetime(2024, 5, day, 2, tzinfo=zone) for day in (1, 2, 11)]
    forms = [
        pd.DataFrame({"t": times}),
        pl.DataFrame({"t": times}),
        pd.DataFrame({"t": ["2024-05-01", "2024-05-02T00:00:00Z", "2024-05-11T02:00+02:00"]}),
        pd.DataFrame({"t": [datetime.date(2024, 5, day) for day in (1, 2, 11)]}),
    ]
    for form in forms:
        encoder = ColumnEncoder({"t": "date:spline"}).fit(form)
        code = encoder.encoding_.codes["t"]
        assert (code.reference, code.of.knots) == ("2024-05-11T00:00:00", (0.0, 9.0, 10.0))
        np.testing.assert_array_equal(
            encoder.transform(form), ColumnEncoder("spline").fit_transform([[10], [9], [0]])
        )


def test_columns_are_found_by_name_in_any_order_and_others_are_ignored():
    frame, _, _ = messy_frame()
    encoder = ColumnEncoder(ALL_KINDS).fit(frame)
    shuffled = frame[FEATURES[::-1]].assign(title="not used")
    np.testing.assert_array_equal(encoder.transform(shuffled), encoder.transform(frame))
    assert encoder.feature_names_in_.tolist() == FEATURES


def test_the_star_says_what_other_numbers_become():
    frame = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0), "c": list("xy") * 10, "d": 1.0})
    encoder = ColumnEncoder({"a": "number", "d": "drop", "*": "spline:4"}).fit(frame)
    assert {name: code.kind for name, code in encoder.encoding_.codes.items()} == {
        "a": "number",
        "b": "spline",
        "c": "category",
    }
    assert ColumnEncoder({"a": "number"}).fit(frame).feature_names_in_.tolist() == ["a"]


def test_features_do_not_depend_on_which_rows_are_encoded_together(monkeypatch):
    frame = pd.DataFrame(MESSY)
    encoder = ColumnEncoder(ALL_KINDS).fit(frame)
    at_once = encoder.transform(frame)
    monkeypatch.setattr("rankwise.columns.encoding.ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(encoder.transform(frame), at_once)
    alone = np.concatenate([encoder.transform(frame[row : row + 1]) for row in range(len(frame))])
    np.testing.assert_array_equal(alone, at_once)


def test_data_sets_lend_their_names_to_columns():
    data = RankingData.from_arrays(np.arange(6.0).reshape(3, 2), [0, 1, 2], feature_names=["bm25", "clicks"])
    assert ColumnEncoder("number").fit(data).get_feature_names_out().tolist() == ["bm25", "clicks"]
    assert ColumnEncoder({"clicks": "log"}).fit(data).get_feature_names_out().tolist() == ["log(clicks)"]
    assert ColumnEncoder("number").fit(data.X).get_feature_names_out().tolist() == ["x0", "x1"]


@pytest.mark.parametrize("names", [[2023, 2024], [1, 0], [("a", "x"), ("a", "y")], ["a", 1]])
def test_names_that_are_not_text_are_refused_instead_of_taken_by_position(names):
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 5.0]])
    encoder = ColumnEncoder("number").fit(frame)  # numbered by pandas, as an array is
    np.testing.assert_array_equal(encoder.transform(frame), encoder.transform(frame.to_numpy()))
    frame.columns = pd.Index(names)
    for use in (encoder.fit, encoder.transform):
        with pytest.raises(DataError, match=r"Column names must be text; got .*, a name of type (int|tuple)"):
            use(frame)


def test_a_pipeline_of_encoder_and_ranker_is_the_ranker_with_columns():
    frame, y, qid = messy_frame()
    pipeline = make_pipeline(ColumnEncoder(ALL_KINDS), RankRLS()).fit(frame, y, rankrls__qid=qid)
    model = RankRLS(columns=ALL_KINDS).fit(frame, y, qid)
    np.testing.assert_allclose(pipeline.predict(frame), model.predict(frame), atol=1e-12)


def test_pandas_output_has_the_names_of_the_features():
    frame, _, _ = messy_frame()
    encoder = ColumnEncoder().set_output(transform="pandas").fit(frame)
    assert encoder.transform(frame).columns.tolist() == encoder.get_feature_names_out().tolist()


BAD_TABLES = {
    "text among numbers": (
        {"a": [1.5, 2.5, "n/a", 4.0]},
        "Column 'a' holds values of type float and str.*row 2",
    ),
    "text among numbers as text": (
        {"a": ["1", "2", "n/a", "4"]},
        "Column 'a' holds numbers as text, but 'n/a' in row 2; .*columns={'a': 'category'}",
    ),
    "infinity": ({"a": [1.0, np.inf, 2.0]}, "Column 'a' must hold finite numbers; row 1 is inf"),
    "minus infinity": ({"a": [1.0, 2.0, -np.inf]}, "Column 'a' must hold finite numbers; row 2 is -inf"),
    "lists": ({"a": [[1], [2]]}, "Column 'a' holds values of type list"),
    "nothing but constants": ({"a": [None, None]}, "nothing to learn from"),
    "an empty frame": ({"a": []}, "The table has no rows"),
    "too large to be standardized": ({"a": [-1e308, 1e308, 0.0]}, "Column 'a' holds numbers too large"),
}


@pytest.mark.parametrize("table, message", BAD_TABLES.values(), ids=BAD_TABLES)
@pytest.mark.filterwarnings("ignore:Column 'a' has only missing values")
def test_a_bad_table_is_refused_with_the_place(table, message):
    with pytest.raises(DataError, match=message):
        ColumnEncoder().fit(pd.DataFrame(table))


BAD_COLUMNS = {
    "number": (["1", "two"], "Column 'a' must hold numbers; row 1 is 'two'"),
    "log": ([datetime.date(2024, 1, 1)] * 2, "Column 'a' must hold numbers; row 0 is datetime"),
    "spline": ([1.0, np.inf], "Column 'a' must hold finite numbers; row 1 is inf"),
    "flag": ([0, 2], "Column 'a' must hold flags .*; row 1 is 2.0"),
    "date": (["2024-05-31", "May"], "Column 'a' must hold dates .*; row 1 is 'May'"),
    "date:log": ([1.0, 2.0], "Column 'a' must hold dates .*; row 0 is 1.0"),
    "category": ([[1], [2]], r"Column 'a' must hold text; row 0 is \[1\]"),
    "category:5": ([None, None], "Column 'a' has only missing values; leave it out"),
}


@pytest.mark.parametrize("kind", BAD_COLUMNS)
def test_a_column_that_is_not_what_it_was_called_is_refused_with_the_row(kind):
    values, message = BAD_COLUMNS[kind]
    with pytest.raises(DataError, match=message):
        ColumnEncoder({"a": kind}).fit(pd.DataFrame({"a": values}))


def test_rows_to_transform_are_checked_as_those_of_the_fit():
    frame = pd.DataFrame({"price": [1.0, 2.0, 4.0], "brand": ["a", "a", "b"]})
    encoder = ColumnEncoder().fit(frame)
    with pytest.raises(DataError, match="no column 'brand'; did you mean 'Brand'"):
        encoder.transform(frame.rename(columns={"brand": "Brand"}))
    with pytest.raises(DataError, match="The table has no column 'price'"):
        encoder.transform(frame[["brand"]])
    with pytest.raises(DataError, match="Column 'price' must hold numbers; row 1 is 'free'"):
        encoder.transform(pd.DataFrame({"price": [1.0, "free"], "brand": "a"}))
    with pytest.raises(DataError, match="Column 'price' must hold finite numbers; row 0 is inf"):
        encoder.transform(pd.DataFrame({"price": [np.inf], "brand": "a"}))
    with pytest.raises(DataError, match="X has 3 features, but ColumnEncoder is expecting 2 features"):
        encoder.transform([[1.0, "a", 2.0]])


def test_a_column_without_values_is_left_out_with_a_warning():
    frame = pd.DataFrame({"a": [1.0, 2.0], "empty": [None, None]})
    with pytest.warns(UserWarning, match="Column 'empty' has only missing values, so it is ignored"):
        encoder = ColumnEncoder().fit(frame)
    assert encoder.feature_names_in_.tolist() == ["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ColumnEncoder({"*": "auto", "empty": "drop"}).fit(frame)


def test_names_of_columns_must_be_distinct_text():
    twice = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(DataError, match="duplicate column names"):
        ColumnEncoder().fit(twice)
    mixed = pd.DataFrame([[1.0, 2.0], [3.0, 5.0]], columns=["a", 7])
    with pytest.raises(DataError, match="Column names must be text; got 7, a name of type int"):
        ColumnEncoder().fit(mixed)
    numbered = pd.DataFrame([[1.0, 2.0], [3.0, 5.0]])
    assert ColumnEncoder("number").fit(numbered).get_feature_names_out().tolist() == ["x0", "x1"]


def test_sparse_rows_are_refused():
    with pytest.raises(DataError, match="sparse"):
        ColumnEncoder().fit(sparse.csr_matrix(np.eye(3)))


BAD_SPECS = [
    (None, "must be 'auto', 'spline' or a dict"),
    ({}, "must be 'auto', 'spline' or a dict"),
    ("splines", "is 'splines'; expected one of auto, number"),
    ("spline:1", "is 'spline:1'; expected"),
    ("category", "cannot encode every column as 'category'; name the columns"),
    ({"a": "log:2"}, "of column 'a' is 'log:2'; expected"),
    ({"a": 3}, "of column 'a' is 3; expected"),
    ({"a": "category:0"}, "of column 'a' is 'category:0'"),
    ({0: "log"}, "keys of the 'columns' parameter must be column names; got 0"),
]


@pytest.mark.parametrize("columns, message", BAD_SPECS, ids=str)
def test_what_columns_cannot_become_is_refused(columns, message):
    with pytest.raises(ParameterError, match=message):
        ColumnEncoder(columns).fit(pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(DataError, match="The table has no column 'prise'; did you mean 'price'"):
        ColumnEncoder({"prise": "log"}).fit(pd.DataFrame({"price": [1.0, 2.0]}))
