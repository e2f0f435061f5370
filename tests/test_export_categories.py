"""Columns of many categories are looked up in a table that is filled once, in any database."""

import sqlite3

import duckdb
import numpy as np
import pandas
import pytest

from databases import DATABASES, expression_of, in_sqlite, statements_of
from rankwise import RankRLS, export_model
from rankwise.errors import ParameterError
from rankwise.export.sql import StandardSQL

MANY = 150
HOSTILE = [
    "it's",
    '"',
    "`",
    "\\",
    "a;b",
    "--",
    "/* */",
    "'; DROP TABLE documents; --",
    " ",
    "ß",
    "日本",
    "Shop 1",
    "%",
    "",
]


def fitted(**columns):
    """A model of columns of texts, of as many categories as they have."""
    table = pandas.DataFrame(
        {name: np.resize(np.array(texts, dtype=object), 600) for name, texts in columns.items()}
    )
    y = np.random.default_rng(0).normal(size=600)
    return RankRLS(columns=dict.fromkeys(columns, "category:1000")).fit(table, y, np.arange(600) // 20)


def shops(n=MANY):
    return [f"shop {k}" for k in range(n)]


@pytest.mark.parametrize("database", DATABASES)
def test_a_database_scores_many_categories_as_the_model_does(database, tmp_path):
    to, scores_in = DATABASES[database]
    hostile = HOSTILE if database == "postgres" else [*HOSTILE, "a\0b", "\0"]
    model = fitted(shop=[*shops(), None, *hostile], brand=["x", "y", None], size=[*hostile, *shops(), None])
    export_model(model, tmp_path / "score.sql", to)
    texts = [*hostile, None, "shop 1", "shop 149", "SHOP 1", "shop 1 ", "never seen", "it''s"]
    rows = pandas.DataFrame({"shop": texts, "brand": "y", "size": texts[::-1]}, dtype=object)
    found = scores_in(tmp_path / "score.sql", rows.to_numpy().tolist(), dict.fromkeys(rows, "VARCHAR"))
    assert found == pytest.approx(model.predict(rows), abs=1e-9)


@pytest.mark.parametrize("kind", ["INTEGER", "BIGINT", "DOUBLE PRECISION", "VARCHAR"])
@pytest.mark.parametrize("database", DATABASES)
def test_identifiers_may_be_stored_as_any_kind_of_number(database, kind, tmp_path):
    to, scores_in = DATABASES[database]
    model = fitted(shop=[*range(-5, MANY), None])
    export_model(model, tmp_path / "score.sql", to)
    rows = pandas.DataFrame({"shop": [0, 7, -5, 149, 1234, None]}, dtype=object)
    found = scores_in(tmp_path / "score.sql", rows.to_numpy().tolist(), {"shop": kind})
    assert found == pytest.approx(model.predict(rows), abs=1e-9)


@pytest.mark.parametrize(
    "name", ["category", "Value", "OF_COLUMN", "known", "rankwise_categories", "documents"]
)
@pytest.mark.parametrize("database", DATABASES)
def test_a_column_may_be_called_like_the_table_or_its_columns(database, name, tmp_path):
    to, scores_in = DATABASES[database]
    model = fitted(**{name: [*shops(), None], "category_": [*shops(), "a"]})
    export_model(model, tmp_path / "score.sql", to)
    rows = pandas.DataFrame(
        {name: ["shop 3", "new", None], "category_": ["shop 4", "a", "new"]}, dtype=object
    )
    found = scores_in(tmp_path / "score.sql", rows.to_numpy().tolist(), dict.fromkeys(rows, "VARCHAR"))
    assert found == pytest.approx(model.predict(rows), abs=1e-9)


@pytest.mark.parametrize("to", ["sql", "sqlite"])
def test_few_categories_stay_in_the_expression(to, tmp_path):
    for n, files in ((StandardSQL.most_cases, ["score.sql"]), (MANY, ["score.categories.sql", "score.sql"])):
        export_model(fitted(shop=shops(n)), tmp_path / "score.sql", to)
        assert sorted(path.name for path in tmp_path.iterdir()) == files
        assert expression_of(tmp_path / "score.sql").count("WHEN") == (n + 1 if len(files) == 1 else 1)


def test_the_table_has_the_name_of_the_model_and_replaces_no_other(tmp_path):
    export_model(fitted(shop=shops()), tmp_path / "v1.sql", "sqlite", name="it's `v1`")
    statements = statements_of(tmp_path / "v1.sql")
    with sqlite3.connect(":memory:") as database:
        database.executescript(statements)
        (name,) = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchone()
        assert name == "it's `v1`_categories"
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            database.executescript(statements)


def test_a_lookup_does_not_scan_the_table(tmp_path):
    export_model(fitted(shop=range(MANY)), tmp_path / "score.sql", "sqlite")
    for kind in ("INTEGER", "REAL", "TEXT", ""):
        with sqlite3.connect(":memory:") as database:
            database.execute(f"CREATE TABLE documents (shop {kind})")
            database.executescript(statements_of(tmp_path / "score.sql"))
            query = f"EXPLAIN QUERY PLAN SELECT {expression_of(tmp_path / 'score.sql')} FROM documents"
            steps = [step for *_, step in database.execute(query)]
        (lookup,) = [step for step in steps if "known" in step]
        assert lookup.startswith("SEARCH")


def test_duckdb_plans_a_join(tmp_path):
    export_model(fitted(shop=shops()), tmp_path / "score.sql", "sql")
    with duckdb.connect() as database:
        database.execute("CREATE TABLE documents (shop VARCHAR)")
        database.execute(statements_of(tmp_path / "score.sql"))
        query = f"EXPLAIN SELECT {expression_of(tmp_path / 'score.sql')} FROM documents"
        ((_, plan),) = database.execute(query).fetchall()
    assert "join" in plan.lower()


def test_an_offset_reaches_rows_with_looked_up_categories(tmp_path):
    model, rows = fitted(shop=shops()), pandas.DataFrame({"shop": ["shop 1", "new", None]}, dtype=object)
    export_model(model, tmp_path / "score.sql", "sqlite", X=rows, nonnegative=True)
    found = in_sqlite(tmp_path / "score.sql", rows.to_numpy().tolist(), {"shop": "TEXT"})
    assert min(found) > 0.0
    assert np.diff(found) == pytest.approx(np.diff(model.predict(rows)))


def test_two_files_are_written_or_none(tmp_path, monkeypatch):
    def fails(self, content, **how):
        raise OSError("full")

    model = fitted(shop=shops())
    monkeypatch.setattr("pathlib.Path.write_text", fails)
    with pytest.raises(OSError, match="full"):
        export_model(model, tmp_path / "score.sql", "sql")
    monkeypatch.undo()
    (tmp_path / "score.categories.sql").mkdir()
    with pytest.raises(IsADirectoryError):
        export_model(model, tmp_path / "score.sql", "sql")
    assert [path.name for path in tmp_path.iterdir()] == ["score.categories.sql"]


def test_a_stream_cannot_take_the_second_file():
    with pytest.raises(ParameterError, match="/dev/null: this model needs a second file next to it"):
        export_model(fitted(shop=shops()), "/dev/null", "sql")
