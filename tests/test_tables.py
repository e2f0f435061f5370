"""Frames of three libraries and table files -> the same RankingData."""

import bz2
import datetime
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from rankwise import DataError, ParameterError, RankingData, load_table
from rankwise.errors import FileFormatError

COLUMNS = {
    "query": ["shoes", "hats", "shoes", "hats"],
    "grade": [2, 0, 1, 3],
    "doc": [17, 4, 5, 17],
    "bm25": [0.5, 1.5, 2.5, 3.5],
    "clicks": [3, 0, 2, 1],
    "in_stock": [True, False, True, True],
}
X = np.array([[0.5, 3, 1], [1.5, 0, 0], [2.5, 2, 1], [3.5, 1, 1]])
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=LIBRARIES, ids=str)
def library(request):
    return LIBRARIES[request.param]


def check(data):
    np.testing.assert_array_equal(data.X, X)
    assert data.X.dtype == np.float64
    assert data.y.tolist() == [2, 0, 1, 3]
    assert data.qid.tolist() == COLUMNS["query"]
    assert data.docs.tolist() == COLUMNS["doc"]
    assert data.feature_names == ("bm25", "clicks", "in_stock")


def test_every_library_gives_the_same_data(library):
    check(RankingData.from_frame(library(COLUMNS), label="grade", qid="query", doc="doc"))


def test_features_are_taken_in_the_order_asked_for(library):
    data = RankingData.from_frame(library(COLUMNS), label="grade", features=["clicks", "bm25"])
    np.testing.assert_array_equal(data.X, X[:, [1, 0]])
    assert data.qid is None
    assert data.docs is None


def test_float32_columns_give_a_float32_matrix(library):
    frame = library({"y": [0, 1], "a": np.array([1, 2], np.float32), "b": np.array([3, 4], np.float32)})
    assert RankingData.from_frame(frame, label="y").X.dtype == np.float32


@pytest.mark.parametrize(
    "qid",
    [
        [3, 1, 3, 1],
        [3.5, 1.0, 3.5, 1.0],
        [datetime.date(2024, 1, 2), datetime.date(2024, 1, 1)] * 2,
        [True, False, True, False],
    ],
    ids=["int", "float", "date", "bool"],
)
def test_query_labels_may_be_of_any_type(library, qid):
    data = RankingData.from_frame(
        library({"y": [0, 1, 2, 3], "q": qid, "f": [1.0, 2, 3, 4]}), label="y", qid="q"
    )
    assert data.queries.query_of_row().tolist() == [0, 1, 0, 1]
    assert data.queries.labels.tolist() == qid[:2]


def test_categories_are_query_labels_too():
    for q in (pd.Categorical(["b", "a", "b"]), pl.Series(["b", "a", "b"], dtype=pl.Categorical)):
        frame = (pd if isinstance(q, pd.Categorical) else pl).DataFrame(
            {"y": [0, 1, 2], "q": q, "f": [1.0, 2, 3]}
        )
        assert RankingData.from_frame(frame, label="y", qid="q").qid.tolist() == ["b", "a", "b"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"y": [0.0, 1.0], "z": [1, 2], "f": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"y": [0.0, 1.0], "z": [1, 2], "f": [1.0, np.nan]}),
        pl.DataFrame({"y": [0.0, 1.0], "z": [1, 2], "f": [1, None]}),
        pa.table({"y": [0.0, 1.0], "z": [1, 2], "f": [1.5, None]}),
    ],
    ids=["pandas nullable", "pandas", "polars", "pyarrow"],
)
def test_missing_values_are_named_with_their_column_and_row(frame):
    for options in ({"label": "y"}, {"label": "f"}, {"label": "y", "features": ["z"], "qid": "f"}):
        with pytest.raises(DataError, match=r"Column 'f' has a missing value in row 1 \(counting from 0\)"):
            RankingData.from_frame(frame, **options)


def test_polars_nan_is_named_too():
    with pytest.raises(DataError, match=r"row 1, column 0 \('f'\) is NaN"):
        RankingData.from_frame(pl.DataFrame({"y": [0.0, 1.0], "f": [1.0, float("nan")]}), label="y")


