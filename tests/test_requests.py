"""What a request to a model costs: counted, because a timing says nothing on a busy machine."""

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import rankwise.rows.column
import rankwise.rows.series
from rankwise import RankRLS

N_ROWS = 60
SPARSE = pandas.SparseDtype(float, 0.0)
LIBRARIES = {"pandas": pandas.DataFrame, "polars": polars.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {
            "price": rng.lognormal(size=N_ROWS),
            "brand": rng.choice(["a", "b", "c"], N_ROWS),
            "sold": rng.integers(0, 1000, N_ROWS),
            "new": rng.choice([True, False], N_ROWS),
            "added": pandas.date_range("2024-01-01", periods=N_ROWS, freq="h"),
        }
    )
    table.loc[::7, "price"] = np.nan
    table.loc[::9, "brand"] = None
    return table


COLUMNS = {"price": "spline", "brand": "category", "sold": "log", "new": "flag", "added": "date"}


def fitted(rows, **parameters):
    return RankRLS(**parameters).fit(rows, np.arange(N_ROWS) % 5, np.arange(N_ROWS) // 10)


def refused(*_, **__):
    raise AssertionError("This should not be called for a request.")


@pytest.mark.parametrize("columns", [None, "spline"])
def test_a_request_forms_neither_a_function_nor_moments(columns):
    rows = pandas.DataFrame(np.random.default_rng(0).normal(size=(N_ROWS, 3)), columns=["a", "b", "c"])
    model = fitted(rows, columns=columns)
    assert "function" in vars(model.model_)
    model.predict(rows[:1])
    assert model.model_.form_moments is not None
    assert "moments" not in vars(model.model_)


def test_a_frame_of_numbers_is_not_checked_column_by_column(monkeypatch):
    rows = pandas.DataFrame(np.random.default_rng(0).normal(size=(N_ROWS, 3)), columns=["a", "b", "c"])
    rows["b"] = np.arange(N_ROWS)
    model = fitted(rows)
    expected = rows.to_numpy() @ model.coef_
    monkeypatch.setattr("sklearn.utils.validation.check_array", refused)
    assert model.predict(rows) == pytest.approx(expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_table_is_read_without_a_look_at_each_cell(library, table, monkeypatch):
    model = fitted(table, columns=COLUMNS)
    expected = model.predict(table)
    monkeypatch.setattr(rankwise.rows.column, "is_missing", refused)
    assert model.predict(LIBRARIES[library](table)).tolist() == expected.tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_only_the_columns_of_the_model_are_read(library, table, monkeypatch):
    model = fitted(table, columns={"price": "spline", "sold": "log"})
    expected, read = model.predict(table), []
    for name in ("column_of_numbers", "column_of_objects"):
        reader = getattr(rankwise.rows.series, name)
        monkeypatch.setattr(
            rankwise.rows.series, name, lambda *given, reader=reader: read.append(1) or reader(*given)
        )
    assert model.predict(LIBRARIES[library](table)).tolist() == expected.tolist()
    assert len(read) == 2


def test_a_misspelled_column_is_still_named_among_those_that_are_not_read(table):
    model = fitted(table, columns={"price": "spline"})
    with pytest.raises(rankwise.errors.DataError, match="no column 'price'; did you mean 'prices'"):
        model.predict(table.rename(columns={"price": "prices"}))


@pytest.mark.parametrize(
    "dtypes",
    [
        ("float64", "float64"),
        ("float32", "float32"),
        ("float32", "int8"),
        ("float32", "int64"),
        ("uint64", "int64"),
        ("float16", "float32"),
        ("int32", "int32"),
        ("bool", "float64"),
        ("Float64", "float64"),
        ("Int64", "Int64"),
        (SPARSE, "float64"),
        (SPARSE, SPARSE),
        ("float64[pyarrow]", "int64[pyarrow]"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*sparse columns found")
def test_a_frame_of_any_numbers_becomes_what_scikit_learn_makes_of_it(dtypes):
    from sklearn.utils.validation import check_array

    from rankwise.validation import check_rows

    numbers = np.random.default_rng(0).integers(0, 2, size=(N_ROWS, 2))
    frame = pandas.DataFrame(numbers, columns=["a", "b"]).astype(dict(zip("ab", dtypes, strict=True)))
    expected = check_array(frame, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    rows = check_rows(frame, who="RankRLS")
    assert (type(rows), rows.dtype) == (type(expected), expected.dtype)
    assert np.array_equal(
        *(each if isinstance(each, np.ndarray) else each.toarray() for each in (rows, expected))
    )


@pytest.mark.parametrize("texts", [["a", None, "b"], ["a", float("nan"), "b"], [None, "b", pandas.NA]])
def test_text_with_missing_values_is_text(texts):
    column = rankwise.rows.column.column_of_objects(texts)
    assert column.reading is rankwise.types.Reading.TEXT
    assert column.values.tolist() == [text if isinstance(text, str) else None for text in texts]


def test_text_with_a_number_is_not_text():
    assert rankwise.rows.column.column_of_objects(["a", 1.5, None]).reading is None


NANOSECONDS = pandas.array(["2024-05-31T12:00:00.123456789", None], dtype="datetime64[ns]")
SERIES = {
    "float32": np.array([0.1, np.nan], dtype=np.float32),
    "big-endian": np.array([0.1, 2.0], dtype=">f8"),
    "float16": np.array([0.5, 2.0], dtype=np.float16),
    "infinite": [np.inf, 1.0],
    "uint64": np.array([2**64 - 1, 1], dtype=np.uint64),
    "int64": [2**53 + 1, 7],
    "int8": np.array([-128, 7], dtype=np.int8),
    "bool": [True, False],
    "nanoseconds": NANOSECONDS,
    "zoned": NANOSECONDS.tz_localize("Asia/Kolkata"),
    "durations": np.array([5, 7], dtype="timedelta64[s]"),
    "str": pandas.array(["a", None], dtype="str"),
    "string": pandas.array(["a", None], dtype="string"),
    "python strings": pandas.array(["a", None], dtype="string[python]"),
    "arrow strings": pandas.array(["a", None], dtype=pandas.ArrowDtype(pa.string())),
    "arrow numbers": pandas.array([2, None], dtype=pandas.ArrowDtype(pa.int64())),
    "arrow durations": pandas.array([2, None], dtype=pandas.ArrowDtype(pa.duration("s"))),
    "objects": np.array(["a", np.nan, None], dtype=object),
    "mixed": np.array(["a", 1], dtype=object),
    "flags with a missing one": np.array([True, None], dtype=object),
    "boolean": pandas.array([True, None], dtype="boolean"),
    "Int64": pandas.array([2**53 + 1, None], dtype="Int64"),
    "Float64": pandas.array([0.5, None], dtype="Float64"),
    "categorical": pandas.Categorical(["b", None, "a"]),
    "numbered categories": pandas.Categorical([3, None, 1]),
}


@pytest.mark.parametrize("kind", SERIES)
def test_a_series_of_pandas_is_the_column_that_narwhals_would_make_of_it(kind):
    import narwhals as nw

    series = pandas.Series(SERIES[kind], name="c")
    direct = rankwise.rows.table.table_of(series.to_frame()).columns["c"]
    expected = rankwise.rows.series.column_of_series(nw.from_native(series, series_only=True))
    assert (direct.reading, direct.values.dtype) == (expected.reading, expected.values.dtype)
    assert [str(value) for value in direct.values] == [str(value) for value in expected.values]
