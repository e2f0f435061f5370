"""The command line: what it prints, writes and exits with.

Most tests call `main` in this process, which returns the exit code; few use a separate process, because each
of those imports scikit-learn again (test_pages.py runs the main commands that way too).
"""

import io
import json
import os
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest

import rankwise
from command_line import done, folder, rankwise_process, refused
from rankwise.cli import main
from rankwise.cli.demo import FILES
from rankwise.cli.learners import LEARNERS

__all__ = ["done", "folder", "refused"]  # fixtures

COMMANDS = [
    "demo",
    "clicks",
    "train",
    "update",
    "path",
    "folds",
    "predict",
    "evaluate",
    "compare",
    "report",
    "export",
    "convert",
    "info",
    "svm_rank_learn",
]


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from rankwise.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    )
    start = time.perf_counter()
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    print(f"rankwise --help: {time.perf_counter() - start:.2f} s")
    heavy = {
        "numpy",
        "scipy",
        "sklearn",
        "pandas",
        "polars",
        "pyarrow",
        "narwhals",
        "safetensors",
        "matplotlib",
    }
    assert not heavy & set(run.stderr.split())
    for name in COMMANDS:
        assert f" {name} " in run.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    assert main([command, "--help"]) == 0
    assert command in capsys.readouterr().out


def test_no_command_shows_help_and_version_shows_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"rankwise {rankwise.__version__}\n"
    assert main([]) == 0
    assert "Usage" in capsys.readouterr().out


@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("threads", [["--threads", "3"], ["--threads=3"]])
def test_the_number_of_threads_may_be_anywhere(done, monkeypatch, place, threads):
    for variable in ("RANKWISE", "OMP", "OPENBLAS", "MKL"):
        monkeypatch.setenv(f"{variable}_NUM_THREADS", "1")
    arguments = ["info", "model", "--json"]
    done(*arguments[:place], *threads, *arguments[place:])
    assert os.environ["RANKWISE_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "3"


def test_train_predict_and_evaluate_agree_with_python(folder, done, tmp_path, monkeypatch):
    train = rankwise.load_letor(folder / "train.txt.gz")
    test = rankwise.load_letor(folder / "test.txt", n_features=train.n_features)
    model = rankwise.RankRLS(alpha=0.5).fit(train.X, train.y, train.qid)
    printed = done("predict", "test.txt", "model")
    np.testing.assert_array_equal([float(line) for line in printed.split()], model.predict(test.X))

    scores = tmp_path / "scores.txt"
    done("predict", "test.txt", "model", "--out", scores)
    assert scores.read_text(encoding="utf-8") == printed

    expected = rankwise.metrics.evaluate(test.y, model.predict(test.X), test.qid, measures=["ndcg@10", "map"])
    for given in (scores, "model", "-"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(printed.encode())))
        found = json.loads(done("evaluate", "test.txt", given, "--measures", "ndcg@10,map", "--json"))
        assert found["measures"] == expected.to_dict()["measures"]


def test_convert_scales_inside_queries(folder, done, tmp_path):
    done("convert", "test.txt", tmp_path / "scaled.txt", "--scale")
    plain, scaled = (rankwise.load_letor(path) for path in (folder / "test.txt", tmp_path / "scaled.txt"))
    np.testing.assert_array_equal(scaled.X, rankwise.scale_per_query(plain.X, plain.qid))


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_trains_and_predicts(done, tmp_path, learner):
    done("convert", "test.txt", tmp_path / "test.store", "--scale")
    done("train", tmp_path / "test.store", tmp_path / "model", "--learner", learner, "--alpha", "2")
    assert rankwise.load_model(tmp_path / "model").get_params()["alpha"] == 2
    assert np.isfinite(
        [float(line) for line in done("predict", "test.txt", tmp_path / "model").split()]
    ).all()


def test_a_trec_run_ranks_each_query_by_falling_score(done):
    by_query = {}
    for line in done("predict", "test.txt", "model", "--trec").splitlines():
        qid, q0, doc, rank, score, tag = line.split()
        assert (q0, tag) == ("Q0", "rankwise")
        assert doc.startswith("doc")
        by_query.setdefault(qid, []).append((int(rank), float(score)))
    for ranked in by_query.values():
        assert [rank for rank, _ in ranked] == list(range(1, len(ranked) + 1))
        assert all(a[1] >= b[1] for a, b in pairwise(ranked))


