"""``rankwise report``, and ``--report`` of other commands: pages made from the facts that --json prints."""

import json
import re
import sys

import numpy as np
import pytest

import rankwise
from command_line import done, folder, refused

__all__ = ["done", "folder", "refused"]  # fixtures


def facts_of(path):
    """The facts in a page."""
    found = re.search(
        '<script type="application/json" id="facts">(.*?)</script>', path.read_text(encoding="utf-8")
    )
    return json.loads(found[1])


@pytest.fixture(scope="module")
def scores(folder, tmp_path_factory):
    """The scores of one feature."""
    path = tmp_path_factory.mktemp("scores") / "title.txt"
    test = rankwise.load_letor(folder / "test.txt")
    path.write_text("".join(f"{score!r}\n" for score in test.X[:, 0].tolist()), encoding="utf-8")
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
        rankwise.trec.save_run(rankwise.trec.run_from_scores(test, test.X[:, column]), tmp_path / name)
    rankwise.trec.save_qrels(rankwise.trec.qrels_from_data(test), tmp_path / "qrels")
    out = tmp_path / "runs.html"
    done("report", tmp_path / "a.run", tmp_path / "b.run", "--qrels", tmp_path / "qrels", "--out", out)
    facts = facts_of(out)
    assert [model["kind"] for model in facts["models"]] == ["run", "run"]
    assert "weights" not in facts
    assert "features" not in facts["data"]
    assert set(facts["lists"]["queries"][0]["docs"]) <= set(map(str, test.docs))


def test_train_path_and_folds_write_pages(done, folder, tmp_path):
    done("train", "train.txt.gz", tmp_path / "chosen", "--alpha", "0.1,1,10", "--report", tmp_path / "s")
    chosen = facts_of(tmp_path / "s")
    assert chosen["choices"]["RankRLSCV"]["alphas"] == [0.1, 1, 10]
    assert chosen["measures"][0]["name"] == "pairwise_error"
    assert "margins" in chosen["weights"]["RankRLSCV"]
    assert chosen["title"] == "RankRLSCV on training data"

    few = rankwise.load_letor(folder / "test.txt").scale_per_query()
    rankwise.save_letor(few.select(queries=few.queries.labels[:5].tolist()), tmp_path / "few.txt")
    done("path", tmp_path / "few.txt", "--graph", "reduced", "--report", tmp_path / "p")
    assert facts_of(tmp_path / "p")["choices"]["RankSVMPath"]["on_margin"]

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


def test_folds_print_and_draw_the_same_tests_of_every_pair(done, tmp_path):
    data = rankwise.make_search_data(24, random_state=1)
    labels = data.queries.labels.tolist()
    (tmp_path / "Fold1").mkdir()
    for place, name in enumerate(("train", "vali", "test")):
        rankwise.save_letor(data.select(queries=labels[place::3]), tmp_path / "Fold1" / f"{name}.txt")
    learners = ["--learners", "rankrls,ranksvm", "--measures", "map"]
    printed = json.loads(done("folds", tmp_path, *learners, "--json", "--report", tmp_path / "page"))
    assert facts_of(tmp_path / "page")["tests"] == printed["tests"]


def test_choosing_features_writes_what_each_adds(done, tmp_path):
    page = tmp_path / "page.html"
    arguments = ["train", "train.txt.gz", tmp_path / "few", "--features-at-most", "2", "--report", page]
    done(*arguments)
    facts = facts_of(page)
    assert len(facts["sizes"]["RankRLSPath"]["added"]) == 2
    assert "trained on these rows, so the results are optimistic" in facts["note"]


def test_rows_that_no_measure_values_are_explained(done, tmp_path):
    (tmp_path / "tied.txt").write_text(
        "".join(f"0 qid:{k} 1:{k % 3} 2:1\n" * 2 for k in range(3)), encoding="utf-8"
    )
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("1\n2\n3\n4\n5\n6\n", encoding="utf-8")
    rankers = [tmp_path / "a.txt", tmp_path / "b.txt", "--data", tmp_path / "tied.txt"]
    said = done("report", *rankers, "--out", tmp_path / "page.html")
    assert said.startswith("No query has a value of ndcg@10: no relevant rows.\n")
    assert "No query has a value of ndcg@10" in done("compare", *rankers, "--worst", 3)
    assert facts_of(tmp_path / "page.html")["data"]["all_tied"] == 3


