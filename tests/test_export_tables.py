"""Rankers with `columns` are exported with what they do to the columns of a table."""

import json
import sqlite3
import warnings

import duckdb
import numpy as np
import onnxruntime
import pandas
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankwise
from databases import in_duckdb, in_sqlite
from rankwise import ColumnEncoder, KernelRankRLS, RankRLS, RankSVM, export_model
from rankwise.errors import DataError, ParameterError

COLUMNS = {"price": "spline", "brand": "category", "sold": "log", "new": "flag"}


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "price": rng.lognormal(size=60),
            "brand": rng.choice(["a", "b", "it's"], 60),
            "sold": rng.integers(0, 1000, 60),
            "new": rng.choice([True, False], 60),
        }
    )
    frame.loc[::7, "price"] = np.nan
    frame.loc[::9, "brand"] = None
    return frame


@pytest.fixture
def model(frame):
    y = np.log1p(frame["sold"]) + (frame["brand"] == "b") - frame["price"].fillna(1.0)
    return RankRLS(columns=COLUMNS).fit(frame, y, np.repeat(np.arange(6), 10))


def scores_in_sqlite(path, frame):
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("documents", database, index=False)
        return [
            score
            for (score,) in database.execute(f"SELECT {path.read_text(encoding='utf-8')} FROM documents")
        ]


def test_a_database_ranks_a_table_as_the_ranker_does(model, frame, tmp_path):
    export_model(model, tmp_path / "score.sql", "sqlite")
    assert scores_in_sqlite(tmp_path / "score.sql", frame) == pytest.approx(model.predict(frame), abs=1e-9)


PAIRS = [("price", "sold"), ("new", "price"), ("brand", "sold"), ("brand", "color"), ("added", "price")]


@pytest.fixture
def with_dates(frame):
    rng = np.random.default_rng(1)
    frame["color"] = rng.choice(["red", "blue", None], len(frame))
    frame["added"] = pandas.Timestamp("2024-02-29") - pandas.to_timedelta(
        rng.integers(0, 900, len(frame)), "D"
    )
    frame.loc[::8, "added"] = pandas.NaT
    return frame


@pytest.fixture
def with_interactions(with_dates):
    y = -with_dates["price"].fillna(0.0) * with_dates["new"] + (with_dates["brand"] == "b")
    columns = COLUMNS | {"color": "category", "added": "date"}
    model = RankRLS(columns=columns, interactions=PAIRS, alpha=0.01)
    return model.fit(with_dates, y, np.repeat(np.arange(6), 10))


def unseen(frame):
    """The rows, and as many with values that are missing, new, and far beyond those of training."""
    far = frame.assign(
        price=np.resize([np.nan, 0.0, -1e6, 1e9, 5.0], len(frame)),
        sold=np.resize([0, 10**6, 10**9, 500], len(frame)),
        brand=np.resize(np.array(["c", None, "a"], dtype=object), len(frame)),
        added=frame["added"] + pandas.Timedelta(days=20_000),
    )
    return pandas.concat([frame, far], ignore_index=True)


def test_interactions_are_exported_under_the_names_of_their_columns(with_interactions, with_dates, tmp_path):
    rows, names = unseen(with_dates), ["p", "b", "s", "n", "c", "a"]
    expected = pytest.approx(with_interactions.predict(rows), rel=1e-9, abs=1e-9)
    renamed = rows[with_interactions.feature_names_in_].set_axis(names, axis=1)
    for to in ("sqlite", "sql", "onnx"):
        export_model(with_interactions, tmp_path / to, to, feature_names=names)
    texts = renamed.assign(a=renamed["a"].dt.strftime("%Y-%m-%d"))
    assert scores_in_sqlite(tmp_path / "sqlite", texts) == expected
    found = duckdb.sql(f"SELECT {(tmp_path / 'sql').read_text(encoding='utf-8')} FROM renamed").fetchall()
    assert np.ravel(found) == expected
    seconds = (renamed["a"] - pandas.Timestamp(0)) / pandas.Timedelta(seconds=1)
    inputs = {name: renamed[[name]].to_numpy(float) for name in ("p", "s", "n")}
    inputs |= {name: renamed[[name]].fillna("").to_numpy(object) for name in ("b", "c")}
    inputs["a"] = seconds.to_numpy(float)[:, None]
    session = onnxruntime.InferenceSession(tmp_path / "onnx", providers=["CPUExecutionProvider"])
    assert session.run(["scores"], inputs)[0] == expected


