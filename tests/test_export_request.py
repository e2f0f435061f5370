"""Columns called ``params.NAME`` come with the request: parameters of SQL, scripts and engines."""

import json
import sqlite3

import duckdb
import numpy as np
import pandas
import pytest

from column_functions import (
    OF_REQUEST,
    REQUEST_COLUMNS,
    WITH_REQUEST,
    expected_scores,
    plain,
    values_of_request,
)
from command_line import rankwise_process
from rankwise import RankRLS, RankSVM, export_model
from rankwise.errors import ParameterError
from rankwise.export.elasticsearch import elasticsearch_script
from rankwise.export.sql import SQLite, StandardSQL
from rankwise.export.vespa import vespa_profile
from test_export_columns import ISO, TYPES, script_score


def request_of(values):
    """The values that all rows share, by the name of the parameter."""
    shared = plain({name: values[name][:1] for name in REQUEST_COLUMNS})[0]
    return {REQUEST_COLUMNS[name].removeprefix("params."): value for name, value in shared.items()}


def documents_of(values):
    return plain({name: column for name, column in values.items() if name not in REQUEST_COLUMNS})


def renamed(values):
    return {REQUEST_COLUMNS.get(name, name): column for name, column in values.items()}


def as_text(value):
    return value.strftime(ISO) if hasattr(value, "strftime") else value


@pytest.mark.parametrize("row", OF_REQUEST)
def test_sqlite_takes_named_parameters(row):
    values = values_of_request(row)
    rows, request = documents_of(values), request_of(values)
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE documents ({', '.join(f'`{name}`' for name in rows[0])})")
        marks = ", ".join("?" * len(rows[0]))
        database.executemany(
            f"INSERT INTO documents VALUES ({marks})", [list(map(as_text, row.values())) for row in rows]
        )
        given = {name: as_text(value) for name, value in request.items()}
        found = database.execute(
            f"SELECT {SQLite('', WITH_REQUEST).expression()} FROM documents", given
        ).fetchall()
    expected = expected_scores(renamed(values), WITH_REQUEST)
    assert np.ravel(found) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("row", OF_REQUEST)
def test_duckdb_takes_named_parameters(row):
    values = values_of_request(row)
    rows, request = documents_of(values), request_of(values)
    with duckdb.connect() as database:
        columns = ", ".join(f'"{name}" {TYPES.get(name, "DOUBLE")}' for name in rows[0])
        database.execute(f"CREATE TABLE documents ({columns})")
        marks = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO documents VALUES ({marks})", [list(row.values()) for row in rows])
        found = database.execute(
            f"SELECT {StandardSQL('', WITH_REQUEST).expression()} FROM documents", request
        )
        expected = expected_scores(renamed(values), WITH_REQUEST)
        assert np.ravel(found.fetchall()) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("row", OF_REQUEST)
def test_a_script_has_a_place_for_parameters(row):
    values = values_of_request(row)
    body = json.loads(elasticsearch_script("", WITH_REQUEST))
    params, request = body["query"]["script_score"]["script"]["params"], request_of(values)
    assert {name for name, value in params.items() if value is None} == set(request)
    found = [script_score(body, document | request) for document in documents_of(values)]
    assert found == pytest.approx(expected_scores(renamed(values), WITH_REQUEST), rel=1e-9, abs=1e-9)


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"price": rng.normal(size=60), "device": np.resize(["phone", "desk"], 60)})
    frame["is_mobile"] = np.repeat([True, False] * 3, 10)
    y = frame["price"] * frame["is_mobile"]
    pairs = [("is_mobile", "price")]
    return RankRLS(interactions=pairs, columns="auto").fit(frame, y, np.repeat(np.arange(6), 10)), frame


def test_a_vespa_profile_declares_what_comes_with_the_query(model, tmp_path):
    names = {"is_mobile": "params.mobile", "price": "attribute(price)"}
    export_model(model[0], tmp_path / "profile", "vespa", feature_names=names)
    text = (tmp_path / "profile").read_text(encoding="utf-8")
    assert "    inputs {\n        query(mobile) double\n    }\n    first-phase {" in text
    assert "if(query(mobile) != 0, " in text
    assert "inputs" not in vespa_profile("learned", type(WITH_REQUEST)(WITH_REQUEST.terms[:1]))


@pytest.mark.filterwarnings("ignore:.*negative")
def test_formats_say_what_cannot_come_with_the_request(model, tmp_path):
    ranker, frame = model
    for to in ("solr-function", "vespa"):
        with pytest.raises(
            ParameterError,
            match=r"cannot take 'params.device' .* as a text; 'sql', 'sqlite', 'elasticsearch-",
        ):
            export_model(ranker, tmp_path / "out", to, feature_names={"device": "params.device"})
    plain_ranker = RankRLS().fit(frame[["price", "is_mobile"]], frame["price"])
    for to in ("solr", "elasticsearch", "opensearch"):
        with pytest.raises(ParameterError, match=r"cannot take 'params.m' from the request as a number"):
            export_model(plain_ranker, tmp_path / "out", to, feature_names={"is_mobile": "params.m"})
    with pytest.raises(ParameterError, match=r"inputs, but no request; rename 'params.m'"):
        export_model(ranker, tmp_path / "out", "onnx", feature_names={"is_mobile": "params.m"})
    for name in ("params.", "params.a b", "params.a;--", "params.1"):
        with pytest.raises(ParameterError, match=r"cannot be a parameter of the request; after 'params.'"):
            export_model(ranker, tmp_path / "out", "sql", feature_names={"is_mobile": name})
    with pytest.raises(ParameterError, match="has a parameter 'columns' of its own"):
        export_model(
            ranker, tmp_path / "out", "elasticsearch-script", feature_names={"price": "params.columns"}
        )
    with pytest.raises(ParameterError, match="no feature 'prise' to rename; did you mean 'price'"):
        export_model(ranker, tmp_path / "out", "sql", feature_names={"prise": "price"})
    assert not list(tmp_path.iterdir())


