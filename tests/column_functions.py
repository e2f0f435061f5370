"""A sum of functions of columns with every kind of shape, and rows with every kind of value."""

import numpy as np

from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.shapes import Flag, Line, LogLine, Lookup, OfAge, PiecewiseLinear

HOSTILE = 'it\'s a "{quoted}" \\ `name`; -- # \n DROP TABLE rows'
REFERENCE = "2024-05-31T12:00:00"

FUNCTION = AdditiveFunction(
    (
        Term("price", Line(1e6, 0.25, -0.3, missing=0.125)),
        Term("sold", LogLine(2.0, -0.5, 0.7, missing=-0.1)),
        Term("rating", PiecewiseLinear((1.0, 2.5, 3.0, 4.5), (-1.0, 0.5, 0.25, 0.3), missing=-0.2)),
        Term("weight", PiecewiseLinear((0.0, 1.0), (0.0, -0.4), missing=0.05)),
        Term("age", PiecewiseLinear((3.0,), (0.4,), missing=0.3)),
        Term("brand", Lookup(("sony", "O'Neill", HOSTILE), (0.3, -0.6, 0.9), other=0.01, missing=-0.02)),
        Term("in stock", Flag(0.8, -0.8, missing=0.07)),
        Term("created", OfAge(REFERENCE, PiecewiseLinear((0.0, 30.0, 365.0), (1.0, 0.5, 0.2), missing=0.6))),
        Term("updated", OfAge(REFERENCE, LogLine(0.0, 0.0, -0.11, missing=0.0))),
    )
)


CATEGORIES = tuple(f"shop {k}" for k in range(3000))
OF_CATEGORIES = AdditiveFunction(
    (
        Term(
            "brand", Lookup(CATEGORIES, tuple((np.arange(3000) % 17 / 7.0).tolist()), other=0.5, missing=-1.0)
        ),
    )
)


def values_of_rows(n_rows=80, seed=0):
    """The values of the columns as shapes take them, a fifth of them missing."""
    rng = np.random.default_rng(seed)
    days = rng.uniform(-40.0, 800.0, size=(2, n_rows))
    dates = np.datetime64(REFERENCE, "ms") - (days * 86_400_000).astype("timedelta64[ms]")
    values = {
        "price": 1e6 + np.round(rng.normal(size=n_rows), 2),
        "sold": np.round(rng.exponential(50.0, n_rows)) * rng.choice([-1.0, 1.0, 1.0], n_rows),
        "rating": np.round(rng.uniform(0.0, 6.0, n_rows), 1),
        "weight": rng.normal(size=n_rows),
        "age": rng.normal(size=n_rows),
        "brand": rng.choice(np.array(["sony", "O'Neill", HOSTILE, "new", "Sony"], dtype=object), n_rows),
        "in stock": rng.choice([0.0, 1.0], n_rows),
        "created": dates[0],
        "updated": dates[1],
    }
    for name, column in values.items():
        missing = None if name == "brand" else "NaT" if column.dtype.kind == "M" else np.nan
        column[rng.random(n_rows) < 0.2] = missing
    values["rating"][:4] = [1.0, 2.5, 3.0, 4.5]  # the knots
    return values


def expected_scores(values, function=FUNCTION):
    return sum(term.shape(values[term.column]) for term in function.terms)


def plain(values):
    """Rows as dictionaries of Python's own values: None where they are missing, dates as datetime."""
    columns = [[None if value != value else value for value in column.tolist()] for column in values.values()]
    return [dict(zip(values, row, strict=True)) for row in zip(*columns, strict=True)]