def test_scores_that_are_checked_include_interactions(with_interactions, with_dates, tmp_path):
    share = f"{(with_interactions.predict(with_dates) < 0).mean():.0%} of the scores are negative"
    with pytest.warns(UserWarning, match=share):
        export_model(with_interactions, tmp_path / "model", "solr-function", X=with_dates)
    export_model(with_interactions, tmp_path / "raised", "sqlite", X=with_dates, nonnegative=True)
    texts = with_dates.assign(added=with_dates["added"].dt.strftime("%Y-%m-%d"))
    found, expected = scores_in_sqlite(tmp_path / "raised", texts), with_interactions.predict(with_dates)
    assert min(found) == pytest.approx(0.1 * np.ptp(expected))
    assert found - np.min(found) == pytest.approx(expected - expected.min())


def test_formats_of_weights_name_an_interaction_and_formats_that_have_them(frame, tmp_path):
    numbers = frame[["price", "sold"]]
    model = RankRLS(columns="number", interactions=[("price", "sold")]).fit(numbers, frame["sold"])
    for to in ("elasticsearch", "elasticsearch-query", "opensearch", "solr", "svmrank"):
        with pytest.raises(ParameterError, match=r"the interaction price × sold; export .*'sqlite'"):
            export_model(model, tmp_path / "model", to, clauses={})
    assert not list(tmp_path.iterdir())


def test_a_pipeline_of_encoder_and_ranker_is_exported_like_the_ranker_with_columns(model, frame, tmp_path):
    y = np.log1p(frame["sold"])
    pipeline = make_pipeline(ColumnEncoder(COLUMNS), RankRLS()).fit(frame, y)
    export_model(pipeline, tmp_path / "score.sql", "sqlite")
    assert scores_in_sqlite(tmp_path / "score.sql", frame) == pytest.approx(pipeline.predict(frame), abs=1e-9)
    with pytest.raises(ParameterError, match="no feature names; export the whole pipeline"):
        export_model(pipeline[-1], tmp_path / "bare.sql", "sqlite")
    scaled = make_pipeline(ColumnEncoder(), StandardScaler(with_mean=False), RankRLS()).fit(frame, y)
    bent = make_pipeline(ColumnEncoder(), KernelRankRLS()).fit(frame, y)
    for other in (scaled, bent):
        with pytest.raises(ParameterError, match="only with a linear ranker of one target right behind it"):
            export_model(other, tmp_path / "other.sql", "sqlite")


def test_databases_take_a_thousand_and_more_features(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 1100))
    model, names = RankRLS().fit(X, X[:, 0]), [f"f{c}" for c in range(1100)]
    rows = pandas.DataFrame(X, columns=names)
    for to in ("sqlite", "sql"):
        export_model(model, tmp_path / to, to, feature_names=names)
    assert scores_in_sqlite(tmp_path / "sqlite", rows) == pytest.approx(model.predict(X), abs=1e-9)
    found = duckdb.sql(f"SELECT {(tmp_path / 'sql').read_text(encoding='utf-8')} FROM rows").fetchall()
    assert np.ravel(found) == pytest.approx(model.predict(X), abs=1e-9)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("kind", ["TIMESTAMPTZ", "TIMESTAMP", "DATE"])
