"""Tables of a shop that are clean, and the faults that tables of users have, to plant in them."""

import numpy as np
import pandas as pd

ROLES = {"label": "grade", "qid": "query", "doc": "product"}


def clean_table(n_queries=40, seed=0):
    """Rows in any order with numbers, counts, a date, categories and a flag; some of them matter."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(8, 16, n_queries)
    query = np.repeat(np.arange(n_queries), sizes)
    n = len(query)
    price = np.exp(rng.normal(3.0, 0.5, n)).round(2)
    match, rating, brand = rng.normal(size=n), rng.integers(1, 6, n), rng.integers(0, 8, n)
    relevance = match + 0.3 * rating + 0.4 * (brand < 3) - np.log(price) + rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "query": [f"shoes {q}" for q in query],
            "product": [f"p{k}" for k in rng.permutation(n)],
            "grade": np.digitize(relevance, np.quantile(relevance, [0.5, 0.75, 0.92])).astype(float),
            "match": match,
            "price": price,
            "rating": rating.astype(float),
            "sales": rng.geometric(0.02, n).astype(float),
            "stock": rng.poisson(6.0, n).astype(float),
            "noise": rng.normal(size=n),
            "added": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, n), unit="D"),
            "brand": [f"brand {b}" for b in brand],
            "in_stock": rng.random(n) < 0.7,
        }
    )
    return frame.iloc[rng.permutation(n)].reset_index(drop=True)


def some(frame, rng, share=0.03):
    """A few rows."""
    return rng.choice(len(frame), max(4, round(share * len(frame))), replace=False)


def _set(column, value):
    def plant(frame, rng):
        if not isinstance(value, float | pd.Timestamp):
            frame[column] = frame[column].astype(object)
        frame.loc[some(frame, rng), column] = value
        return column

    return plant


def _add(name, values):
    def plant(frame, rng):
        frame[name] = values(frame, rng)
        return name

    return plant


def _write_dates(frame, rng):
    frame["added"] = frame["added"].dt.strftime("%Y-%m-%d").astype(object)
    return "added"


def _misspell(frame, rng):
    _write_dates(frame, rng)
    frame.loc[some(frame, rng), "added"] = rng.choice(["2024-02-30", "soon", "5/31/24"])
    return "added"


def _negative(frame, rng):
    frame.loc[rng.choice(len(frame), 2, replace=False), "price"] *= -1
    return "price"


def _repeat(change_grade):
    def plant(frame, rng):
        again = frame.iloc[some(frame, rng)].copy()
        if change_grade:
            again["grade"] = (again["grade"] + 1) % 4
        for row in again.to_dict("records"):
            frame.loc[len(frame)] = row

    return plant


def _rename(frame, rng):
    frame.loc[frame.index[frame["query"] == frame["query"][0]][1], "product"] = frame["product"][0]
    return "product"


def _tie(frame, rng):
    for query in rng.choice(frame["query"].unique(), 3, replace=False):
        frame.loc[frame["query"] == query, "grade"] = 1.0


def _cut(frame, rng):
    shallow = rng.choice(frame["query"].unique(), 20, replace=False)
    place = frame.groupby("query").cumcount()
    return frame[~frame["query"].isin(shallow) | (place < 3)].reset_index(drop=True)


def _skew(frame, rng):
    frame["grade"] = (frame["match"] > np.quantile(frame["match"], 0.97)).astype(float)


def _spell(frame, rng):
    frame["query"] = frame["query"].where(rng.random(len(frame)) < 0.9, frame["query"].str.upper() + " ")
    return "query"


def _same_query(frame, of):
    return frame["query"].map({query: of(k) for k, query in enumerate(frame["query"].unique())})


# For each kind of fault: what plants it in a table, and returns the column it is in.
FAULTS = {
    "missing labels": _set("grade", np.nan),
    "unreadable labels": _set("grade", "unclear"),
    "infinite labels": _set("grade", np.inf),
    "text labels": _add("grade", lambda frame, rng: frame["grade"].map("{:g}".format)),
    "missing queries": _set("query", None),
    "queries spelled in several ways": _spell,
    "infinite values": _set("match", -np.inf),
    "text in a column of numbers": _set("price", "call us"),
    "text in a column of dates": _misspell,
    "dates as text": _write_dates,
    "mixed kinds": _add("size", lambda frame, rng: [k if k % 2 else f"size {k}" for k in range(len(frame))]),
    "all missing": _add("color", lambda frame, rng: [None] * len(frame)),
    "constant": _add("shop", lambda frame, rng: "main"),
    "identifier": _add("code", lambda frame, rng: rng.permutation(len(frame)) + 70_000),
    "many categories": _add(
        "maker", lambda frame, rng: [f"maker {k}" for k in rng.integers(0, 150, len(frame))]
    ),
    "numbers as text": _add("zone", lambda frame, rng: rng.integers(1, 9, len(frame)).astype(str)),
    "negative values": _negative,
    "duplicate rows": _repeat(change_grade=False),
    "contradictory duplicates": _repeat(change_grade=True),
    "documents twice in a query": _rename,
    "queries without pairs": _tie,
    "shallow queries": _cut,
    "skewed grades": _skew,
    "context columns": _add("mobile", lambda frame, rng: _same_query(frame, lambda k: bool(k % 2))),
}
SENTINELS = {
    "-1": _set("sales", -1.0),
    "999": _set("rating", 999.0),
    "-9999": _set("match", -9999.0),
    "1970-01-01": _set("added", pd.Timestamp("1970-01-01")),
}
LEAKS = {
    "the label with noise": lambda frame, rng: 3.0 * frame["grade"] + rng.normal(0.0, 0.5, len(frame)),
    "missing where the label is low": lambda frame, rng: rng.random(len(frame)) * 9 + 99 * frame["grade"],
    "a text for each label": lambda frame, rng: frame["grade"].map({0: "b", 1: "d", 2: "a", 3: "c"}),
    "falling": lambda frame, rng: -np.exp(frame["grade"]) + rng.normal(0.0, 0.05, len(frame)),
    "in each query on a scale of its own": lambda frame, rng: (
        frame["grade"] + _same_query(frame, lambda k: 100.0 * k)
    ),
    "most of it": lambda frame, rng: frame["grade"] + rng.normal(0.0, 0.35, len(frame)),
}
