"""SQL: a model with 5,000 categories, spelled out in the expression and looked up in a table."""

import math
import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable

import numpy as np

from benchmarks import tables
from benchmarks.timing import best_times, header
from rankwise.export.sql import SQLite, StandardSQL
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.shapes import Lookup, PiecewiseLinear

N_ROWS = 100
N_CATEGORIES = 5_000


class SpelledOut(StandardSQL):
    most_cases = math.inf


class SpelledOutForSQLite(SQLite):
    most_cases = math.inf


def model() -> AdditiveFunction:
    rng = np.random.default_rng(0)
    shops = tuple(f"shop {k}" for k in range(N_CATEGORIES))
    price = PiecewiseLinear((0.0, 1.0, 2.0, 5.0), (0.0, 0.3, 0.1, -1.0), 0.2)
    shop = Lookup(shops, tuple(rng.normal(size=N_CATEGORIES).tolist()), 0.1, -0.1)
    return AdditiveFunction((Term("price", price), Term("shop", shop)))


def create_rows() -> str:
    """Rows some of which have no shop, or one that the model does not know."""
    shops = ["NULL" if k % 20 == 0 else f"'shop {k * 53 % (N_CATEGORIES + 500)}'" for k in range(N_ROWS)]
    rows = ", ".join(f"({k % 7}.5, {shop})" for k, shop in enumerate(shops))
    return f"CREATE TABLE documents (price DOUBLE PRECISION, shop TEXT); INSERT INTO documents VALUES {rows};"


def run() -> None:
    """Target: 5 ms in DuckDB."""
    header(f"SQL, {N_ROWS} rows and {N_CATEGORIES:,} categories; ms")
    table = tables.Table(
        "sql-categories", "database", "spelled out, ms", "looked up, ms", "creating the table once, ms"
    )
    for name, measure in {"SQLite": in_sqlite, "DuckDB": in_duckdb, "PostgreSQL": in_postgres}.items():
        times = measure(model())
        if times is not None:
            table.add(name, *(f"{1e3 * seconds:.3g}" for seconds in times))


def in_sqlite(function: AdditiveFunction) -> tuple[float, float, float] | None:
    with sqlite3.connect(":memory:") as database:
        database.executescript(create_rows())
        start = time.perf_counter()
        database.executescript(SQLite("rankwise", function).statements())
        once = time.perf_counter() - start
        ways = (SpelledOutForSQLite("rankwise", function), SQLite("rankwise", function))
        return *compared(ways, lambda query: database.execute(query).fetchall()), once


def in_duckdb(function: AdditiveFunction) -> tuple[float, float, float] | None:
    import duckdb

    with duckdb.connect() as database:
        database.execute(create_rows())
        start = time.perf_counter()
        database.execute(StandardSQL("rankwise", function).statements())
        once = time.perf_counter() - start
        ways = (SpelledOut("rankwise", function), StandardSQL("rankwise", function))
        return *compared(ways, lambda query: database.execute(query).fetchall()), once


def compared(ways: tuple[StandardSQL, StandardSQL], ask: Callable[[str], object]) -> tuple[float, float]:
    queries = [f"SELECT {way.expression()} FROM documents" for way in ways]
    spelled_out, looked_up = best_times({query: lambda q=query: ask(q) for query in queries}).values()
    return spelled_out, looked_up


def in_postgres(function: AdditiveFunction) -> tuple[float, float, float] | None:
    """By psql and its own clock, in the schema of temporary tables, so that nothing is left."""
    server = os.environ.get("RANKWISE_POSTGRES")
    if server is None or shutil.which("psql") is None:
        print("PostgreSQL is skipped: RANKWISE_POSTGRES does not say how psql reaches a server.")
        return None
    looked_up = StandardSQL("rankwise", function)
    queries = [
        f"SELECT {way.expression()} FROM documents;\n" for way in (SpelledOut("", function), looked_up)
    ]
    prepared = f"SET search_path = pg_temp; {create_rows()}\n\\timing on\n{looked_up.statements()}"
    repeated = "\\echo queries\n" + "".join(queries) * 5
    command = ["psql", "-X", "-q", "-t", "-v", "ON_ERROR_STOP=1", server]
    shown = subprocess.run(
        command, input=prepared + repeated, check=True, capture_output=True, encoding="utf-8"
    ).stdout
    once, asked = (
        [float(ms) / 1e3 for ms in re.findall(r"Time: ([0-9.]+) ms", part)]
        for part in shown.split("queries\n")
    )
    return min(asked[::2]), min(asked[1::2]), sum(once)