def test_the_time_zone_of_a_session_does_not_change_an_age(zone, kind, tmp_path):
    added = pandas.Series(pandas.date_range("2024-03-08", periods=6), name="added")  # a change of the clocks
    model = RankRLS(columns={"added": "date"}).fit(added.to_frame(), np.arange(6.0))
    export_model(model, tmp_path / "score.sql", "sql")
    rows = added.dt.tz_localize("UTC").to_frame() if kind == "TIMESTAMPTZ" else added.to_frame()
    with duckdb.connect() as database:
        database.execute(f"SET TimeZone = '{zone}'")
        database.execute(f"CREATE TABLE documents AS SELECT CAST(added AS {kind}) AS added FROM rows")
        found = database.execute(
            f"SELECT {(tmp_path / 'score.sql').read_text(encoding='utf-8')} FROM documents"
        ).fetchall()
    assert np.ravel(found) == pytest.approx(model.predict(rows), abs=1e-9)


def scores_in_duckdb(path, rows):
    with duckdb.connect() as database:
        database.execute("CREATE TABLE documents (a DOUBLE, b DOUBLE)")
        database.executemany("INSERT INTO documents VALUES (?, ?)", rows)
        return np.ravel(
            database.execute(f"SELECT {path.read_text(encoding='utf-8')} FROM documents").fetchall()
        )


def test_nan_in_a_database_is_missing(tmp_path):
    numbers = pandas.DataFrame({"a": [1.0, np.nan, 3.0, 0.5], "b": [np.nan, 2.0, 1.0, 5.0]})
    for columns in ({"a": "number", "b": "spline"}, {"a": "log", "b": "number"}):
        model = RankRLS(columns=columns).fit(numbers, np.arange(4.0))
        export_model(model, tmp_path / "score.sql", "sql")
        found = scores_in_duckdb(tmp_path / "score.sql", numbers.to_numpy().tolist())
        assert found == pytest.approx(model.predict(numbers))


def test_a_feature_that_is_nan_or_null_counts_as_0_in_a_database(tmp_path):
    model = RankRLS().fit([[1.0, 2.0], [3.0, 1.0], [2.0, 7.0]], [1, 2, 3])
    export_model(model, tmp_path / "score.sql", "sql", feature_names=["a", "b"])
    expected = model.predict([[0.0, 4.0], [0.0, 4.0], [-1.0, 4.0]])
    assert scores_in_duckdb(tmp_path / "score.sql", [(np.nan, 4), (None, 4), (-1, 4)]) == pytest.approx(
        expected
    )


@pytest.mark.parametrize("kind", ["", "TEXT", "BOOLEAN", "INTEGER"])
def test_flags_in_sqlite_may_be_texts(kind, tmp_path):
    flags = pandas.DataFrame({"new": [True, False]})
    model = RankRLS(columns={"new": "flag"}).fit(flags, [1, 0])
    export_model(model, tmp_path / "score.sql", "sqlite")
    yes, no = ["true", "TRUE", "t", "1", 1, 1.0, True], ["false", "f", "0", 0, 0.0, False]
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE documents (new {kind})")
        database.executemany("INSERT INTO documents VALUES (?)", [(value,) for value in yes + no])
        found = database.execute(
            f"SELECT {(tmp_path / 'score.sql').read_text(encoding='utf-8')} FROM documents"
        ).fetchall()
    expected = np.repeat(model.predict(flags), [len(yes), len(no)])
    assert np.ravel(found) == pytest.approx(expected)


