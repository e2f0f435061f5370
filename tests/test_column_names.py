"""Commands find the columns of labels and queries by the names that a model was trained with."""

import json

import pandas as pd
import pytest

import rankwise
from rankwise.cli import main

OWN = ["--label", "grade", "--qid", "query"]


def table(seed, **names):
    """A table of 20 queries, with its columns called as given."""
    data = rankwise.make_search_data(20, random_state=seed)
    features = {f"signal_{j}": data.X[:, j] for j in range(3)}
    frame = pd.DataFrame({"label": data.y.astype(int), "qid": data.qid + 100 * seed, **features})
    return frame.rename(columns=names)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Models that learned from columns of several names, and tables to try them on."""
    folder = tmp_path_factory.mktemp("names")
    own, rated = {"label": "grade", "qid": "query"}, {"label": "rating", "qid": "query"}
    table(0, **own).to_parquet(folder / "train.parquet")
    table(0, **rated).to_csv(folder / "ratings.csv", index=False)
    table(0, **own).drop(columns="query").to_csv(folder / "unqueried.csv", index=False)
    table(1, **own).drop(columns="query").to_csv(folder / "other.csv", index=False)
    table(1, **own).to_csv(folder / "test.csv", index=False)
    table(2, **own).to_csv(folder / "more.csv.gz", index=False)
    table(1).to_csv(folder / "usual.csv", index=False)
    table(1, **own).assign(rating=lambda rows: 4 - rows["grade"]).to_csv(folder / "both.csv", index=False)
    for data, model, names in (
        ("train.parquet", "model", OWN),
        ("ratings.csv", "rated", ["--label", "rating", "--qid", "query"]),
        ("unqueried.csv", "one", ["--label", "grade", "--qid", ""]),
    ):
        assert main(["train", str(folder / data), str(folder / model), *names, "--alpha", "1"]) == 0
    return folder


@pytest.fixture
def said(files, monkeypatch, capsys):
    """Runs a command among these files, and returns what it printed, or the error."""

    def run(*arguments, code=0):
        monkeypatch.chdir(files)
        capsys.readouterr()
        assert main(list(arguments)) == code
        printed = capsys.readouterr()
        assert bool(printed.err) == bool(code)
        return printed.err if code else printed.out

    return run


@pytest.mark.parametrize("data", ["test.csv", "test.csv,more.csv.gz"])
@pytest.mark.parametrize(
    "command",
    [
        ["evaluate", "DATA", "model", "--json"],
        ["compare", "model", "rated", "--data", "DATA", "--json"],
        ["drift", "model", "DATA", "--json"],
        ["predict", "DATA", "model", "--trec"],
        ["next", "DATA", "model", "--json"],
    ],
)
def test_names_need_not_be_typed_again(command, data, said):
    command = [data if word == "DATA" else word for word in command]
    assert said(*command) == said(*command, *(OWN[2:] if command[0] == "predict" else OWN))


def test_typed_names_and_usual_names_are_found_as_before(said):
    assert said("evaluate", "both.csv", "model", "--label", "rating") != said("evaluate", "both.csv", "model")
    assert said("evaluate", "usual.csv", "model") == said("evaluate", "test.csv", "model")
    message = said("evaluate", "test.csv", "model", "--label", "stars", code=1)
    assert "The table has no column 'stars'" in message


def test_models_that_disagree_are_an_error_only_where_the_table_has_both_columns(said):
    message = said("compare", "model", "rated", "--data", "both.csv", code=2)
    assert message == (
        "rankwise: error: both.csv: the models were trained with different --label columns, and this table "
        "has grade and rating; choose one with --label.\n"
    )
    assert "grade" not in said("compare", "model", "rated", "--data", "both.csv", "--label", "grade")
    assert said("compare", "model", "rated", "--data", "test.csv")


def test_a_table_that_was_learned_as_one_ranking_is_read_as_one(said):
    assert "1 queries" in said("evaluate", "other.csv", "one")
    assert "20 queries" in said("evaluate", "usual.csv", "one")


def test_updates_and_reports_read_and_record_the_same_names(said, files):
    said("update", "test.csv", "model", "--out", "updated")
    facts = json.loads(said("info", "updated", "--json"))
    (learned,) = facts["history"][-1]["rows"]
    assert (learned["label"], learned["qid"]) == ("grade", "query")
    said("update", "updated", "--forget", "test.csv", "--out", "forgot")
    told = said("report", "model", "--data", "more.csv.gz", "--train", "train.parquet", "--json")
    assert json.loads(told)["answer"]


def test_the_header_of_a_table_is_found_without_reading_its_rows(files):
    from rankwise.readers.arrow_tables import column_names

    names = ["grade", "query", "signal_0", "signal_1", "signal_2"]
    assert all(column_names(files / name) == names for name in ("train.parquet", "test.csv", "more.csv.gz"))
