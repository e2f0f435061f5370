"""Tables with missing values, text and dates on the command line: train, info, predict, evaluate, update."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from command_line import done, folder, refused
from messy_tables import FEATURES, messy_columns
from rankwise import DataError, RankingData, RankRLS, load_model, load_table, save_letor

__all__ = ["done", "folder", "refused"]  # fixtures

TABLE = pa.table(messy_columns())
NAMES = ["--qid", "query", "--label", "label"]


@pytest.fixture(params=["rows.parquet", "rows.csv"])
def rows(request, tmp_path):
    path = tmp_path / request.param
    parquet.write_table(TABLE, path) if path.suffix == ".parquet" else csv.write_csv(TABLE, path)
    return path


def test_a_table_is_trained_on_shown_scored_and_measured(done, rows, tmp_path):
    model, scores = tmp_path / "model", tmp_path / "scores.txt"
    trained = " ".join(done("train", rows, model, "--columns", "auto", *NAMES).split())
    assert "brand category: 3 categories; missing is one of its own" in trained
    info = json.loads(done("info", model, "--json"))
    assert info["columns"]["clicks"].startswith("log of the number")
    assert set(info["largest weights"]) <= set(load_model(model).encoding_.feature_names)
    done("predict", rows, model, "--out", scores, *NAMES)
    np.testing.assert_allclose(np.loadtxt(scores), load_model(model).predict(TABLE), rtol=1e-9)
    assert "ndcg@10" in done("evaluate", rows, model, *NAMES)


def test_a_file_says_what_columns_become(done, rows, tmp_path):
    told = {"price": "spline:4", "brand": "category", "added": "date:log"}
    (tmp_path / "columns.json").write_text(json.dumps(told), encoding="utf-8")
    trained = done(
        "train", rows, tmp_path / "model", "--columns", tmp_path / "columns.json", "--json", *NAMES
    )
    assert list(json.loads(trained)["columns"]) == list(told)
    done("evaluate", rows, tmp_path / "model", *NAMES)


@pytest.mark.parametrize("command", ["train", "path"])
def test_a_kernel_takes_columns(done, rows, tmp_path, command):
    model = tmp_path / "model"
    options = [model, "--learner", "kernel-rankrls"] if command == "train" else ["--model", model]
    trained = done(command, rows, *options, "--columns", "auto", *NAMES)
    assert "brand category: 3 categories; missing is one of its own" in " ".join(trained.split())
    assert json.loads(done("info", model, "--json"))["columns"]["in_stock"].startswith("flag")
    done("predict", rows, model, "--out", tmp_path / "scores.txt", *NAMES)
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "scores.txt"), load_model(model).predict(TABLE))
    assert "ndcg@10" in done("evaluate", rows, model, *NAMES)


def test_alpha_is_chosen_for_columns(done, rows, tmp_path):
    chosen = done(
        "train", rows, tmp_path / "model", "--columns", "spline", "--alpha", "1,10,100,1000", *NAMES
    )
    assert "spline with" in " ".join(chosen.split())


def test_a_model_of_columns_learns_more_tables(done, tmp_path):
    first = np.isin(np.array(TABLE["query"]), [f"query {q}" for q in range(8)])
    for name, part in (("first", first), ("second", ~first)):
        parquet.write_table(TABLE.filter(pa.array(part)), tmp_path / f"{name}.parquet")
    model, updated = tmp_path / "model", tmp_path / "updated"
    done("train", tmp_path / "first.parquet", model, "--columns", "auto", "--set", "solver=primal", *NAMES)
    done("update", tmp_path / "second.parquet", model, "--out", updated, *NAMES)
    assert load_model(updated).encoding_ == load_model(model).encoding_


def test_several_tables_are_one(done, tmp_path):
    half = TABLE.num_rows // 2
    for name, part in (("a", TABLE.slice(0, half)), ("b", TABLE.slice(half))):
        csv.write_csv(part, tmp_path / f"{name}.csv")
    csv.write_csv(TABLE, tmp_path / "all.csv")
    parts = f"{tmp_path / 'a.csv'},{tmp_path / 'b.csv'}"
    for data, model in ((parts, "parts"), (tmp_path / "all.csv", "all")):
        done("train", data, tmp_path / model, "--columns", "auto", "--merge-queries", *NAMES)
    a, b = load_model(tmp_path / "parts"), load_model(tmp_path / "all")
    np.testing.assert_allclose(a.predict(TABLE), b.predict(TABLE), atol=1e-9)


def test_text_without_names_can_have_splines(done, tmp_path):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 3)), np.arange(60) % 6
    data = RankingData.from_arrays(X, np.digitize(np.abs(X[:, 0]), [0.5, 1.0]), qid)
    save_letor(data, tmp_path / "rows.txt")
    done("train", tmp_path / "rows.txt", tmp_path / "model", "--columns", "spline")
    done("evaluate", tmp_path / "rows.txt", tmp_path / "model")


def with_text(table):
    place = table.schema.get_field_index("clicks")
    return table.set_column(place, "clicks", pa.array(["n/a"] * table.num_rows))


UNFIT = {
    "missing": (lambda table: table.drop_columns(["brand"]), "no column 'brand'"),
    "renamed": (lambda table: table.rename_columns({"brand": "Brand"}), "did you mean 'Brand'?"),
    "text": (with_text, "Column 'clicks' must hold numbers; row 0 is 'n/a'"),
    "empty": (lambda table: table.slice(0, 0), "The table has no rows"),
}


@pytest.mark.parametrize("change, message", UNFIT.values(), ids=UNFIT)
def test_a_table_that_does_not_fit_the_model_is_refused(done, refused, change, message, tmp_path):
    parquet.write_table(TABLE, tmp_path / "rows.parquet")
    done("train", tmp_path / "rows.parquet", tmp_path / "model", "--columns", "auto", *NAMES)
    parquet.write_table(change(TABLE), tmp_path / "other.parquet")
    assert message in refused("predict", tmp_path / "other.parquet", tmp_path / "model", *NAMES, code=1)


def test_bad_columns_on_the_command_line_are_refused(refused, tmp_path):
    parquet.write_table(TABLE, tmp_path / "rows.parquet")
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    train = ["train", tmp_path / "rows.parquet", tmp_path / "model", *NAMES, "--columns"]
    assert "expected one of auto, number" in refused(*train, "spline:x", code=2)
    assert "with what each column becomes" in refused(*train, tmp_path / "list.json", code=1)


def test_a_data_set_of_a_table_selects_splits_and_joins():
    data = RankingData.from_frame(TABLE, label="label", qid="query", as_table=True)
    assert data.feature_names == tuple(FEATURES)
    assert "table" in repr(data)
    train, test = data.split(0.5)
    model = RankRLS(columns="auto").fit(train, eval_set=test)
    np.testing.assert_array_equal(
        model.predict(RankingData.concat([train, test])),
        np.concatenate([model.predict(train), model.predict(test)]),
    )
    with pytest.raises(DataError, match="cannot be scaled within queries"):
        data.scale_per_query()
    with pytest.raises(DataError, match="only rankers with 'columns' take it"):
        RankRLS().fit(data)


def test_nothing_between_delimiters_is_missing(tmp_path):
    (tmp_path / "rows.csv").write_text("label,brand,price\n1,acme,2\n0,,3\n1,acme,\n", encoding="utf-8")
    data = load_table(tmp_path / "rows.csv", label="label", as_table=True)
    assert data.X.columns["brand"].values.tolist() == ["acme", None, "acme"]
    assert np.isnan(data.X.columns["price"].values).tolist() == [False, False, True]


def test_interactions_are_named_or_searched_for(done, refused, rows, tmp_path):
    model = tmp_path / "model"
    named = json.loads(
        done("train", rows, model, "--interactions", "in_stock*price,brand*price=spline:3", "--json", *NAMES)
    )
    assert named["columns"]["brand × price"] == "table of 3 categories × 3 knots"
    assert "in_stock × price" in json.loads(done("info", model, "--json"))["columns"]
    done("evaluate", rows, model, *NAMES)
    trained = done("train", rows, model, "--interactions", "auto", *NAMES)
    searched = load_model(model).encoding_.search
    assert ("none explains left-out queries: the model has no" in trained) == (not searched.found)
    done("train", rows, model, "--interactions", "2", "--learner", "ranksvm", "--alpha", "0.01", *NAMES)
    assert "device*price" in refused("train", rows, model, "--interactions", "price", *NAMES, code=2)
    assert "'nowhere'" in refused("train", rows, model, "--interactions", "nowhere*price", *NAMES, code=2)
