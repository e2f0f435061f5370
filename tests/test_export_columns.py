"""Sums of functions of columns in the languages of databases, runtimes and engines."""

import json
import math
import sqlite3

import numpy as np
import onnx
import onnxruntime
import pytest

from column_functions import FUNCTION, OF_CATEGORIES, expected_scores, plain, values_of_rows
from rankwise.errors import ParameterError
from rankwise.export.elasticsearch import elasticsearch_model, elasticsearch_script, script_scores
from rankwise.export.onnx_columns import add_columns
from rankwise.export.onnx_graph import Graph
from rankwise.export.solr import solr_function, solr_model
from rankwise.export.sql import sqlite, standard_sql
from rankwise.export.vespa import vespa_profile
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.shapes import Flag, Line, Lookup

ISO = "%Y-%m-%dT%H:%M:%S.%f"


def scores_in_sqlite(expression, rows):
    with sqlite3.connect(":memory:") as database:
        columns = ", ".join(f"`{name}`" for name in rows[0])
        database.execute(f"CREATE TABLE documents ({columns})")
        marks = ", ".join("?" * len(rows[0]))
        as_text = [
            [value.strftime(ISO) if hasattr(value, "strftime") else value for value in row.values()]
            for row in rows
        ]
        database.executemany(f"INSERT INTO documents VALUES ({marks})", as_text)
        return [score for (score,) in database.execute(f"SELECT {expression} FROM documents")]


TYPES = {"brand": "VARCHAR", "in stock": "BOOLEAN", "created": "TIMESTAMP", "updated": "TIMESTAMP"}


def scores_in_duckdb(expression, rows):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as database:
        columns = ", ".join(f'"{name}" {TYPES.get(name, "DOUBLE")}' for name in rows[0])
        database.execute(f"CREATE TABLE documents ({columns})")
        marks = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO documents VALUES ({marks})", [list(row.values()) for row in rows])
        return [score for (score,) in database.execute(f"SELECT {expression} FROM documents").fetchall()]


DATABASES = {"sqlite": (sqlite, scores_in_sqlite), "duckdb": (standard_sql, scores_in_duckdb)}


@pytest.mark.parametrize("database", DATABASES)
def test_databases_compute_the_scores(database):
    write, scores = DATABASES[database]
    values = values_of_rows()
    found = scores(write("", FUNCTION), plain(values))
    assert found == pytest.approx(expected_scores(values), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize(
    "term", FUNCTION.terms, ids=lambda term: type(term.shape).__name__ + "-" + term.column
)
def test_databases_compute_every_shape(database, term):
    write, scores = DATABASES[database]
    values = {term.column: values_of_rows()[term.column]}
    found = scores(write("", AdditiveFunction((term,))), plain(values))
    assert found == pytest.approx(term.shape(values[term.column]), rel=1e-9, abs=1e-9)


def test_sqlite_does_not_take_a_column_that_is_not_there_for_a_text():
    expression = sqlite("", AdditiveFunction((Term("prise", Line(0.0, 0.0, 1.0, np.nan)),)))
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        scores_in_sqlite(expression, [{"price": 1.0}])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_onnx_takes_raw_columns_and_texts(dtype, tmp_path):
    values = values_of_rows()
    if dtype == np.float32:
        values["price"] = np.round(values["price"])  # has no more digits there
    graph = Graph(np.dtype(dtype), list(values))
    add_columns(graph, FUNCTION)
    encoded = graph.encoded("RankRLS", (), "", {})
    onnx.checker.check_model(encoded)
    session = onnxruntime.InferenceSession(encoded, providers=["CPUExecutionProvider"])
    assert [put.name for put in session.get_inputs()] == list(values)
    (scores,) = session.run(["scores"], onnx_inputs(values, dtype))
    assert scores.dtype == dtype
    tolerance = 1e-9 if dtype == np.float64 else 1e-4
    assert scores == pytest.approx(expected_scores(values), rel=tolerance, abs=tolerance)


def onnx_inputs(values, dtype=np.float64):
    """Columns of shape (rows, 1): texts, dates as seconds since 1970, and numbers."""
    inputs = {}
    for name, column in values.items():
        if column.dtype == object:
            column = np.array([text or "" for text in column], dtype=object)
        elif column.dtype.kind == "M":
            seconds = column.astype("datetime64[ms]").astype(np.float64) / 1e3
            column = np.where(np.isnat(column), np.nan, seconds)
        else:
            column = column.astype(dtype)
        inputs[name] = column[:, np.newaxis]
    return inputs


def test_onnx_keeps_its_names_apart_from_those_of_columns():
    line = Line(0.0, 0.0, 1.0, 0.0)
    names = ["constant_0", "_constant_0", "sub_0", "__", "X"]
    graph = Graph(np.dtype(np.float64), names)
    add_columns(graph, AdditiveFunction(tuple(Term(name, line) for name in names)))
    session = onnxruntime.InferenceSession(graph.encoded("m", (), "", {}), providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], {name: np.array([[2.0]]) for name in names})
    assert scores.tolist() == [10.0]
    with pytest.raises(ParameterError, match="'scores' is the name of the graph's output"):
        add_columns(Graph(np.dtype(np.float64), ["scores"]), AdditiveFunction((Term("scores", line),)))