def test_ten_thousand_categories_are_served(tmp_path):
    shops = pandas.DataFrame({"shop": [f"shop {k}" for k in np.arange(20_000) % 10_000]})
    model = RankRLS(columns={"shop": "category:10000"}, solver="cg")
    model.fit(shops, np.random.default_rng(0).normal(size=20_000), np.arange(20_000) // 20)
    found = pandas.DataFrame({"shop": ["shop 0", "shop 9999", "shop 5000", "new", None]})
    for to in ("sqlite", "sql", "onnx"):
        export_model(model, tmp_path / to, to)
    expected = pytest.approx(model.predict(found), abs=1e-9)
    rows = [[shop] for shop in (*found["shop"][:4], None)]
    assert in_sqlite(tmp_path / "sqlite", rows, {"shop": "TEXT"}) == expected
    assert in_duckdb(tmp_path / "sql", rows, {"shop": "TEXT"}) == expected
    session = onnxruntime.InferenceSession(tmp_path / "onnx", providers=["CPUExecutionProvider"])
    assert session.run(["scores"], {"shop": found.fillna("").to_numpy(object)})[0] == expected


def test_a_saved_model_is_exported_from_the_command_line(model, frame, tmp_path):
    from command_line import rankwise_process

    model.save(tmp_path / "model")
    how = ["--to", "sqlite", "--features", "p,b,s,n"]
    run = rankwise_process("export", "model", "score.sql", *how, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    renamed = frame.set_axis(["p", "b", "s", "n"], axis=1)
    assert scores_in_sqlite(tmp_path / "score.sql", renamed) == pytest.approx(model.predict(frame), abs=1e-9)


def test_onnx_has_an_input_for_each_column(model, frame, tmp_path):
    export_model(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    inputs = {name: frame[[name]].to_numpy(float) for name in ("price", "sold", "new")}
    inputs["brand"] = frame[["brand"]].fillna("").to_numpy(object)
    (scores,) = session.run(["scores"], inputs)
    assert scores == pytest.approx(model.predict(frame), abs=1e-9)


@pytest.mark.parametrize("ranker", [RankRLS, RankSVM])
def test_splines_of_an_array_are_exported_under_given_names(ranker, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = ranker(columns="spline").fit(X, -(X[:, 0] ** 2))
    with pytest.raises(ParameterError, match="no feature names"):
        export_model(model, tmp_path / "score.sql", "sqlite")
    export_model(model, tmp_path / "score.sql", "sqlite", feature_names=["a", "b"])
    rows = pandas.DataFrame(X, columns=["a", "b"])
    assert scores_in_sqlite(tmp_path / "score.sql", rows) == pytest.approx(model.predict(X), abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*negative")
def test_a_format_that_cannot_names_the_column_and_those_that_can(model, frame, tmp_path):
    for engine in ("elasticsearch", "solr"):
        with pytest.raises(
            ParameterError, match=r"the column 'price' \(a spline\); .* 'vespa', 'sql', 'sqlite' or 'onnx'"
        ):
            export_model(model, tmp_path / "model", engine)
    with pytest.raises(ParameterError, match="functions of columns; export it to 'onnx', 'sql'"):
        export_model(model, tmp_path / "model", "svmrank")
    scaled = make_pipeline(StandardScaler(), RankRLS(columns="spline")).fit(frame[["sold"]], frame["sold"])
    with pytest.raises(ParameterError, match="The step StandardScaler before a ranker with columns"):
        export_model(scaled, tmp_path / "model", "sql")
    assert not list(tmp_path.iterdir())


def test_rows_to_check_are_a_table_too(model, frame, tmp_path):
    share = f"{(model.predict(frame) < 0).mean():.0%} of the scores are negative"
    with pytest.warns(UserWarning, match=share):
        export_model(model, tmp_path / "model", "solr-function", X=frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_model(model, tmp_path / "model", "elasticsearch-script", X=frame)
        export_model(model, tmp_path / "model", "solr-function", X=frame, nonnegative=True)
    with pytest.raises(DataError, match="brand"):
        export_model(model, tmp_path / "model", "sql", X=frame.drop(columns="brand"))


def test_numbers_alone_go_to_a_plugin_with_the_values_of_missing_ones(frame, tmp_path):
    model = RankRLS(columns={"sold": "number"}).fit(frame, frame["sold"])
    with pytest.warns(UserWarning, match=r"return these as defaults \(sold: \d+"):
        export_model(model, tmp_path / "model", "solr", X=frame, nonnegative=True)
    (feature,) = json.loads((tmp_path / "model").read_text(encoding="utf-8"))["features"]
    assert feature["name"] == "sold"


def test_an_export_of_a_table_needs_no_scikit_learn(model, tmp_path):
    from test_light_commands import imported

    model.save(tmp_path / "model")
    for to in ("sql", "elasticsearch-script", "vespa"):
        modules, _ = imported(tmp_path, "export", "model", "out", "--to", to)
        assert not {"scipy", "sklearn", "pandas"} & modules
    assert rankwise.load_model(tmp_path / "model").columns == COLUMNS