@pytest.mark.parametrize("learner", ["rankrls", "ranksvm"])
def test_train_stops_early_on_validation_data(learner, done, folder, tmp_path):
    model, early = tmp_path / "model", ["--alpha", "0.001", "--set", "early_stopping=true"]
    done("train", "train.txt.gz", model, "--learner", learner, "--validation", "test.txt", *early)
    test = rankwise.load_letor(folder / "test.txt")
    stopped = rankwise.load_model(model)
    error = rankwise.metrics.pairwise_error(test.y, stopped.predict(test.X), test.qid)
    assert error == pytest.approx(stopped.validation_curve_[stopped.best_iter_ - 1])


def test_train_reports_a_validation_set_and_json(done, tmp_path):
    arguments = ["--validation", "test.txt", "--json", "--alpha", "2", "--ties", "drop"]
    report = json.loads(done("train", "train.txt.gz", tmp_path / "model", *arguments))
    assert set(report) >= {"model", "class", "seconds", "training", "validation"}
    assert rankwise.load_model(tmp_path / "model").get_params()["alpha"] == 2
    assert rankwise.load_model(tmp_path / "model").get_params()["ties"] == "drop"


def test_evaluate_shows_every_query(folder, done):
    arguments = ["evaluate", "test.txt", "model", "--measures", "p@1,rr", "--per-query"]
    n_queries = rankwise.load_letor(folder / "test.txt").n_queries
    assert len(done(*arguments).splitlines()) > n_queries
    assert len(json.loads(done(*arguments, "--json", "--preset", "trec"))["per_query"]["rr"]) == n_queries


def test_compare_tests_models_and_scores_against_each_other(done, tmp_path):
    done("train", "train.txt.gz", tmp_path / "other", "--alpha", "1e6")
    (tmp_path / "scores").write_text(done("predict", "test.txt", "model"), encoding="utf-8")
    found = json.loads(
        done("compare", tmp_path / "other", "model", tmp_path / "scores", "--data", "test.txt", "--json")
    )
    assert found["means"]["model"] == found["means"]["scores"]
    assert len(found["tests"]) == 2 * len(found["means"]["model"])
    assert "Against other" in done("compare", tmp_path / "other", "model", "--data", "test.txt")


def test_info_describes_the_build_models_text_and_stores(folder, done, tmp_path):
    build = json.loads(done("info", "--json"))
    assert build["rankwise"] == rankwise.__version__
    assert build["compiler"]
    assert "RankRLS" in done("info", "model")
    weights = json.loads(done("info", "model", "--json"))["largest weights"]
    coef = rankwise.load_model(folder / "model").coef_
    assert list(weights.values()) == sorted(coef, key=abs, reverse=True)[:10]
    assert weights[str(abs(coef).argmax() + 1)] == next(iter(weights.values()))
    done("convert", "test.txt", tmp_path / "test.store")
    for data in ("test.txt", tmp_path / "test.store"):
        assert (
            json.loads(done("info", data, "--json"))["rows"]
            == rankwise.load_letor(folder / "test.txt").n_rows
        )


def test_info_verifies_stores(done, refused, tmp_path):
    store = tmp_path / "test.store"
    done("convert", "test.txt", store)
    done("info", store, "--verify")
    with (store / "y.npy").open("r+b") as file:
        file.seek(200)
        file.write(b"?")
    done("info", store)
    assert "y.npy: the checksum does not match" in refused("info", store, "--verify", code=1)
    assert "this is not a store" in refused("info", "model", "--verify", code=1)
    assert "--verify requires FILE to be a store" in refused("info", "--verify", code=2)


def test_the_demo_finds_rankrls_best_and_writes_everything(done, tmp_path):
    out, again = tmp_path / "deep" / "demo", tmp_path / "again"
    run = rankwise_process("demo", "--out", out)
    assert (run.returncode, run.stderr) == (0, "")
    assert "RankRLS" in run.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        "model.safetensors",
        "report.html",
        "test.csv",
        "train.csv",
    ]
    assert rankwise.load_model(out / "model.safetensors").feature_names_in_[0] == "title_match"
    reread = [rankwise.load_table(out / name, label="label", qid="qid", doc="title") for name in FILES[:2]]
    assert sorted(query for part in reread for query in part.queries.labels) == sorted(
        rankwise.load_movies().queries.labels
    )
    report = (out / "report.html").read_text(encoding="utf-8")
    assert report.startswith("<!doctype html>")
    assert "https:" not in report
    means = json.loads(done("demo", "--out", again, "--json"))["means"]
    assert means["RankRLS"]["ndcg@10"] == max(means[name]["ndcg@10"] for name in means)
    for name in FILES[:3]:
        assert (again / name).read_bytes() == (out / name).read_bytes()
