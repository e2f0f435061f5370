"""From a table with missing values, categories, counts and dates to a model that other programs compute."""

import json
import math
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime
import pandas

import rankwise

COLUMNS = ["price", "brand", "sold", "listed"]


def make_table(n_queries=60, n_rows=12, seed=0):
    """Products found by searches: cheap, popular and new ones of good brands are liked more."""
    rng = np.random.default_rng(seed)
    m = n_queries * n_rows
    frame = pandas.DataFrame(
        {
            "query": np.repeat(np.arange(n_queries), n_rows),
            "price": np.round(rng.lognormal(3.0, 0.5, m), 2),
            "brand": rng.choice(["acme", "bolt", "crux", "dyna"], m, p=[0.4, 0.3, 0.2, 0.1]),
            "sold": rng.negative_binomial(1, 0.01, m),
            "listed": pandas.Timestamp("2024-06-01") - pandas.to_timedelta(rng.integers(0, 700, m), unit="D"),
        }
    )
    age = (pandas.Timestamp("2024-06-01") - frame["listed"]).dt.days
    liked = np.log1p(frame["sold"]) - 0.05 * frame["price"] - 0.004 * age + 1.5 * (frame["brand"] == "crux")
    frame["grade"] = np.clip(np.round(liked + rng.normal(scale=0.7, size=m)), 0, 4)
    frame.loc[rng.random(m) < 0.15, "price"] = np.nan
    frame.loc[rng.random(m) < 0.1, "brand"] = None
    frame.loc[rng.random(m) < 0.1, "listed"] = pandas.NaT
    return frame


def train(frame):
    """Choose alpha by leaving out queries, with every column encoded as suits its values."""
    return rankwise.RankRLSCV(columns="auto").fit(frame[COLUMNS], frame["grade"], frame["query"])


def plain_rows(frame):
    """Rows as dictionaries of Python's own values, with None for what is missing."""
    values = frame[COLUMNS].astype(object).where(frame[COLUMNS].notna(), None)
    return values.to_dict("records")


def scores_in_sqlite(expression, frame):
    rows = [
        [value.isoformat() if hasattr(value, "isoformat") else value for value in row.values()]
        for row in plain_rows(frame)
    ]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE products ({', '.join(COLUMNS)})")
        database.executemany("INSERT INTO products VALUES (?, ?, ?, ?)", rows)
        return [score for (score,) in database.execute(f"SELECT {expression} FROM products")]


def scores_in_duckdb(expression, frame):
    products = frame[COLUMNS]  # which DuckDB finds by its name
    assert len(products) == len(frame)
    return [score for (score,) in duckdb.sql(f"SELECT {expression} FROM products").fetchall()]


def scores_in_onnxruntime(path, frame):
    """One input per column: numbers, texts, and dates as seconds since 1970."""
    listed = (frame["listed"] - pandas.Timestamp(0)).dt.total_seconds()
    columns = frame.assign(listed=listed, brand=frame["brand"].fillna(""), sold=frame["sold"].astype(float))
    inputs = {name: columns[[name]].to_numpy(object if name == "brand" else float) for name in COLUMNS}
    (scores,) = onnxruntime.InferenceSession(path).run(["scores"], inputs)
    return scores


def scores_of_script(body, frame):
    """What Elasticsearch computes with the parameters of the script, as docs/serving.md describes it."""
    columns = body["query"]["script_score"]["script"]["params"]["columns"]
    return [sum(term(column, row[column["field"]]) for column in columns) for row in plain_rows(frame)]


def term(column, value):
    if value is None:
        return column["missing"]
    if "other" in column:
        return column["texts"].get(value, column["other"])
    if "reference" in column:
        value = (column["reference"] - value.timestamp() * 1000) / 86_400_000
    if "log" in column:
        value = math.copysign(math.log1p(abs(value)), value)
    piece = sum(value >= knot for knot in column["knots"][1:])
    return column["values"][piece] + column["slopes"][piece] * (value - column["knots"][piece])


def main():
    frame = make_table()
    model = train(frame)
    scores = model.predict(frame[COLUMNS])
    print(f"alpha {model.alpha_:g}, error when a query is left out {model.best_score_:.3f}")

    first_query = frame[frame["query"] == 0][COLUMNS]
    order = model.rank(first_query)
    print(model.explain(first_query, order[0], order[-1]))

    with tempfile.TemporaryDirectory() as folder:
        for to in ("sqlite", "sql", "onnx", "elasticsearch-script"):
            rankwise.export_model(model, Path(folder, to), to, X=frame[COLUMNS], qid=frame["query"])
        computed = {
            "SQLite": scores_in_sqlite(Path(folder, "sqlite").read_text(encoding="utf-8"), frame),
            "DuckDB": scores_in_duckdb(Path(folder, "sql").read_text(encoding="utf-8"), frame),
            "onnxruntime": scores_in_onnxruntime(Path(folder, "onnx"), frame),
            "Elasticsearch's script": scores_of_script(
                json.loads(Path(folder, "elasticsearch-script").read_text(encoding="utf-8")), frame
            ),
        }
    for where, found in computed.items():
        print(f"{where}: scores differ by at most {np.abs(np.array(found) - scores).max():.1e}")


if __name__ == "__main__":
    main()