def test_map_renames_some_columns_on_the_command_line(model, tmp_path):
    ranker, frame = model
    ranker.save(tmp_path / "model")
    how = ["--to", "sqlite", "--map", "is_mobile=params.is_mobile,price=cost"]
    run = rankwise_process("export", "model", "score.sql", *how, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    expression = (tmp_path / "score.sql").read_text(encoding="utf-8")
    for mobile in (True, False, None):
        rows = frame.assign(is_mobile=np.full(len(frame), mobile, dtype=object))
        with sqlite3.connect(":memory:") as database:
            documents = frame[["price", "device"]].rename(columns={"price": "cost"})
            documents.to_sql("documents", database, index=False)
            found = database.execute(f"SELECT {expression} FROM documents", {"is_mobile": mobile}).fetchall()
        assert np.ravel(found) == pytest.approx(ranker.predict(rows), abs=1e-9)


def test_map_is_checked_on_the_command_line(model, tmp_path):
    model[0].save(tmp_path / "model")
    for how, said in [
        (["--map", "price"], "--map expects price=cost"),
        (["--map", "price=a,price=b"], "got 'price=b'"),
        (["--map", "price=a", "--features", "a,b,c"], "--features and --map cannot be combined"),
    ]:
        run = rankwise_process("export", "model", "out", "--to", "sql", *how, cwd=tmp_path)
        assert run.returncode != 0
        assert said in " ".join(run.stderr.split())


def script_of(path):
    script = json.loads(path.read_text(encoding="utf-8"))["query"]["script_score"]["script"]
    return script["source"], script["params"]


def test_a_script_asks_for_the_score_of_the_query_only_if_the_model_reads_it(model, tmp_path):
    ranker, _ = model
    export_model(ranker, tmp_path / "plain", "elasticsearch-script")
    export_model(ranker, tmp_path / "score", "elasticsearch-script", feature_names={"price": "_score"})
    assert "_score" not in script_of(tmp_path / "plain")[0]
    source, params = script_of(tmp_path / "score")
    assert "double queryScore = _score;" in source
    sides = [params["interactions"][0][side] for side in ("first", "second")]
    assert [column.get("field", "the score") for column in [*params["columns"], *sides]] == [
        "the score",
        "device",
        "is_mobile",
        "the score",
    ]
    with pytest.raises(
        ParameterError, match=r"'_score' is the score of the query, a number, but .* as a text"
    ):
        export_model(ranker, tmp_path / "out", "elasticsearch-script", feature_names={"device": "_score"})


@pytest.mark.parametrize("size", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("columns", [None, "auto"])
@pytest.mark.filterwarnings("ignore:.*negative", "ignore:.*constant within queries")
def test_columns_that_are_constant_everywhere_or_within_queries_are_left_out(columns, size, tmp_path):
    rng = np.random.default_rng(0)
    searches = np.repeat(np.arange(20), 6)
    frame = pandas.DataFrame({"price": rng.normal(size=120), "sold": rng.normal(size=120)})
    frame["words"] = size * rng.normal(1e3, 100.0, 20).round(1)[searches]
    frame["edition"] = 3.7 * size
    y = np.round(frame["price"] - 0.5 * frame["sold"] + frame["words"] / 100.0 / size)
    ranker = RankSVM(columns=columns).fit(frame, y, searches)
    for to in ("sqlite", "vespa", "solr-function", "elasticsearch-script"):
        export_model(ranker, tmp_path / to, to, feature_names={"words": "params.words"})
        text = (tmp_path / to).read_text(encoding="utf-8")
        assert "price" in text
        assert "words" not in text
        assert "edition" not in text


def test_a_rare_value_that_the_profile_does_not_show_keeps_its_weight(tmp_path):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(40_000, 2)), np.repeat(np.arange(4_000), 10)
    X[:, 1] = 0.0
    X[25, 1] = 1.0
    ranker = RankRLS().fit(X, np.round(X @ [1.0, 50.0]), qid)
    assert ranker.model_.profile.columns["x1"].effect == 0.0
    export_model(ranker, tmp_path / "out", "elasticsearch-script", feature_names=["price", "offer"])
    params = script_of(tmp_path / "out")[1]
    assert [column["field"] for column in params["columns"]] == ["price", "offer"]


def test_a_column_that_matters_only_in_an_interaction_adds_nothing_alone(model, tmp_path):
    export_model(model[0], tmp_path / "out", "elasticsearch-script")
    params = script_of(tmp_path / "out")[1]
    assert [column["field"] for column in params["columns"]] == ["price", "device"]
    assert params["interactions"][0]["first"]["field"] == "is_mobile"
