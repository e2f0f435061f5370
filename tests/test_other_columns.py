"""Models trained on different columns are compared on data that has all of them, each by its own columns."""

import json

import numpy as np
import pandas as pd
import pytest

import rankwise
from rankwise.cli import main
from rankwise.metrics import compare

OLD, NEW = ["title", "price"], ["stars", "price", "title"]


def shop(seed):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(240, 3)), columns=["price", "title", "stars"])
    frame["qid"] = np.repeat(np.arange(30), 8)
    noise = random.normal(size=240)
    return frame.assign(label=np.digitize(frame["title"] + 2 * frame["stars"] + noise, [0.0, 2.0]))


@pytest.fixture
def facts(tmp_path, monkeypatch, capsys):
    """Runs 'compare' or 'report' in a folder with tables and models of other columns."""
    monkeypatch.chdir(tmp_path)
    for name, seed in ("train", 0), ("test", 1):
        shop(seed).to_csv(f"{name}.csv", index=False)
    for name, options in {
        "old": ["--exclude", "stars"],
        "new": [],
        "old_columns": ["--exclude", "stars", "--columns", "auto"],
        "new_columns": ["--columns", "auto"],
    }.items():
        assert main(["train", "train.csv", name, "--alpha", "1", *options]) == 0

    def run(command, *arguments):
        capsys.readouterr()
        assert main([command, *arguments, "--data", "test.csv", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize("command", ["compare", "report"])
@pytest.mark.parametrize("old", ["old", "old_columns"])
@pytest.mark.parametrize("new", ["new", "new_columns"])
def test_a_model_with_a_new_column_is_compared_in_any_order(command, old, new, facts):
    test = shop(1)
    models = {name: rankwise.load_model(name) for name in (old, new)}
    scores = {name: model.predict(test[list(model.feature_names_in_)]) for name, model in models.items()}
    expected = compare(test["label"], scores, test["qid"], ["ndcg@10"]).means
    for names in (old, new), (new, old):
        means = facts(command, *names, "--measures", "ndcg@10")["means"]
        assert {name: means[name]["ndcg@10"] for name in names} == pytest.approx(
            {name: expected[name]["ndcg@10"] for name in names}, rel=1e-12
        )


def test_rows_that_a_model_without_codes_may_have_learned_are_found_in_a_table(facts, capsys):
    pd.concat([shop(0)[:80], shop(1)[80:]]).to_csv("test.csv", index=False)  # with the labels of training
    capsys.readouterr()
    assert main(["compare", "new_columns", "old", "--data", "test.csv"]) == 0
    warnings = capsys.readouterr().err
    assert "old was trained on 10 of these 30 queries" in warnings
    assert "new_columns was trained on 10 of these 30 queries" in warnings


def test_a_report_of_data_with_more_columns_explains_each_model_by_its_own():
    train, test = shop(0), shop(1)
    data = rankwise.RankingData.from_frame(test, label="label", qid="qid")
    models = {
        name: rankwise.RankRLS().fit(train[columns], train["label"], train["qid"])
        for name, columns in (("old", OLD), ("new", NEW))
    }
    facts = rankwise.make_report(models, data).facts
    for name, columns in ("old", OLD), ("new", NEW):
        assert facts["means"][name]["ndcg@10"] == pytest.approx(
            rankwise.metrics.evaluate(
                test["label"], models[name].predict(test[columns]), test["qid"], ["ndcg@10"]
            ).means["ndcg@10"]
        )
        weights = facts["weights"][name]
        assert dict(zip(weights["columns"], weights["weights"], strict=True)) == pytest.approx(
            dict(zip(columns, models[name].coef_, strict=True)), rel=1e-3
        )
        shown = facts["lists"]["queries"][0]
        sums = np.sum(shown["parts"][name]["contributions"], axis=1)
        scores = np.array(shown["scores"][name])
        np.testing.assert_allclose(sums - sums[0], scores - scores[0], atol=1e-5)
