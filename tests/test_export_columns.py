"""Sums of functions of columns in the languages of databases, runtimes and engines."""

import json
import math
import sqlite3

import numpy as np
import onnx
import onnxruntime
import pytest

from column_functions import (
    FUNCTION,
    INTERACTIONS,
    OF_CATEGORIES,
    WITH_INTERACTIONS,
    expected_scores,
    only,
    plain,
    stressed_values,
    values_of_rows,
)
from rankwise.errors import ParameterError
from rankwise.export.elasticsearch import elasticsearch_model, elasticsearch_script, script_scores
from rankwise.export.onnx_columns import add_columns
from rankwise.export.onnx_graph import Graph
from rankwise.export.solr import solr_function, solr_model
from rankwise.export.sql import SQLite, StandardSQL
from rankwise.export.vespa import vespa_profile
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.interactions import CategoryAxis, Interaction, KnotAxis
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


TYPES = {
    "brand": "VARCHAR",
    "color": "VARCHAR",
    "in stock": "BOOLEAN",
    "created": "TIMESTAMP",
    "updated": "TIMESTAMP",
}


def scores_in_duckdb(expression, rows):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as database:
        columns = ", ".join(f'"{name}" {TYPES.get(name, "DOUBLE")}' for name in rows[0])
        database.execute(f"CREATE TABLE documents ({columns})")
        marks = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO documents VALUES ({marks})", [list(row.values()) for row in rows])
        return [score for (score,) in database.execute(f"SELECT {expression} FROM documents").fetchall()]


DATABASES = {"sqlite": (SQLite, scores_in_sqlite), "duckdb": (StandardSQL, scores_in_duckdb)}


