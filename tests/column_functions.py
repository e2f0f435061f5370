"""A sum of functions of columns with every kind of shape, interactions, and rows with every kind of value."""

import numpy as np

from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.interactions import AgeAxis, CategoryAxis, FlagAxis, Interaction, KnotAxis
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


AXES = {
    "price": KnotAxis((1e6 - 1.0, 1e6, 1e6 + 0.5)),
    "sold": KnotAxis((0.0, 1.0, 20.0, 1e9)),
    "rating": KnotAxis((1.0, 2.5, 3.0, 4.5)),
    "brand": CategoryAxis(("sony", "O'Neill", HOSTILE)),
    "color": CategoryAxis(("red", "blue")),
    "in stock": FlagAxis(),
    "created": AgeAxis(REFERENCE, KnotAxis((0.0, 30.0, 365.0))),
    "updated": AgeAxis(REFERENCE, KnotAxis((-7.0, 200.0))),
}
PAIRS = [
    ("rating", "sold"),
    ("price", "rating"),
    ("in stock", "price"),
    ("rating", "in stock"),
    ("brand", "rating"),
    ("price", "brand"),
    ("brand", "color"),
    ("color", "in stock"),
    ("created", "rating"),
    ("updated", "created"),
    ("brand", "updated"),
]


def interaction(first, second, seed=0):
    """A table of random values for two columns; one line of it is 0."""
    axes = AXES[first], AXES[second]
    values = np.random.default_rng(seed).normal(size=[len(axis.points) for axis in axes])
    values[1], values[:, 0] = 0.0, 0.0
    return Interaction((first, second), axes, tuple(map(tuple, values.tolist())))


INTERACTIONS = tuple(interaction(*pair, seed=seed) for seed, pair in enumerate(PAIRS))
WITH_INTERACTIONS = AdditiveFunction(
    (*FUNCTION.terms, Term("color", Lookup(("red", "blue"), (0.5, -0.25), other=0.125, missing=0.0))),
    interactions=INTERACTIONS,
)


def only(one):
    """An interaction of columns that add nothing alone."""
    terms = (
        Term(column, axis.shape(np.zeros(len(axis.points))))
        for column, axis in zip(one.columns, one.axes, strict=True)
    )
    return AdditiveFunction(tuple(terms), interactions=(one,))


# Some of the columns as parameters of the request, and rows whose values of these are tried.
REQUEST_COLUMNS = {"sold": "params.sold", "brand": "params.brand", "in stock": "params.in_stock"} | {
    "created": "params.created"
}
WITH_REQUEST = AdditiveFunction(
    tuple(
        Term(REQUEST_COLUMNS.get(term.column, term.column), term.shape) for term in WITH_INTERACTIONS.terms
    ),
    interactions=tuple(
        one.renamed({name: REQUEST_COLUMNS.get(name, name) for name in AXES}) for one in INTERACTIONS
    ),
)
OF_REQUEST = range(8)

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
        "color": rng.choice(np.array(["red", "blue", "green"], dtype=object), n_rows),
    }
    for column in values.values():
        missing = None if column.dtype == object else "NaT" if column.dtype.kind == "M" else np.nan
        column[rng.random(n_rows) < 0.2] = missing
    values["rating"][:4] = [1.0, 2.5, 3.0, 4.5]  # the knots
    return values


def stressed_values():
    """The same with numbers and dates at the knots of `AXES`, and far beyond them."""
    values = values_of_rows()
    values["price"][:6] = [1e6 - 1.0, 1e6, 1e6 + 0.5, 1e9, 0.0, -1e9]
    values["sold"][4:12] = [0.0, 1.0, 20.0, 1e9, 1e6, 2e9, -1e9, 5e8]
    ages = np.array([0, 30, 365, -7, 200, -10_000, 20_000], dtype="timedelta64[D]")
    for name in ("created", "updated"):
        values[name][2:9] = np.datetime64(REFERENCE, "ms") - ages
    return values


def values_of_request(row):
    """Rows that share the values of one row in the columns that come with the request."""
    values = values_of_rows()
    shared = {name: np.repeat(values[name][row : row + 1], len(values[name])) for name in REQUEST_COLUMNS}
    return values | shared


def expected_scores(values, function=FUNCTION):
    scores = sum(term.shape(values[term.column]) for term in function.terms)
    return scores + sum(one(*(values[column] for column in one.columns)) for one in function.interactions)


def plain(values):
    """Rows as dictionaries of Python's own values: None where they are missing, dates as datetime."""
    columns = [[None if value != value else value for value in column.tolist()] for column in values.values()]
    return [dict(zip(values, row, strict=True)) for row in zip(*columns, strict=True)]
