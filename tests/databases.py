"""Scores that databases compute from exported models."""

import os
import sqlite3
import subprocess

import duckdb
import pytest

# How to reach a PostgreSQL server with psql, such as "host=/tmp user=postgres"; without it, none is asked.
POSTGRES = os.environ.get("RANKWISE_POSTGRES")


def in_sqlite(path, rows, types):
    with sqlite3.connect(":memory:") as database:
        names = ", ".join(f"`{name}` {kind}" for name, kind in types.items())
        database.execute(f"CREATE TABLE documents ({names})")
        database.executemany(f"INSERT INTO documents VALUES ({', '.join('?' * len(types))})", rows)
        database.commit()
        database.executescript(statements_of(path))
        return [score for (score,) in database.execute(f"SELECT {expression_of(path)} FROM documents")]


def in_duckdb(path, rows, types):
    with duckdb.connect() as database:
        names = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
        database.execute(f"CREATE TABLE documents ({names})")
        database.executemany(f"INSERT INTO documents VALUES ({', '.join('?' * len(types))})", rows)
        database.execute(statements_of(path))
        found = database.execute(f"SELECT {expression_of(path)} FROM documents").fetchall()
    return [score for (score,) in found]


def in_postgres(path, rows, types):
    """In the schema of temporary tables, so that nothing is left."""
    if POSTGRES is None:
        pytest.skip("RANKWISE_POSTGRES does not say how to reach a server.")
    names = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
    listed = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
    script = f"""
        SET search_path = pg_temp; SET extra_float_digits = 3;
        CREATE TABLE documents ({names});
        INSERT INTO documents VALUES {listed};
        {statements_of(path)};
        SELECT {expression_of(path)} FROM documents;
    """
    command = ["psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", POSTGRES]
    found = subprocess.run(command, input=script.encode(), capture_output=True, check=True).stdout
    return [float(line) for line in found.decode().split()]


def _literal(value):
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def expression_of(path):
    return path.read_text(encoding="utf-8")


def statements_of(path):
    """What must have been run before; nothing for most models."""
    beside = path.with_name(f"{path.stem}.categories{path.suffix}")
    return beside.read_text(encoding="utf-8") if beside.exists() else ""


# For each, the format that it reads.
DATABASES = {"sqlite": ("sqlite", in_sqlite), "duckdb": ("sql", in_duckdb), "postgres": ("sql", in_postgres)}