def test_nullable_columns_without_nulls_are_fine():
    frame = pd.DataFrame(COLUMNS).convert_dtypes()
    check(RankingData.from_frame(frame, label="grade", qid="query", doc="doc"))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"label": "grades"}, "no column 'grades'; did you mean 'grade'?"),
        ({"label": "zzz"}, "no column 'zzz'; its columns are 'query', 'grade', 'doc', 'bm25'"),
        ({"label": "grade", "qid": "q"}, "no column 'q'"),
        ({"label": "grade", "features": ["bm26"]}, "no column 'bm26'; did you mean 'bm25'?"),
        (
            {"label": "grade"},
            r"cannot be a feature: it contains text \(.* in row 0\), not numbers; .*leave it out",
        ),
        (
            {"label": "query", "features": ["bm25"]},
            r"Column 'query' must contain numbers; got text \(.* in row 0\)\.$",
        ),
        ({"label": "grade", "features": ["query"]}, "Column 'query' cannot be a feature"),
    ],
)
def test_wrong_columns_get_one_sentence(library, options, message):
    with pytest.raises(DataError, match=message):
        RankingData.from_frame(library(COLUMNS), **options)


@pytest.mark.parametrize("features", [[], ["grade"], 5])
def test_wrong_features_get_one_sentence(library, features):
    with pytest.raises(ParameterError, match="feature"):
        RankingData.from_frame(library(COLUMNS), label="grade", features=features)


def test_a_column_of_numbers_is_not_one_of_vectors_and_the_error_says_how_to_name_it(library):
    with pytest.raises(DataError, match=r"for a column of numbers, pass features=\['bm25'\]\.$"):
        RankingData.from_frame(library(COLUMNS), label="grade", features="bm25")


@pytest.mark.parametrize("exclude", ["bm25", 5])
def test_what_is_left_out_must_be_a_list(library, exclude):
    with pytest.raises(ParameterError, match="The 'exclude' parameter must be a list of column names; got"):
        RankingData.from_frame(library(COLUMNS), label="grade", exclude=exclude)


def test_columns_with_names_of_several_levels_are_found_by_all_of_them():
    names = pd.MultiIndex.from_tuples([("judged", "grade"), ("text", "bm25"), ("text", "length")])
    frame = pd.DataFrame([[1.0, 2.0, 3.0], [0.0, 4.0, 5.0]], columns=names)
    data = RankingData.from_frame(frame, label=("judged", "grade"))
    assert data.feature_names == ("('text', 'bm25')", "('text', 'length')")
    np.testing.assert_array_equal(data.X, [[2.0, 3.0], [4.0, 5.0]])


def test_what_is_no_frame_is_refused():
    with pytest.raises(DataError, match="expects a pandas, polars or pyarrow table; got numpy ndarray"):
        RankingData.from_frame(X, label="grade")
    with pytest.raises(DataError, match=r"got polars LazyFrame; call its collect\(\) first"):
        RankingData.from_frame(pl.LazyFrame(COLUMNS), label="grade")
    with pytest.raises(DataError, match="duplicate column names"):
        RankingData.from_frame(pd.DataFrame([[1, 2, 3]], columns=["a", "a", "y"]), label="y")
    with pytest.raises(DataError, match="no rows"):
        RankingData.from_frame(pd.DataFrame({"y": [], "f": []}, dtype=float), label="y")
    with pytest.raises(DataError, match="no feature columns"):
        RankingData.from_frame(pd.DataFrame({"y": [1]}), label="y")


def write_csv(path, delimiter=","):
    csv.write_csv(pa.table(COLUMNS), path, csv.WriteOptions(delimiter=delimiter))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "A.CSV", "a.csv.gz", "a.tsv.bz2", "a.parquet", "b.v2.pq"])
def test_files_give_the_same_data_as_frames(tmp_path, name):
    path = tmp_path / name
    if path.suffix in (".parquet", ".pq"):
        parquet.write_table(pa.table(COLUMNS), path)
    else:
        plain = tmp_path / "plain"
        write_csv(plain, "\t" if "tsv" in name else ",")
        compress = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
        path.write_bytes(compress(plain.read_bytes()))
    check(load_table(path, label="grade", qid="query", doc="doc"))
    check(
        load_table(str(path), label="grade", qid="query", doc="doc", features=["bm25", "clicks", "in_stock"])
    )


@pytest.mark.parametrize(
    "written, labels",
    [
        (["7", "12", "-3"], [7, 12, -3]),
        (["007", "7", "7"], ["007", "7", "7"]),
        (["NA", "null", "nan"], ["NA", "null", "nan"]),
        (["1.0", "1", "x"], ["1.0", "1", "x"]),
        (["+1", "1", "1"], ["+1", "1", "1"]),
        (["99999999999999999999", "1", "2"], ["99999999999999999999", "1", "2"]),
        (["2024-01-01", "2024-01-02", "2024-01-02"], ["2024-01-01", "2024-01-02", "2024-01-02"]),
    ],
    ids=lambda values: str(values[0]),
)
def test_labels_in_text_files_stay_as_they_are_written(tmp_path, written, labels):
    path = tmp_path / "a.csv"
    path.write_text(
        "q,y,f,d\n" + "".join(f"{label},{i},{i},{label}\n" for i, label in enumerate(written)),
        encoding="utf-8",
    )
    data = load_table(path, label="y", qid="q", doc="d")
    assert data.qid.tolist() == data.docs.tolist() == labels