def script_score(body, document):
    """What the script documents: missing, text, or the piece of a line that a number or age is on."""
    score = 0.0
    for column in body["query"]["script_score"]["script"]["params"]["columns"]:
        value = document[column["field"]]
        if value is None:
            score += column["missing"]
            continue
        if "other" in column:
            text = {True: "true", False: "false"}.get(value, value)
            score += column["texts"].get(text, column["other"])
            continue
        if "reference" in column:
            value = (column["reference"] - (value - EPOCH).total_seconds() * 1000) / 86_400_000
        if "log" in column:
            value = math.copysign(math.log1p(abs(value)), value)
        knots = column["knots"]
        piece = max(sum(value >= knot for knot in knots[1:]), 0)
        score += column["values"][piece] + column["slopes"][piece] * (value - knots[piece])
    return score


EPOCH = np.datetime64(0, "s").item()


def test_a_script_holds_all_that_its_score_needs():
    values = values_of_rows()
    body = json.loads(elasticsearch_script("", FUNCTION))
    found = [script_score(body, document) for document in plain(values)]
    assert found == pytest.approx(expected_scores(values), rel=1e-9, abs=1e-9)


def test_the_positive_scores_of_a_script_are_in_the_same_order():
    values = values_of_rows()
    positive, scores = script_scores(FUNCTION, values), expected_scores(values)
    assert positive.min() > 0.0
    assert scores.min() < 0.0 < scores.max()
    assert (np.diff(positive[np.argsort(scores)]) >= 0.0).all()


@pytest.mark.parametrize(
    "write, instead", [(solr_model, "'solr-function'"), (elasticsearch_model, "'elasticsearch-script'")]
)
@pytest.mark.parametrize("term", [term for term in FUNCTION.terms if not isinstance(term.shape, Line)])
def test_models_of_weights_refuse_other_shapes_by_column(write, instead, term):
    function = AdditiveFunction((Term("title", Line(0.0, 0.0, 1.0, np.nan)), term))
    with pytest.raises(
        ParameterError, match=f"the column '{term.column}' .* export to {instead}, 'vespa', 'sql'"
    ):
        write("model", function)


def test_models_of_weights_say_what_missing_features_must_be():
    function = AdditiveFunction((Term("price", Line(10.0, 0.5, 0.25, missing=1.0)),))
    with pytest.warns(UserWarning, match=r"let the engine return these as defaults \(price: 12\), or"):
        weights = json.loads(solr_model("model", function))
    assert weights["features"][0]["norm"]["params"] == {"avg": "8.0", "std": "1.0"}
    assert function.terms[0].shape(np.array([12.0])) == function.terms[0].shape.missing


def test_vespa_writes_cases_for_what_is_missing():
    function = AdditiveFunction(
        (Term("attribute(b)", Lookup(('a"}',), (1.0,), 0.5, 0.25)), Term("c", Flag(1, 0, 0.5)))
    )
    profile = vespa_profile("learned", function)
    assert r'if(attribute(b) == "", 0.25, if(attribute(b) == "a\u0022\u007d", 1.0, 0.5))' in profile
    assert "+ if(isNan(c), 0.5, if(c != 0, 1.0, 0.0))" in profile


def test_thousands_of_categories_are_not_nested():
    for text in (vespa_profile("learned", OF_CATEGORIES), solr_function("", OF_CATEGORIES)):
        assert max(np.cumsum([{"(": 1, ")": -1}.get(character, 0) for character in text])) < 10
