"""Ids of 64 bits as categories, queries and documents: no digit is lost, whatever else is in the column."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from command_line import done, folder, refused
from rankwise import ColumnEncoder, DataError, RankingData, RankRLS, export_model, load_model
from rankwise.rows.table import stacked, table_of

__all__ = ["done", "folder", "refused"]  # fixtures

FIRST, SECOND = 2**53, 2**53 + 1  # the same float64
IDS = [FIRST, SECOND] * 4
LABELS = [0.0, 1.0] * 4
CATEGORIES = [f"id={FIRST}", f"id={SECOND}"]

FRAMES = {
    "pandas Int64": lambda ids: pd.DataFrame({"id": pd.array(ids, dtype="Int64")}),
    "pandas UInt64": lambda ids: pd.DataFrame({"id": pd.array(ids, dtype="UInt64")}),
    "pandas objects": lambda ids: pd.DataFrame({"id": pd.Series(ids, dtype=object)}),
    "pandas NumPy scalars": lambda ids: pd.DataFrame(
        {"id": pd.Series([np.nan if one is None else np.int64(one) for one in ids], dtype=object)}
    ),
    "pandas arrow": lambda ids: pd.DataFrame({"id": pd.Series(ids, dtype="int64[pyarrow]")}),
    "pandas category": lambda ids: pd.DataFrame({"id": pd.Series(ids, dtype="Int64").astype("category")}),
    "polars": lambda ids: pl.DataFrame({"id": ids}),
    "polars Int128": lambda ids: pl.DataFrame({"id": pl.Series(ids, dtype=pl.Int128)}),
    "pyarrow": lambda ids: pa.table({"id": pa.array(ids, pa.int64())}),
    "pyarrow uint64": lambda ids: pa.table({"id": pa.array(ids, pa.uint64())}),
    "pyarrow chunks": lambda ids: pa.table({"id": pa.chunked_array([ids[:1], ids[1:]], pa.int64())}),
    "pyarrow dictionary": lambda ids: pa.table({"id": pa.array(ids, pa.int64()).dictionary_encode()}),
    "pyarrow decimal": lambda ids: pa.table({"id": pa.array(ids, pa.int64()).cast(pa.decimal128(20, 0))}),
    "narwhals": lambda ids: nw.from_native(pl.DataFrame({"id": ids})),
}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


def test_ids_beside_a_missing_one_do_not_merge_in_fit(frame):
    encoder = ColumnEncoder({"id": "category"}).fit(frame([*IDS, None]))
    assert encoder.get_feature_names_out().tolist() == [*CATEGORIES, "id: missing"]


def test_a_missing_id_in_another_row_leaves_the_other_scores_alone(frame):
    model = RankRLS(columns={"id": "category"}).fit(frame(IDS), LABELS, [0] * len(IDS))
    alone = model.predict(frame([FIRST, SECOND]))
    assert alone[1] > alone[0]
    np.testing.assert_array_equal(model.predict(frame([FIRST, SECOND, None]))[:2], alone)
    np.testing.assert_array_equal(model.predict(frame([SECOND, None]))[:1], alone[1:])


def test_every_frame_has_the_same_ids(frame):
    model = RankRLS(columns={"id": "category"}).fit(FRAMES["pyarrow"](IDS), LABELS, [0] * len(IDS))
    np.testing.assert_array_equal(
        model.predict(frame([FIRST, SECOND, None])),
        model.predict(FRAMES["pyarrow"]([FIRST, SECOND, None])),
    )


def test_queries_and_documents_keep_their_digits(frame):
    ids = nw.from_native(frame(IDS), eager_only=True)["id"]
    of_labels = nw.new_series("label", LABELS, backend=nw.get_native_namespace(ids))
    of_features = of_labels.alias("x")
    table = nw.from_native(frame(IDS), eager_only=True).with_columns(ids.alias("doc"), of_labels, of_features)
    data = RankingData.from_frame(table, label="label", qid="id", doc="doc")
    assert data.n_queries == 2
    assert [int(label) for label in data.queries.labels] == [FIRST, SECOND]
    assert [int(doc) for doc in data.docs] == IDS


def test_large_integers_that_float64_holds_are_numbers_as_well_as_ids():
    nanoseconds = [2**60, 2**60 + 2**30, None, 2**60]
    column = table_of(pa.table({"time": nanoseconds}))
    np.testing.assert_array_equal(
        ColumnEncoder({"time": "number"}).fit(column).transform(column)[:, 1], [0.0, 0.0, 1.0, 0.0]
    )
    names = ColumnEncoder({"time": "category"}).fit(column).get_feature_names_out()
    assert names.tolist() == [f"time={2**60}", "time: other", "time: missing"]


def test_tables_with_and_without_large_ids_are_stacked_without_loss():
    whole = stacked([table_of(pa.table({"id": ids})) for ids in ([7, None], [FIRST + 2, 7], [SECOND])])
    assert whole.columns["id"].shown() == ["7", "missing", str(FIRST + 2), "7", str(SECOND)]


def test_floats_that_may_have_lost_digits_are_not_taken_for_ids():
    floats = pd.DataFrame({"id": pd.Series([7, SECOND, None], dtype=float), "label": 1.0, "x": 1.0})
    with pytest.raises(DataError, match=r"Column 'id' has the float 9007199254740992 in row 1, which may"):
        ColumnEncoder({"id": "category"}).fit(floats)
    with pytest.raises(DataError, match=r"Column 'id' has the float 9007199254740992 in row 1, which may"):
        RankingData.from_frame(floats[:2], label="label", qid="id")
    with pytest.raises(DataError, match=r"qid has the float 9007199254740992 in row 1, which may have lost"):
        RankRLS().fit(np.ones((2, 1)), [0, 1], qid=floats["id"][:2])


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_files_on_the_command_line_keep_the_digits(done, tmp_path, name):
    columns = {"id": [*IDS, None], "label": [*LABELS, 0.0], "query": [SECOND] * 4 + [FIRST] * 5}
    path, model = tmp_path / name, tmp_path / "model"
    parquet.write_table(pa.table(columns), path) if path.suffix == ".parquet" else csv.write_csv(
        pa.table(columns), path
    )
    (tmp_path / "columns.json").write_text('{"id": "category"}', encoding="utf-8")
    names = ["--qid", "query", "--label", "label"]
    trained = " ".join(done("train", path, model, "--columns", tmp_path / "columns.json", *names).split())
    assert "9 rows, 2 queries" in trained
    assert load_model(model).encoding_.codes["id"].categories == (str(FIRST), str(SECOND))
    done("predict", path, model, "--out", tmp_path / "scores.txt", *names)
    scores = np.loadtxt(tmp_path / "scores.txt")
    assert (scores[1:8:2] > scores[0:8:2]).all()


@pytest.mark.parametrize(("library", "language"), [("sqlite3", "sqlite"), ("duckdb", "sql")])
def test_databases_find_the_ids_that_predict_finds(tmp_path, library, language):
    connect = pytest.importorskip(library).connect
    ids = [FIRST, SECOND, None, SECOND + 1]
    model = RankRLS(columns={"id": "category"}).fit(FRAMES["pyarrow"]([*IDS, None]), [*LABELS, 0.5], [0] * 9)
    export_model(model, tmp_path / "score.sql", language)
    expression = (tmp_path / "score.sql").read_text(encoding="utf-8")
    with connect(":memory:") as database:
        database.execute("CREATE TABLE documents (id BIGINT)")
        database.executemany("INSERT INTO documents VALUES (?)", [(one,) for one in ids])
        found = database.execute(f"SELECT {expression} FROM documents").fetchall()
    expected = model.predict(FRAMES["pyarrow"](ids))
    np.testing.assert_allclose([score for (score,) in found], expected, rtol=1e-12, atol=1e-15)