def test_an_empty_query_label_is_missing(tmp_path):
    path = tmp_path / "a.csv"
    for first in ("a", "1"):
        path.write_text(f"q,y,f\n{first},1,2\n,3,4\n", encoding="utf-8")
        with pytest.raises(FileFormatError, match=r"Column 'q' has a missing value in row 1"):
            load_table(path, label="y", qid="q")


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", r"bad.csv: the file is empty; expected a header line and rows\.$"),
        (b"\n\n", r"bad.csv: the file is empty; expected a header line and rows\.$"),
        (b"y,f\n", "The table has no rows"),
        (b"y,f\n1,2\n3\n", r"bad.csv, line 3: .*Expected 2 columns, got 1"),
        (
            b"y,f\n1,2\n3,x\n",
            r"it contains text \('x' in row 1\), not numbers; "
            r"train with columns='auto' .* leave it out with the 'exclude' parameter\.$",
        ),
        (b"y,f\nlow,2\n3,4\n", r"Column 'y' must contain numbers; got text \('low' in row 0\)\.$"),
        (b"y,f\n1,2\n,4\n", "Column 'y' has a missing value in row 1"),
        (b"y,f\n1,2\n3,nan\n", "Column 'f' has a missing value in row 1"),
        (b"y,f\n1,2\n3,inf\n", r"row 1, column 0 \('f'\) is inf"),
        (b"\x00\xff\xfe\x00\n\xff\xff\n", "line 1: the header is not UTF-8 text"),
        (b"a,b\n1,2\n", "no column 'y'"),
        (b"y,f,q\n1,2,a\n3,4,\xff\xfe\n", "bad.csv"),
        (b"y,f,f\n1,2,3\n", "duplicate column names"),
    ],
)
def test_bad_csv_files_are_named_in_one_sentence(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        load_table(path, label="y")
    assert "bad.csv" in str(caught.value)


@pytest.mark.parametrize(
    "name, content", [("a.parquet", b"no parquet"), ("a.parquet", b""), ("a.csv.gz", b"no gzip")]
)
def test_files_that_are_not_what_their_name_says_are_refused(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=name):
        load_table(path, label="y")


def test_a_truncated_parquet_file_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table(COLUMNS), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileFormatError, match=r"a\.parquet"):
        load_table(path, label="grade")


def test_parquet_text_that_is_not_utf_8_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"label": [1, 2], "named": [1, 2], "doc": ["text", "text"]}), path)
    for old in (b"named", b"text"):
        whole = path.read_bytes()
        path.write_bytes(whole.replace(old, b"\xda" + old[1:]))
        with pytest.raises(FileFormatError, match=r"is not a readable Parquet file: .*(utf-8|UTF8)"):
            load_table(path, label="label", doc="doc")
        path.write_bytes(whole)


@pytest.mark.parametrize("days", [-(2**31), 2**31 - 1])
def test_dates_that_python_lacks_are_no_numbers(tmp_path, days):
    dates = pa.array([days], pa.int32()).cast(pa.date32())
    parquet.write_table(pa.table({"label": dates, "a": [1]}), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"Column 'label' must contain numbers; got Date\."):
        load_table(tmp_path / "rows.parquet", label="label")


def test_missing_files_and_unknown_endings(tmp_path):
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(FileNotFoundError, match=name):
            load_table(tmp_path / name, label="y")
    with pytest.raises(ParameterError, match="must end in"):
        load_table(tmp_path / "data.xlsx", label="y")


def test_the_index_that_pandas_stores_is_not_a_feature(tmp_path):
    frame = pd.DataFrame({"label": [0, 1, 2], "a": [1.0, 2.0, 3.0]}, index=[5, 9, 2])
    frame.to_parquet(tmp_path / "rows.parquet")
    assert "__index_level_0__" in parquet.read_schema(tmp_path / "rows.parquet").names
    assert load_table(tmp_path / "rows.parquet", label="label").feature_names == ("a",)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_missing_column_is_named_with_all_that_the_file_has(kind, tmp_path):
    frame = pd.DataFrame({"grade": [0, 1], "a": [1.0, 2.0], "b": [1.0, 2.0]})
    path = tmp_path / f"rows.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    with pytest.raises(FileFormatError, match=r"no column 'label'; its columns are 'grade', 'a', 'b'\."):
        load_table(path, label="label", features=["a"])
