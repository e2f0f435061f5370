"""Names that try to break out of what is exported, in every format."""

import json
import sqlite3

import duckdb
import numpy as np
import onnx
import onnxruntime
import pandas
import pytest

from changed_models import set_weights
from rankwise import RankRLS, export_model
from rankwise.errors import ParameterError
from rankwise.export.formats import Format

NAMES = {
    "quotes": """a"b'c`d""",
    "braces": "a}{b",
    "comment": "a # -- /* b",
    "newline": "a\nb",
    "backslash": "a\\",
    "keyword": "select",
    "injection": 'a"; DROP TABLE documents; --',
    "right to left": "מחיר",
    "override": "a\u202eb",
    "NUL": "a\0b",
    "brackets": "a)(b",
    "blank": " ",
    "empty": "",
}
ENGINES = [form for form in Format if form not in ("onnx", "svmrank", "elasticsearch-query")]
# What a format takes; it refuses the rest.
PRINTABLE = set(NAMES) - {"newline", "override", "NUL", "blank", "empty"}
TAKEN = dict.fromkeys(ENGINES, PRINTABLE) | {
    "sql": set(NAMES) - {"NUL", "blank", "empty"},
    "sqlite": set(NAMES) - {"NUL", "blank", "empty"},
    "vespa": {"keyword", "right to left"},
}


@pytest.fixture
def model():
    X = np.random.default_rng(0).uniform(size=(20, 2))
    model = RankRLS().fit(X, X @ [1.0, 1.0])
    set_weights(model, np.array([2.0, 3.0]))
    return model


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", NAMES)
def test_a_hostile_name_is_written_whole_or_refused(kind, engine, model, tmp_path):
    names = [NAMES[kind], "other"]
    if kind in TAKEN[engine]:
        export_model(model, tmp_path / "model", engine, feature_names=names)
        assert READERS[engine]((tmp_path / "model").read_text(encoding="utf-8"), names) == [2.0, 3.0]
    else:
        with pytest.raises(ParameterError, match=f"cannot be the name of a feature in the format '{engine}'"):
            export_model(model, tmp_path / "model", engine, feature_names=names)
        assert not list(tmp_path.iterdir())


def by_unit_rows(connection, quote):
    """The weights that an expression in a database has, from rows that are 1 in one column."""

    def read(expression, names):
        quoted = [quote + name.replace(quote, quote * 2) + quote for name in names]
        connection.execute(
            f"CREATE OR REPLACE TABLE documents ({', '.join(f'{name} DOUBLE' for name in quoted)})"
            if quote == '"'
            else f"CREATE TABLE documents ({', '.join(quoted)})"
        )
        connection.execute("INSERT INTO documents VALUES (1, 0), (0, 1)")
        return [score for (score,) in connection.execute(f"SELECT {expression} FROM documents").fetchall()]

    return read


def in_sqlite(expression, names):
    return by_unit_rows(sqlite3.connect(":memory:"), "`")(expression, names)


def in_duckdb(expression, names):
    return by_unit_rows(duckdb.connect(), '"')(expression, names)


def in_plugin(text, names):
    weights = json.loads(json.loads(text)["model"]["model"]["definition"])
    return [weights[name] for name in names]


def in_script(text, names):
    columns = json.loads(text)["query"]["script_score"]["script"]["params"]["columns"]
    assert [column["field"] for column in columns] == names
    return [column["slopes"][0] for column in columns]


def in_solr(text, names):
    return [json.loads(text)["params"]["weights"][name] for name in names]


def in_function(text, names):
    quoted = [json.dumps(name, ensure_ascii=False) for name in names]
    assert text == f"sum(product(2.0,field({quoted[0]})),product(3.0,field({quoted[1]})))\n"
    return [2.0, 3.0]


def in_profile(text, names):
    assert f"2.0 * {names[0]}\n            + 3.0 * {names[1]}\n" in text
    return [2.0, 3.0]


READERS = {
    "sql": in_duckdb,
    "sqlite": in_sqlite,
    "elasticsearch": in_plugin,
    "opensearch": in_plugin,
    "elasticsearch-script": in_script,
    "solr": in_solr,
    "solr-function": in_function,
    "vespa": in_profile,
}


@pytest.mark.parametrize("kind", NAMES)
def test_onnx_keeps_any_name(kind, model, tmp_path):
    export_model(model, tmp_path / "model.onnx", feature_names=[NAMES[kind], "other"])
    props = {prop.key: prop.value for prop in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert json.loads(props["feature_names"]) == [NAMES[kind], "other"]


@pytest.mark.parametrize("kind", NAMES)
def test_onnx_has_an_input_of_any_name_but_none(kind, tmp_path):
    X = np.random.default_rng(0).uniform(size=(20, 2))
    model, names = RankRLS(columns="spline:3").fit(X, X[:, 0]), [NAMES[kind], "other"]
    if kind == "empty":
        with pytest.raises(ParameterError, match="An input of a graph must have a name"):
            export_model(model, tmp_path / "model.onnx", feature_names=names)
        return
    export_model(model, tmp_path / "model.onnx", feature_names=names)
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], dict(zip(names, np.hsplit(X, 2), strict=True)))
    assert scores == pytest.approx(model.predict(X), abs=1e-9)


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("database", ["sqlite", "sql"])
def test_a_hostile_category_is_a_value_in_a_database(database, kind, tmp_path):
    frame = pandas.DataFrame({"brand": [NAMES[kind], "b", None] * 7})
    model = RankRLS(columns={"brand": "category"}).fit(frame, [2, 1, 0] * 7)
    export_model(model, tmp_path / "score", database)
    connection = sqlite3.connect(":memory:") if database == "sqlite" else duckdb.connect()
    connection.execute("CREATE TABLE documents (brand VARCHAR)")
    connection.executemany("INSERT INTO documents VALUES (?)", [[NAMES[kind]], ["b"], [None], ["c"]])
    found = connection.execute(
        f"SELECT {(tmp_path / 'score').read_text(encoding='utf-8')} FROM documents"
    ).fetchall()
    rows = pandas.DataFrame({"brand": [NAMES[kind], "b", None, "c"]})
    assert np.ravel(found) == pytest.approx(model.predict(rows), abs=1e-9)


@pytest.mark.parametrize("engine", [*ENGINES, "onnx"])
def test_names_that_occur_twice_are_refused(engine, model, tmp_path):
    with pytest.raises(ParameterError, match="feature_names must be distinct"):
        export_model(model, tmp_path / "model", engine, feature_names=["a", "a"])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_bare_last_step_of_a_pipeline_has_no_names_to_go_out_under(engine, tmp_path):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.uniform(size=(20, 2)), columns=["title", "price"])
    pipeline = make_pipeline(StandardScaler(), RankRLS()).fit(frame, frame["title"])
    with pytest.raises(ParameterError, match="no feature names; export the whole pipeline"):
        export_model(pipeline[-1], tmp_path / "model", engine)
    export_model(pipeline, tmp_path / "model", engine)
