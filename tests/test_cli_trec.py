"""TREC runs on the command line: written by predict, evaluated and compared against qrels."""

import json

import pytest

import rankwise
from command_line import done, folder, refused

__all__ = ["done", "folder", "refused"]  # fixtures


@pytest.fixture(scope="module")
def judged(folder, tmp_path_factory):
    """A run of the model, its qrels, and a run of a single feature."""
    place = tmp_path_factory.mktemp("trec")
    test = rankwise.load_letor(folder / "test.txt")
    model = rankwise.load_model(folder / "model")
    rankwise.trec.save_qrels(rankwise.trec.qrels_from_data(test), place / "qrels.txt")
    rankwise.trec.save_run(rankwise.trec.run_from_scores(test, model.predict(test.X)), place / "model.run")
    rankwise.trec.save_run(rankwise.trec.run_from_scores(test, test.X[:, 3].round(1)), place / "feature.run")
    return place


def test_predict_writes_the_run_that_python_writes(done, judged, tmp_path):
    done("predict", "test.txt", "model", "--trec", "--out", tmp_path / "run")
    assert (tmp_path / "run").read_text(encoding="utf-8") == (judged / "model.run").read_text(
        encoding="utf-8"
    )


def test_rows_without_names_are_named_by_their_number(done, tmp_path):
    (tmp_path / "rows.txt").write_text("".join(f"0 qid:{q} 22:1\n" for q in (2, 1, 2)), encoding="utf-8")
    lines = done("predict", tmp_path / "rows.txt", "model", "--trec", "--tag", "mine").splitlines()
    assert [line.split()[:4] for line in lines] == [
        *[["2", "Q0", "3", "1"], ["2", "Q0", "1", "2"], ["1", "Q0", "2", "1"]]
    ]
    assert {line.split()[5] for line in lines} == {"mine"}


def test_a_run_is_evaluated_as_the_scores_of_the_rows_are(done, judged):
    options = ("--measures", "ndcg@5,map,recall@3", "--json", "--per-query")
    by_name = json.loads(done("evaluate", judged / "model.run", "--qrels", judged / "qrels.txt", *options))
    by_row = json.loads(done("evaluate", "test.txt", "model", "--preset", "trec", *options))
    assert by_name["measures"] == by_row["measures"]


def test_evaluating_a_run_says_which_queries_do_not_count(done, judged, tmp_path):
    run, qrels = rankwise.trec.load_run(judged / "model.run"), judged / "qrels.txt"
    kept = dict(list(run.items())[2:]) | {"unknown": {"d": 1.0}}
    rankwise.trec.save_run(kept, tmp_path / "run")
    printed = done("evaluate", tmp_path / "run", "--qrels", qrels)
    n = len(run)
    assert (
        f"Queries in the run and in the qrels: {n - 2}; judged but not in the run: 2, which do not" in printed
    )
    assert "count; in the run but not judged: 1\n" in printed
    for name in ("ndcg@10", "map", "p@10", "recall@100", "rr"):
        assert f"\n{name} " in printed
    complete = json.loads(done("evaluate", tmp_path / "run", "--qrels", qrels, "--complete", "--json"))
    assert complete["measures"]["map"]["queries"] == n
    assert complete["coverage"] == {"both": n - 2, "only_judged": 2, "only_run": 1}
    printed = done("evaluate", tmp_path / "run", "--qrels", qrels, "--complete")
    assert "judged but not in the run: 2, which count as 0" in printed


def test_the_preset_of_a_run_can_be_changed(done, judged):
    arguments = ["evaluate", judged / "feature.run", "--qrels", judged / "qrels.txt", "--measures", "ndcg@5"]
    trec, same, letor = (
        json.loads(done(*arguments, "--json", *more))["measures"]["ndcg@5"]["mean"]
        for more in ([], ["--preset", "trec"], ["--preset", "letor"])
    )
    assert trec == same != letor


def test_runs_are_compared(done, judged):
    arguments = ["compare", judged / "model.run", judged / "feature.run", "--qrels", judged / "qrels.txt"]
    printed = done(*arguments)
    assert "model" in printed
    assert "Holm's correction" in printed
    n_queries = len(rankwise.trec.load_qrels(judged / "qrels.txt"))
    assert f"Queries in a run and in the qrels: {n_queries}.\n" in printed
    found = json.loads(done(*arguments, "--measures", "map", "--json"))
    assert list(found["means"]) == ["model", "feature"]
    assert found["tests"][0]["n_better"] < found["tests"][0]["n_worse"]


def test_mistakes_get_one_sentence(refused, judged, tmp_path):
    qrels, run = judged / "qrels.txt", judged / "model.run"
    (tmp_path / "other").write_text("x 0 d 1\n", encoding="utf-8")
    (tmp_path / "twice").write_text("1 Q0 d 1 2 t\n1 Q0 d 2 1 t\n", encoding="utf-8")
    (tmp_path / "word").write_text("1 Q0 d 1 high t\n", encoding="utf-8")
    said = refused("evaluate", run, "--qrels", tmp_path / "other", code=1)
    assert "The run and the qrels share no query: the run has" in said
    assert "line 2: the query '1' contains" in refused(
        "evaluate", tmp_path / "twice", "--qrels", qrels, code=1
    )
    assert "the field 'score' must be" in refused("evaluate", tmp_path / "word", "--qrels", qrels, code=1)
    assert "expected 4 fields, 'qid 0 doc rel" in refused("evaluate", run, "--qrels", run, code=1)
    assert "expected 6 fields, 'qid Q0 doc" in refused("evaluate", qrels, "--qrels", qrels, code=1)
    assert "the only argument is a TREC run" in refused("evaluate", run, "model", "--qrels", qrels, code=2)
    assert "a TREC run is evaluated with --qrels" in refused("evaluate", "test.txt", run, code=1)
    assert "SCORES is missing" in refused("evaluate", "test.txt", code=2)
    assert "No such file" in refused("evaluate", run, "--qrels", tmp_path / "absent", code=1)
    assert "at least two models" in refused("compare", run, run, "--qrels", qrels, code=2)
    assert "--complete needs --qrels" in refused("evaluate", "test.txt", "model", "--complete", code=2)
