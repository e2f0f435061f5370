"""The afternoon of a new user: from a table as it comes out of a database to a gated, documented model."""

import numpy as np
import pandas as pd
import pytest

import rankwise
from command_line import rankwise_process
from rankwise.metrics import evaluate
from rankwise.metrics.significance import margin_of_mean

ROLES = ["--label", "grade", "--qid", "query", "--doc", "product"]
CARD = ["--test", "test.parquet", "--note", "Orders are known only after the click."]
FEATURES = ["match", "price", "rating", "brand", "stock"]
COMMANDS = [
    ["audit", "raw.parquet", *ROLES, "--fix", "clean.parquet"],
    ["split", "clean.parquet", "train.parquet", "test.parquet", *ROLES],
    ["train", "train.parquet", "old", *ROLES, "--features", "match,rating"],
    ["train", "train.parquet", "new", *ROLES, "--exclude", "orders", "--columns", "auto", *CARD],
    ["compare", "old", "new", "--data", "test.parquet", *ROLES, "--fail-if-worse", "ndcg@10:0.02"],
    ["info", "new"],
]


def clean_table(rng, n_queries=400, n_brands=3000):
    """Rows of a shop in which words, price, rating and brand matter, and orders follow from the grade."""
    query = np.repeat(np.arange(n_queries), rng.integers(10, 25, n_queries))
    n = len(query)
    brand = rng.zipf(1.3, n) % n_brands
    price, match = np.exp(rng.normal(3.0, 0.6, n)).round(2), rng.normal(size=n)
    rating, liked = rng.integers(1, 6, n).astype(float), rng.normal(0.0, 0.5, n_brands)
    relevance = match + 0.3 * rating + liked[brand] - 0.8 * np.log(price) + rng.normal(size=n)
    grade = np.digitize(relevance, np.quantile(relevance, [0.5, 0.75, 0.92])).astype(float)
    return pd.DataFrame(
        {
            "query": [f"shoes {q}" for q in query],
            "product": [f"p{k}" for k in rng.permutation(n)],
            "grade": grade,
            "match": match,
            "price": price,
            "rating": rating,
            "brand": [f"brand {b}" for b in brand],
            "stock": rng.poisson(6.0, n).astype(float),
            "orders": rng.poisson(np.exp(1.5 * grade)).astype(float),
        }
    )


def dirtied(frame, rng):
    """The same rows in any order, with what goes wrong in databases."""
    frame = frame.copy()

    def some(share):
        return rng.choice(len(frame), round(share * len(frame)), replace=False)

    frame.loc[some(0.03), "grade"] = np.nan
    frame.loc[some(0.02), "query"] = None
    frame.loc[some(0.03), "price"] *= -1.0
    frame.loc[some(0.02), "stock"] = -1.0
    frame = pd.concat([frame, frame.iloc[some(0.03)]])
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)


@pytest.fixture(scope="module")
def afternoon(tmp_path_factory):
    """The table that never was dirty, the folder, and what each command said, in a process of its own."""
    folder, rng = tmp_path_factory.mktemp("afternoon"), np.random.default_rng(0)
    clean = clean_table(rng)
    dirtied(clean, rng).to_parquet(folder / "raw.parquet", index=False)
    runs = [rankwise_process(*command, cwd=folder) for command in COMMANDS]
    return clean, folder, runs


def test_six_commands_lead_to_a_gated_and_documented_model(afternoon):
    _, _, runs = afternoon
    assert len(runs) <= 6
    assert [run.returncode for run in runs] == [0] * len(runs), [run.stderr for run in runs]
    compared, shown = runs[-2].stdout, runs[-1].stdout
    assert "Passed: shown to lose less than the margin." in compared
    for part in (
        "Note: Orders are known only",
        "rankwise train train.parquet new",
        "test.parquet",
        "left_out",
    ):
        assert part in shown


def test_the_first_command_names_every_planted_fault(afternoon):
    audit = afternoon[2][0].stdout
    for fault in (
        "'grade': ",
        "'query': ",
        "'price': ",
        "'stock': -1 in ",
        "'orders' alone orders",
        "'brand' has ",
        "rows equal an earlier row of the query",
    ):
        assert fault in audit
    assert "missing (negative values)" in audit


def test_training_with_the_leak_is_warned_of_before_it_begins(afternoon):
    _, folder, runs = afternoon
    command = ["train", "train.parquet", "leaky", *ROLES, "--columns", "auto"]
    run = rankwise_process(*command, cwd=folder)
    assert run.stderr.startswith("rankwise: warning: 'orders' alone orders")
    assert "--exclude orders" in run.stderr
    assert [run.stderr for run in runs[2:4]] == ["", ""]


def test_the_model_is_as_good_as_one_of_a_table_cleaned_by_hand(afternoon):
    clean, folder, _ = afternoon
    queries = set(pd.read_parquet(folder / "train.parquet")["query"])
    training, test = clean[clean["query"].isin(queries)], clean[~clean["query"].isin(queries)]
    by_hand = rankwise.RankRLSCV(columns="auto").fit(training[FEATURES], training["grade"], training["query"])
    model = rankwise.load_model(folder / "new")
    found, expected = (
        evaluate(test["grade"], one.predict(test[FEATURES]), test["query"], ["ndcg@10"])
        for one in (model, by_hand)
    )
    changes = found.per_query["ndcg@10"] - expected.per_query["ndcg@10"]
    assert abs(changes.mean()) <= margin_of_mean(changes, np.ones(len(changes)))
    assert found.means["ndcg@10"] > 0.8