@pytest.mark.parametrize("package", ["lightgbm", "xgboost"])
def test_models_of_packages_that_are_not_installed_are_named(refused, package, monkeypatch, tmp_path):
    start = {"lightgbm": "tree\nversion=v4\n", "xgboost": '{"learner": {}}'}[package]
    (tmp_path / "trees").write_text(start, encoding="utf-8")
    monkeypatch.setitem(sys.modules, package, None)
    said = refused("report", tmp_path / "trees", "--data", "test.txt", "--out", tmp_path / "page", code=1)
    assert f"can be read only if {package} is installed" in said


def test_rankers_that_do_not_fit_the_data_get_one_sentence(refused, tmp_path):
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    (tmp_path / "damaged.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{")
    (tmp_path / "other.run").write_text("q Q0 d 1 2.0 x\n", encoding="utf-8")
    (tmp_path / "short.txt").write_text("1\n2\n", encoding="utf-8")
    (tmp_path / "table.csv").write_text("qid,label,price\n1,0,2\n1,1,3\n", encoding="utf-8")
    rankwise.RankRLS(columns="spline").fit(np.eye(4), [0, 1, 0, 1]).save(tmp_path / "spline.safetensors")
    out = ["--out", tmp_path / "page.html"]
    for ranker, data, message in (
        ("model", tmp_path / "empty.txt", "contains no rows"),
        ("model", tmp_path / "absent.txt", "No such file"),
        ("model", tmp_path / "table.csv", "The features differ: the model has 22 and the data has 1"),
        (tmp_path / "damaged.safetensors", "test.txt", "is not a model file or is damaged"),
        (tmp_path / "other.run", "test.txt", "'other': the run and the data share no document"),
        (tmp_path / "short.txt", "test.txt", "has 2 scores, but the data has"),
        (tmp_path / "spline.safetensors", "test.txt", "feature index 5 is too large"),
    ):
        assert re.search(message, refused("report", ranker, "--data", data, *out, code=1))
    assert not (tmp_path / "page.html").exists()


def test_mistakes_get_one_sentence_before_anything_is_written(refused, scores, tmp_path):
    page = ["--data", "test.txt", "--out", tmp_path / "page.html"]
    assert "is not a page" in refused("report", "model", "--data", "test.txt", "--out", scores, code=2)
    assert "is an input" in refused("report", "model", "--data", "test.txt", "--out", "test.txt", code=2)
    assert "the folder" in refused("report", "model", "--data", "test.txt", "--out", tmp_path / "a/b", code=2)
    assert "either --data" in refused("report", "model", "--out", tmp_path / "page.html", code=2)
    assert "each only once" in refused("report", "model", "model", *page, code=2)
    said = refused("report", "model", *page, "--train", "test.txt", code=1)
    assert "does not belong to the training data" in said
    assert "--report measures labels; with --pairs, it needs --validation." in refused(
        "train", "train.txt.gz", tmp_path / "m", "--pairs", "x", "--report", tmp_path / "page.html", code=2
    )
    assert not (tmp_path / "page.html").exists()


def test_titles_of_a_file_are_shown(done, refused, folder, tmp_path):
    data = rankwise.load_letor(folder / "test.txt")
    label, titles = str(data.qid[0]), tmp_path / "titles.csv"
    titles.write_text(f'label,title\n{label},"red, shoes"\n', encoding="utf-8")
    out = tmp_path / "page.html"
    facts = json.loads(
        done("report", "model", "--data", "test.txt", "--titles", titles, "--out", out, "--json")
    )
    assert facts["titles"] == {label: "red, shoes"}
    titles.write_text("query,title\n", encoding="utf-8")
    said = refused("report", "model", "--data", "test.txt", "--titles", titles, "--out", out, code=1)
    assert said == f"{titles}, line 1: expected the header label,title.\n"
