"""Warnings where a model is measured on queries that it was trained on, and none elsewhere."""

import re

import numpy as np
import pandas as pd
import pytest

import rankwise
from rankwise.cli import main
from rankwise.model.seen_rows import count_learned_queries
from rankwise.readers.letor_writer import save_letor


def table(n_queries, seed=0, first=0):
    """Rows of a shop, with text, dates and missing values; queries are numbered from `first`."""
    random = np.random.default_rng(seed)
    n = 8 * n_queries
    frame = pd.DataFrame(
        {"label": random.integers(0, 3, n), "qid": first + np.repeat(np.arange(n_queries), 8)}
    )
    frame["price"] = np.where(random.random(n) < 0.1, np.nan, 1e6 * random.lognormal(size=n))
    frame["brand"] = random.choice(["Acme", "Nord", None], n)
    frame["seen"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(random.integers(0, 99, n), unit="D")
    return frame


@pytest.fixture
def warned(tmp_path, monkeypatch, capsys):
    """Runs a command in a folder of its own, and returns its warnings of rows that a model has seen."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        capsys.readouterr()
        assert main(list(map(str, arguments))) == 0
        said = capsys.readouterr().err.splitlines()
        return [line for line in said if "was trained on" in line]

    return run


def test_a_file_that_was_learned_is_known_whatever_the_learner(warned, tmp_path):
    table(12).drop(columns=["brand", "seen", "price"]).assign(x=range(96)).to_csv("train.csv", index=False)
    (tmp_path / "same.csv").write_bytes((tmp_path / "train.csv").read_bytes())
    for learner in ("ranksvm", "kernel-rankrls", "rankrls"):
        assert not warned("train", "train.csv", "model", "--learner", learner, "--alpha", "1")
        assert warned("evaluate", "same.csv", "model") == [
            "rankwise: warning: same.csv: the model was trained on these rows, so its results on them say "
            "little about new queries."
        ]


@pytest.mark.parametrize("columns", ["auto", "spline"])
def test_queries_that_were_learned_are_counted_in_other_files(columns, warned):
    table(20).to_parquet("train.parquet")
    other = table(30, seed=1, first=100)
    pd.concat([other, table(20)]).sample(frac=1.0, random_state=0).to_csv("mixed.csv", index=False)
    other.to_csv("other.csv", index=False)
    table(20).assign(price=table(20, seed=2)["price"]).to_csv("changed.csv", index=False)
    options = ["--columns", columns, "--alpha", "1"]
    (at_validation,) = warned("train", "train.parquet", "model", *options, "--validation", "mixed.csv")
    (at_evaluate,) = warned("evaluate", "mixed.csv", "model")
    assert all(
        "the model was trained on 20 of these 50 queries" in said for said in (at_validation, at_evaluate)
    )
    warned("train", "other.csv", "second", *options)
    assert [
        re.search(r": (\w+) was trained on (\d+)", said).groups()
        for said in warned("compare", "model", "second", "--data", "mixed.csv")
    ] == [("model", "20"), ("second", "30")]
    assert not warned("evaluate", "other.csv", "model")
    assert not warned("evaluate", "changed.csv", "model")


def test_scaled_rows_and_rows_in_stores_are_recognized(warned):
    data = rankwise.make_search_data(12, random_state=0)
    save_letor(data, "train.txt")
    warned("convert", "train.txt", "train.store")
    warned("train", "train.txt", "model", "--scale", "--alpha", "1")
    save_letor(data.select(queries=[3, 4]), "some.txt")
    assert "on these rows" in warned("evaluate", "train.store", "model")[0]
    assert "on these rows" in warned("evaluate", "some.txt", "model")[0]


def test_queries_are_seen_once_they_are_learned_and_until_they_are_forgotten(warned):
    table(10).to_csv("old.csv", index=False)
    table(10, seed=1, first=50).to_csv("new.csv", index=False)
    warned("train", "old.csv", "model", "--columns", "auto")
    assert not warned("evaluate", "new.csv", "model")
    warned("update", "new.csv", "model")
    assert warned("evaluate", "old.csv", "model")
    assert warned("evaluate", "new.csv", "model")
    warned("update", "model", "--forget", "old.csv")
    assert not warned("evaluate", "old.csv", "model")
    assert warned("evaluate", "new.csv", "model")


def test_one_ranking_is_recognized_as_a_whole():
    data = rankwise.make_search_data(5, random_state=0)
    with rankwise.config_context(one_ranking=True):
        model = rankwise.RankRLS().fit(data.X, data.y).model_
    one = rankwise.RankingData.from_arrays(data.X, data.y)
    assert count_learned_queries(model, one) == 1
    assert count_learned_queries(model, one.select(slice(1, None))) == 0
    assert count_learned_queries(model, data) == 0


def test_queries_with_the_same_rows_are_counted_beside_others():
    data = rankwise.make_search_data(6, random_state=0)
    first = np.flatnonzero(data.qid == data.qid[0])
    rows, qid = np.append(np.arange(data.n_rows), first), np.append(data.qid, np.full(len(first), 99))
    twice = rankwise.RankingData.from_arrays(data.X[rows], data.y[rows], qid)
    model = rankwise.RankRLS().fit(twice).model_
    assert count_learned_queries(model, twice) == 7
    assert count_learned_queries(model, twice.select(queries=[qid[0], 99])) == 0


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_few_values_are_no_false_alarm(seed):
    """Queries of other data are called the same, and many have the same rows by chance."""
    random = np.random.default_rng(seed)

    def draw(n_queries):
        X = random.integers(0, 2, (2 * n_queries, 2)).astype(float)
        return rankwise.RankingData.from_arrays(
            X, np.tile([0.0, 1.0], n_queries), np.repeat(np.arange(n_queries), 2)
        )

    model = rankwise.RankRLS().fit(draw(40)).model_
    assert count_learned_queries(model, draw(30)) == 0
