"""``rankwise report``, and ``--report`` of other commands: pages made from the facts that --json prints."""

import json
import re

import pytest

import rankwise
from command_line import done, folder, refused

__all__ = ["done", "folder", "refused"]  # fixtures


def facts_of(path):
    """The facts in a page."""
    found = re.search('<script type="application/json" id="facts">(.*?)</script>', path.read_text("utf-8"))
    return json.loads(found[1])


@pytest.fixture(scope="module")
def scores(folder, tmp_path_factory):
    """The scores of one feature."""
    path = tmp_path_factory.mktemp("scores") / "title.txt"
    test = rankwise.load_letor(folder / "test.txt")
    path.write_text("".join(f"{score!r}\n" for score in test.X[:, 0].tolist()))
    return path


def test_the_page_holds_the_facts_that_json_prints(done, scores, tmp_path):
    out = tmp_path / "report.html"
    arguments = ["report", scores, "model", "--data", "test.txt", "--train", "train.txt.gz", "--out", out]
    printed = json.loads(done(*arguments, "--json"))
    assert facts_of(out) == printed
    assert printed["title"] == "title, model on test.txt"
    assert "margins" in printed["weights"]["model"]
    assert "model" in printed["learning"]
    names = [file["name"] for file in printed["origin"]["files"]]
    assert names == [str(scores), "model", "test.txt", "train.txt.gz"]
    assert all(len(file["sha256"]) == 64 for file in printed["origin"]["files"])
    said = done(*arguments)
    assert said.splitlines() == [*printed["answer"], f"Written to {out}"]


def test_the_terminal_and_the_page_of_compare_say_the_same(done, scores, tmp_path):
    out = tmp_path / "page.html"
    printed = done("compare", scores, "model", "--data", "test.txt", "--report", out)
    facts = facts_of(out)
    assert printed.startswith("\n".join(facts["answer"]))
    for test in facts["tests"]:
        assert f"{test['difference']:+.4f} ±{test['margin']:.4f}" in printed
    found = json.loads(done("compare", scores, "model", "--data", "test.txt", "--json"))
    assert found == {name: facts[name] for name in found}


def test_runs_have_pages_without_features(done, folder, tmp_path):
    test = rankwise.load_letor(folder / "test.txt")
    for name, column in (("a.run", 0), ("b.run", 1)):
        rankwise.save_run(rankwise.run_from_scores(test, test.X[:, column]), tmp_path / name)
    rankwise.save_qrels(rankwise.qrels_from_data(test), tmp_path / "qrels")
    out = tmp_path / "runs.html"
    done("report", tmp_path / "a.run", tmp_path / "b.run", "--qrels", tmp_path / "qrels", "--out", out)
    facts = facts_of(out)
    assert [model["kind"] for model in facts["models"]] == ["run", "run"]
    assert "weights" not in facts
    assert "features" not in facts["data"]
    assert set(facts["lists"]["queries"][0]["docs"]) <= set(map(str, test.docs))


def test_select_path_and_folds_write_pages(done, folder, tmp_path):
    done("select", "train.txt.gz", tmp_path / "chosen", "--alphas", "0.1,1,10", "--report", tmp_path / "s")
    chosen = facts_of(tmp_path / "s")
    assert chosen["choices"]["RankRLSCV"]["alphas"] == [0.1, 1, 10]
    assert chosen["measures"][0]["name"] == "pairwise_error"
    assert "margins" in chosen["weights"]["RankRLSCV"]
    assert chosen["title"] == "RankRLSCV on training data"

    few = rankwise.load_letor(folder / "test.txt").scale_per_query()
    rankwise.save_letor(few.select(queries=few.queries.labels[:5].tolist()), tmp_path / "few.txt")
    done("path", tmp_path / "few.txt", "--graph", "reduced", "--report", tmp_path / "p")
    assert facts_of(tmp_path / "p")["choices"]["path"]["on_margin"]

    data = rankwise.make_search_data(30, random_state=1)
    labels = data.queries.labels.tolist()
    for fold in (1, 2):
        (tmp_path / f"Fold{fold}").mkdir()
        for place, name in enumerate(("train", "vali", "test")):
            part = data.select(queries=labels[(place + fold) % 3 :: 3])
            rankwise.save_letor(part, tmp_path / f"Fold{fold}" / f"{name}.txt")
    arguments = ["folds", tmp_path, "--learners", "rankrls", "--measures", "map", "--json"]
    printed = json.loads(done(*arguments, "--report", tmp_path / "f"))
    folds = facts_of(tmp_path / "f")
    assert {fold: found["rankrls"]["means"] for fold, found in folds["folds"].items()} == {
        fold: found["rankrls"] for fold, found in printed["folds"].items()
    }
    assert folds["queries"]["label"][0].startswith("Fold1 ")
    assert folds["data"]["queries"] == printed["test_queries"]


def test_mistakes_get_one_sentence_before_anything_is_written(refused, scores, tmp_path):
    page = ["--data", "test.txt", "--out", tmp_path / "page.html"]
    assert "is not a page" in refused("report", "model", "--data", "test.txt", "--out", scores, code=2)
    assert "is an input" in refused("report", "model", "--data", "test.txt", "--out", "test.txt", code=2)
    assert "the folder" in refused("report", "model", "--data", "test.txt", "--out", tmp_path / "a/b", code=2)
    assert "either --data" in refused("report", "model", "--out", tmp_path / "page.html", code=2)
    assert "each named once" in refused("report", "model", "model", *page, code=2)
    assert "not that of the training data" in refused("report", "model", *page, "--train", "test.txt", code=1)
    assert "--report cannot be used with --pairs" in refused(
        "select", "train.txt.gz", tmp_path / "m", "--pairs", "x", "--report", tmp_path / "page.html", code=2
    )
    assert not (tmp_path / "page.html").exists()
