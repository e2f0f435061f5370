"""A table as users have them: missing values, a category, a skewed count, flags and dates."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "nullable pandas": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas with arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
}
FEATURES = ["price", "clicks", "brand", "in_stock", "added", "rating"]


def messy_columns(n_rows=160, n_queries=16, seed=0):
    """Columns by name, and labels that depend on all of them, not always linearly."""
    rng = np.random.default_rng(seed)
    price = np.exp(rng.normal(3.0, 1.0, n_rows))
    clicks = rng.geometric(0.05, n_rows) ** 2
    brand = rng.choice(["acme", "best", "cheap"], n_rows)
    in_stock = rng.random(n_rows) < 0.7
    age = rng.integers(0, 400, n_rows)
    rating = rng.integers(1, 6, n_rows)
    y = np.log(clicks) + (brand == "best") + in_stock - 0.01 * age - (np.abs(np.log(price) - 3.0) > 1.0)

    def holes(values, share):
        return [
            None if hole else value for value, hole in zip(values, rng.random(n_rows) < share, strict=True)
        ]

    day = datetime.date(2024, 5, 31)
    return {
        "query": [f"query {q}" for q in rng.permutation(np.arange(n_rows) % n_queries)],
        "label": np.digitize(y + rng.normal(size=n_rows), [2.0, 4.0, 6.0]).tolist(),
        "price": holes(price.tolist(), 0.1),
        "clicks": clicks.tolist(),
        "brand": holes(brand.tolist(), 0.1),
        "in_stock": holes(in_stock.tolist(), 0.1),
        "added": holes([day - datetime.timedelta(days=int(a)) for a in age], 0.1),
        "rating": holes(rating.tolist(), 0.3),
    }


def messy_frame(**options):
    """The features as a pandas frame, the labels and the queries."""
    frame = pd.DataFrame(messy_columns(**options))
    return frame[FEATURES], frame["label"].to_numpy(float), frame["query"].to_numpy()
