"""PostgreSQL computes the scores of the model from an exported expression."""

import datetime

import numpy as np
import pytest

from column_functions import (
    INTERACTIONS,
    WITH_INTERACTIONS,
    expected_scores,
    only,
    plain,
    stressed_values,
    values_of_rows,
)
from rankwise.export.sql import StandardSQL
from rankwise.scoring.additive import AdditiveFunction

TYPES = {
    "brand": "TEXT",
    "color": "TEXT",
    "in stock": "BOOLEAN",
    "created": "TIMESTAMP",
    "updated": "TIMESTAMPTZ",
}


def literal(value, kind):
    if value is None:
        return "NULL"
    if isinstance(value, datetime.datetime):
        return f"'{value.isoformat()}+00'"
    if kind == "BOOLEAN":
        return str(bool(value))
    return repr(value) if isinstance(value, float) else "'" + value.replace("'", "''") + "'"


@pytest.fixture(params=["America/New_York", "UTC"])
def documents(postgresql, request):
    """A function that makes a table of values, and returns one from functions to their scores."""

    def make(values):
        kinds = {name: TYPES.get(name, "DOUBLE PRECISION") for name in values}
        columns = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
        rows = [", ".join(map(literal, row.values(), kinds.values())) for row in plain(values)]
        listed = ", ".join(f"({number}, {row})" for number, row in enumerate(rows))
        table = f"CREATE TEMP TABLE documents (id INTEGER, {columns}); INSERT INTO documents VALUES {listed};"

        def scores(function):
            zone = f"SET TIME ZONE '{request.param}';"
            select = f"SELECT {StandardSQL('', function).expression()} FROM documents ORDER BY id;"
            return np.array(postgresql(f"{zone} {table} {select}"), dtype=float)

        return scores

    return make


def test_an_expression_has_the_scores_of_the_model(documents):
    values = values_of_rows()
    scores = documents(values)
    alone = [AdditiveFunction((term,)) for term in WITH_INTERACTIONS.terms]
    for function in (WITH_INTERACTIONS, *alone):
        assert scores(function) == pytest.approx(expected_scores(values, function), rel=1e-9, abs=1e-9)


def test_interactions_are_right_at_knots_and_far_beyond_them(documents):
    values = stressed_values()
    scores = documents(values)
    for one in INTERACTIONS:
        assert scores(only(one)) == pytest.approx(expected_scores(values, only(one)), rel=1e-9, abs=1e-9)
