"""Rates of drift by simulation: how often planted shifts are found, and tables without any raise an alarm."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import rankwise
from benchmarks.tables import show
from benchmarks.timing import header, sized
from rankwise.errors import ContextWarning

ROWS, N_QUERIES = 10, (50, 200, 1000)
ABOVE = 0.1
Plant = Callable[[pd.DataFrame, Any], None]


def run() -> None:
    n_draws = 50 if sized(1000) == 1000 else 5
    header(f"Drift, by simulation: {n_draws} pairs of tables of 9 columns, {ROWS} rows per query")
    pairs = {n: [_model_and_new(n, seed) for seed in range(n_draws)] for n in N_QUERIES}
    columns = [f"{n:,} queries" for n in N_QUERIES]
    rows = []
    for name, (plant, column) in PLANTED.items():
        rates = [np.mean([column in _shifted(*pair, plant) for pair in pairs[n]]) for n in N_QUERIES]
        rows.append((name, column, *(f"{rate:.0%}" for rate in rates)))
    show("drift-found", ["planted", "column", *columns], rows)
    rows = []
    for name, above, chance in (
        (f"index above {ABOVE:g}, and not chance", ABOVE, True),
        ("not chance, whatever the index", 0.0, True),
        (f"index above {ABOVE:g} alone", ABOVE, False),
    ):
        rates = [np.mean([_alarm(*pair, above, chance) for pair in pairs[n]]) for n in N_QUERIES]
        rows.append((name, *(f"{rate:.0%}" for rate in rates)))
    show("drift-alarms", ["an alarm is", *columns], rows)


def _model_and_new(n_queries: int, seed: int) -> tuple[Any, pd.DataFrame, Any]:
    """A model of the queries of a random half of a table, and the other half."""
    rng = np.random.default_rng(seed)
    table, y, qid = _table(rng, 2 * n_queries)
    chosen = np.isin(qid, rng.permutation(2 * n_queries)[:n_queries])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContextWarning)
        model = rankwise.RankRLS(columns="auto").fit(table[chosen], y[chosen], qid[chosen])
    return model, table[~chosen].reset_index(drop=True), qid[~chosen]


def _shifted(model: Any, table: pd.DataFrame, qid: Any, plant: Plant) -> list[str]:
    changed = table.copy()
    plant(changed, np.random.default_rng(0).random(len(table)))
    return rankwise.drift(model, changed, qid=qid).shifted(ABOVE)


def _alarm(model: Any, table: pd.DataFrame, qid: Any, above: float, chance: bool) -> bool:
    found = rankwise.drift(model, table, qid=qid)
    if chance:
        return bool(found.shifted(above))
    return any(column.stability_index > above for column in found.columns.values())


def _table(rng: np.random.Generator, n_queries: int) -> tuple[pd.DataFrame, Any, Any]:
    """Columns of every kind: of unrelated rows, of alike rows, and the same within each query."""
    n, query = ROWS * n_queries, np.repeat(np.arange(n_queries), ROWS)
    brands = np.array([f"brand {k}" for k in range(50)], dtype=object)
    share = 1.0 / np.arange(1, 51)
    table = pd.DataFrame(
        {
            "price": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n)),
            "stars": rng.integers(1, 6, n),
            "sales": np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
            "match": rng.normal(size=n) + rng.normal(size=n_queries)[query],
            "words": rng.poisson(3.0, n_queries)[query] + 1.0,
            "device": rng.choice(["phone", "desk"], n_queries)[query],
            "brand": rng.choice(brands, n, p=share / share.sum()),
            "new": rng.random(n) < 0.3,
            "since": pd.Timestamp("2024-01-29") + pd.to_timedelta(rng.integers(0, 90, n), "D"),
        }
    )
    return table, (table["stars"] + rng.random(n) > 4).astype(int).to_numpy(), query


def _replace(column: str, share: float, value: Any) -> Plant:
    def plant(table: pd.DataFrame, drawn: Any) -> None:
        table.loc[drawn < share, column] = value

    return plant


def _change(column: str, by: Callable[[Any], Any]) -> Plant:
    def plant(table: pd.DataFrame, drawn: Any) -> None:
        table[column] = by(table[column])

    return plant


PLANTED: dict[str, tuple[Plant, str]] = {
    "in cents": (_change("price", lambda x: 100.0 * x), "price"),
    "10 % of the values lost": (_replace("price", 0.1, np.nan), "price"),
    "30 % of the values lost": (_replace("price", 0.3, np.nan), "price"),
    "5 % are −1": (_replace("price", 0.05, -1.0), "price"),
    "moved by half a standard deviation": (_change("match", lambda x: x + 0.7), "match"),
    "a new category in 5 % of the rows": (_replace("brand", 0.05, "ash"), "brand"),
    "a known category in 20 % more rows": (_replace("brand", 0.2, "brand 7"), "brand"),
    "true and false swapped": (_change("new", lambda x: ~x), "new"),
    "only phones": (_replace("device", 1.0, "phone"), "device"),
    "three months later": (_change("since", lambda x: x + pd.Timedelta(days=90)), "since"),
}