@pytest.mark.parametrize("database", DATABASES)
def test_databases_compute_the_scores(database):
    language, scores = DATABASES[database]
    values = values_of_rows()
    found = scores(language("", FUNCTION).expression(), plain(values))
    assert found == pytest.approx(expected_scores(values), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize(
    "term", FUNCTION.terms, ids=lambda term: type(term.shape).__name__ + "-" + term.column
)
def test_databases_compute_every_shape(database, term):
    language, scores = DATABASES[database]
    values = {term.column: values_of_rows()[term.column]}
    found = scores(language("", AdditiveFunction((term,))).expression(), plain(values))
    assert found == pytest.approx(term.shape(values[term.column]), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("one", INTERACTIONS, ids=lambda one: one.name)
def test_databases_compute_every_interaction(database, one):
    write, scores = DATABASES[database]
    values = {column: stressed_values()[column] for column in one.columns}
    found = scores(write("", only(one)).expression(), plain(values))
    assert found == pytest.approx(one(*values.values()), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("database", DATABASES)
def test_databases_add_interactions_to_what_columns_add_alone(database):
    write, scores = DATABASES[database]
    values = values_of_rows()
    found = scores(write("", WITH_INTERACTIONS).expression(), plain(values))
    assert found == pytest.approx(expected_scores(values, WITH_INTERACTIONS), rel=1e-9, abs=1e-9)


def test_an_interaction_has_as_many_products_as_its_shorter_axis_has_points_that_matter():
    wide = Interaction(
        ("brand", "rating"),
        (CategoryAxis(tuple("abcdefgh")), KnotAxis((1.0, 2.0, 3.0))),
        tuple((1.0 + row, 0.0, 2.0 * row, -1.0 * row) for row in range(10)),
    )
    assert len(wide.products()) == 3
    assert SQLite("", only(wide)).expression().count("`brand` = 'a'") == len(wide.products())


def test_sqlite_does_not_take_a_column_that_is_not_there_for_a_text():
    expression = SQLite("", AdditiveFunction((Term("prise", Line(0.0, 0.0, 1.0, np.nan)),))).expression()
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        scores_in_sqlite(expression, [{"price": 1.0}])


def scores_in_onnx(function, values, dtype=np.float64):
    graph = Graph(np.dtype(dtype), list(values))
    add_columns(graph, function)
    encoded = graph.encoded("RankRLS", (), "", {})
    onnx.checker.check_model(encoded)
    session = onnxruntime.InferenceSession(encoded, providers=["CPUExecutionProvider"])
    assert [put.name for put in session.get_inputs()] == [term.column for term in function.terms]
    (scores,) = session.run(["scores"], onnx_inputs(values, dtype))
    assert scores.dtype == dtype
    return scores


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_onnx_takes_raw_columns_and_texts(dtype):
    values = values_of_rows()
    if dtype == np.float32:
        values["price"] = np.round(values["price"])  # has no more digits there
    tolerance = 1e-9 if dtype == np.float64 else 1e-4
    expected = pytest.approx(expected_scores(values, WITH_INTERACTIONS), rel=tolerance, abs=tolerance)
    assert scores_in_onnx(WITH_INTERACTIONS, values, dtype) == expected


@pytest.mark.parametrize("one", INTERACTIONS, ids=lambda one: one.name)
def test_onnx_computes_every_interaction(one):
    values = {column: stressed_values()[column] for column in one.columns}
    found = scores_in_onnx(only(one), values)
    assert found == pytest.approx(one(*values.values()), rel=1e-9, abs=1e-9)


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
    """What the script documents: the values of columns, and those between the points of tables."""
    params = body["query"]["script_score"]["script"]["params"]
    score = sum(script_value(column, document) for column in params["columns"])
    for pair in params["interactions"]:
        first, second = script_value(pair["first"], document), script_value(pair["second"], document)
        rows = [np.interp(second, range(len(row)), row) for row in pair["table"]]
        score += np.interp(first, range(len(rows)), rows)
    return score


def script_value(column, document):
    """Missing, text, or the piece of a line that a number or age is on."""
    value = document[column["parameter"] if "parameter" in column else column["field"]]
    if value is None:
        return column["missing"]
    if "other" in column:
        text = {True: "true", False: "false"}.get(value, value)
        return column["texts"].get(text, column["other"])
    if "reference" in column:
        value = (column["reference"] - (value - EPOCH).total_seconds() * 1000) / 86_400_000
    if "log" in column:
        value = math.copysign(math.log1p(abs(value)), value)
    knots = column["knots"]
    piece = max(sum(value >= knot for knot in knots[1:]), 0)
    return column["values"][piece] + column["slopes"][piece] * (value - knots[piece])


EPOCH = np.datetime64(0, "s").item()


def test_a_script_holds_all_that_its_score_needs():
    values = values_of_rows()
    body = json.loads(elasticsearch_script("", FUNCTION))
    found = [script_score(body, document) for document in plain(values)]
    assert found == pytest.approx(expected_scores(values), rel=1e-9, abs=1e-9)


def test_a_script_holds_tables():
    values = values_of_rows()
    body = json.loads(elasticsearch_script("", WITH_INTERACTIONS))
    found = [script_score(body, document) for document in plain(values)]
    assert found == pytest.approx(expected_scores(values, WITH_INTERACTIONS), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("one", INTERACTIONS, ids=lambda one: one.name)
def test_a_script_computes_every_interaction(one):
    values = stressed_values()
    body = json.loads(elasticsearch_script("", only(one)))
    found = [script_score(body, document) for document in plain(values)]
    expected = one(*(values[column] for column in one.columns))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


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


@pytest.mark.parametrize(
    "write, instead", [(solr_model, "'solr-function'"), (elasticsearch_model, "'elasticsearch-script'")]
)
def test_models_of_weights_refuse_interactions_by_name(write, instead):
    lines = tuple(Term(name, Line(0.0, 0.0, 1.0, 0.0)) for name in ("rating", "sold"))
    function = AdditiveFunction(lines, interactions=INTERACTIONS[:1])
    with pytest.raises(
        ParameterError, match=f"the interaction rating × sold; export to {instead}, 'vespa', 'sql'"
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
