"""The command line: what it prints, writes and exits with.

Most tests call `main` in this process, which returns the exit code; those of another process are few because
each of them imports scikit-learn anew (test_pages.py runs the main commands that way too).
"""

import csv
import io
import json
import subprocess
import sys
import time
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pandas
import pytest

import rankwise
from command_line import done, folder, rankwise_process, refused
from rankwise.cli import main
from rankwise.cli.learners import LEARNERS, SELECTORS, parse_numbers

__all__ = ["done", "folder", "refused"]  # fixtures


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from rankwise.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    )
    start = time.perf_counter()
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
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
    for name in ("demo", "train", "select", "predict", "evaluate", "compare", "convert", "info"):
        assert f" {name} " in run.stdout


@pytest.mark.parametrize(
    "command", ["demo", "train", "select", "predict", "evaluate", "compare", "convert", "info"]
)
def test_every_command_has_help(command, capsys):
    assert main([command, "--help"]) == 0
    assert command in capsys.readouterr().out


def test_no_command_shows_help_and_version_shows_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"rankwise {rankwise.__version__}\n"
    assert main([]) == 0
    assert "Usage" in capsys.readouterr().out


def test_train_predict_and_evaluate_agree_with_python(folder, done, tmp_path, monkeypatch):
    train = rankwise.load_letor(folder / "train.txt.gz")
    test = rankwise.load_letor(folder / "test.txt", n_features=train.n_features)
    model = rankwise.RankRLS(alpha=0.5).fit(train.X, train.y, train.qid)
    printed = done("predict", "test.txt", "model")
    np.testing.assert_array_equal([float(line) for line in printed.split()], model.predict(test.X))

    scores = tmp_path / "scores.txt"
    assert done("predict", "test.txt", "model", "--out", scores) == ""
    assert scores.read_text() == printed

    expected = rankwise.metrics.evaluate(test.y, model.predict(test.X), test.qid, measures=["ndcg@10", "map"])
    for given in (scores, "model", "-"):
        monkeypatch.setattr("sys.stdin", io.StringIO(printed))
        found = json.loads(done("evaluate", "test.txt", given, "--measures", "ndcg@10,map", "--json"))
        assert found["measures"] == expected.to_dict()["measures"]


def test_a_store_and_text_give_the_same_model(folder, done, tmp_path):
    store, model, back = tmp_path / "train.store", tmp_path / "model", tmp_path / "back.txt.xz"
    done("convert", "train.txt.gz", store)
    done("train", store, model, "--alpha", "0.5")
    np.testing.assert_allclose(rankwise.load(model).coef_, rankwise.load(folder / "model").coef_, rtol=1e-12)
    done("convert", store, back)
    assert (rankwise.load_letor(back).X == rankwise.load_letor(folder / "train.txt.gz").X).all()


def test_convert_scales_inside_queries(folder, done, tmp_path):
    done("convert", "test.txt", tmp_path / "scaled.txt", "--scale")
    plain, scaled = (rankwise.load_letor(path) for path in (folder / "test.txt", tmp_path / "scaled.txt"))
    np.testing.assert_array_equal(scaled.X, rankwise.scale_per_query(plain.X, plain.qid))


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_trains_and_predicts(done, tmp_path, learner):
    done("convert", "test.txt", tmp_path / "test.store", "--scale")
    done("train", tmp_path / "test.store", tmp_path / "model", "--learner", learner, "--alpha", "2")
    assert rankwise.load(tmp_path / "model").get_params()["alpha"] == 2
    assert np.isfinite(
        [float(line) for line in done("predict", "test.txt", tmp_path / "model").split()]
    ).all()


def test_select_chooses_what_python_chooses(folder, done, tmp_path):
    model = tmp_path / "model"
    arguments = ["--alphas", "2^-3..2^3,100", "--ties", "keep,drop", "--measure", "map"]
    table = done("select", "train.txt.gz", model, *arguments)
    assert table.startswith("map by leave-query-out")
    train = rankwise.load_letor(folder / "train.txt.gz")
    alphas = [*(2.0**k for k in range(-3, 4)), 100.0]
    expected = rankwise.RankRLSCV(alphas, ties=("keep", "drop"), measure="map").fit(
        train.X, train.y, train.qid
    )
    assert rankwise.load(model).best_ == expected.best_
    assert done("predict", "test.txt", model).count("\n") == rankwise.load_letor(folder / "test.txt").n_rows
    choice = json.loads(
        done("select", "train.txt.gz", model, "--validation", "test.txt", "--json", *arguments)
    )
    assert choice["cv"] == "eval_set"
    assert np.shape(choice["scores"]) == (2, 8)


@pytest.mark.parametrize("learner", SELECTORS)
def test_every_learner_can_choose_alpha(done, tmp_path, learner):
    store, model = tmp_path / "test.store", tmp_path / "model"
    done("convert", "test.txt", store, "--scale")
    arguments = ["--learner", learner, "--alphas", "0.5,2", "--cv", "3"]
    assert "leave-fold-out" in done("select", store, model, *arguments)
    assert rankwise.load(model).best_["alpha"] in (0.5, 2.0)
    assert len(json.loads(done("select", store, model, *arguments, "--json"))["alphas"]) == 2


def test_a_choice_speaks_of_what_its_kernel_uses(done, tmp_path):
    arguments = ["select", "test.txt", tmp_path / "model", "--learner", "kernel-rankrls", "--scale"]
    arguments += ["--alphas", "1", "--kernel"]
    gamma = 1 / rankwise.make_search_data(2).n_features
    assert f"gamma {gamma:.6g}, ties keep, weighting example\n" in done(*arguments, "rbf")
    assert rankwise.load(tmp_path / "model").settings_ == [
        {"gamma": None, "ties": "keep", "weighting": "example"}
    ]
    assert "gamma" not in done(*arguments, "linear")
    assert f"gamma {gamma:.6g}, degree 3, coef0 1, ties keep" in done(*arguments, "polynomial")


def test_tables_are_read_by_their_column_names(done, tmp_path):
    data = rankwise.make_search_data(20, seed=5)
    for name, order in (("a.csv", 1), ("b.csv", -1)):
        with (tmp_path / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["grade", "query", "page", *data.feature_names[::order]])
            for row in range(data.n_rows):
                values = data.X[row].tolist()[::order]
                writer.writerow([data.y[row], f"q{data.qid[row]}", data.docs[row], *values])
    columns = ("--label", "grade", "--qid", "query", "--doc", "page")
    done("train", tmp_path / "a.csv", tmp_path / "model", *columns)
    model = rankwise.load(tmp_path / "model")
    assert list(model.feature_names_in_) == list(data.feature_names)
    run = done("predict", tmp_path / "b.csv", tmp_path / "model", "--trec", "--tag", "me", *columns)
    first = run.splitlines()[0].split()
    assert (first[0], first[1], first[3], first[5]) == ("q1", "Q0", "1", "me")
    query = data.qid == 1
    assert first[2] == data.docs[query][(data.X[query] @ model.coef_).argmax()]


def test_tables_without_labels_are_scored(done, tmp_path):
    data = rankwise.make_search_data(10, seed=5)
    frame = pandas.DataFrame(data.X, columns=list(data.feature_names))
    frame.to_csv(tmp_path / "unjudged.csv", index=False)
    frame.assign(label=data.y, qid=data.qid).to_parquet(tmp_path / "judged.parquet")
    done("train", tmp_path / "judged.parquet", tmp_path / "model")
    scores = done("predict", tmp_path / "unjudged.csv", tmp_path / "model")
    assert scores == done("predict", tmp_path / "judged.parquet", tmp_path / "model")
    expected = data.X @ rankwise.load(tmp_path / "model").coef_
    np.testing.assert_allclose([float(line) for line in scores.split()], expected, rtol=1e-12)


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
@pytest.mark.parametrize("early", [["--early-stopping"], ["--set", "early_stopping=true"]])
def test_train_stops_early_on_validation_data(learner, early, done, folder, tmp_path):
    model = tmp_path / "model"
    done("train", "train.txt.gz", model, "--learner", learner, "--validation", "test.txt", *early)
    test = rankwise.load_letor(folder / "test.txt")
    stopped = rankwise.load(model)
    error = rankwise.metrics.pairwise_error(test.y, stopped.predict(test.X), test.qid)
    assert error == pytest.approx(stopped.validation_curve_[stopped.best_iter_ - 1])


def test_select_shows_how_far_it_is(done, tmp_path, monkeypatch):
    shares = []

    @contextmanager
    def progress(task):
        yield shares.append

    monkeypatch.setattr("rankwise.cli.train.progress", progress)
    done("select", "train.txt.gz", tmp_path / "model", "--learner", "ranksvm", "--alphas", "1e-3,1e-2")
    np.testing.assert_allclose(shares, np.arange(1, 11) / 10)


def test_the_help_of_select_names_the_default_alphas(capsys):
    main(["select", "--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    by_learner = {name: getattr(rankwise, SELECTORS[name])().alphas for name in SELECTORS}
    np.testing.assert_allclose(sorted(by_learner["rankrls"]), parse_numbers("2^-15..2^15"))
    assert by_learner["kernel-rankrls"] == by_learner["rankrls"]
    grid = by_learner["ranksvm"]
    assert (len(grid), min(grid), max(grid)) == (15, pytest.approx(1e-7), 1.0)
    assert "By default 2^-15..2^15; for ranksvm 15 values from 1e-7 to 1." in text


def test_train_reports_a_validation_set_and_json(done, tmp_path):
    arguments = ["--validation", "test.txt", "--json", "--set", "alpha=2", "--ties", "drop"]
    report = json.loads(done("train", "train.txt.gz", tmp_path / "model", *arguments))
    assert set(report) >= {"model", "class", "seconds", "training", "validation"}
    assert rankwise.load(tmp_path / "model").get_params()["alpha"] == 2
    assert rankwise.load(tmp_path / "model").get_params()["ties"] == "drop"


def test_labels_that_are_no_grades_are_measured_by_pairs(done, tmp_path):
    rng = np.random.default_rng(0)
    lines = (f"{rng.normal()} 1:{rng.normal()} 2:{rng.normal()}\n" for _ in range(20))
    (tmp_path / "real.txt").write_text("".join(lines))
    report = json.loads(done("train", tmp_path / "real.txt", tmp_path / "model", "--json"))
    assert set(report["training"]) == {"pairwise_error", "kendall_tau_b"}
    done("select", tmp_path / "real.txt", tmp_path / "model")
    nothing = done("train", tmp_path / "real.txt", tmp_path / "model", "--json", "--measures", "")
    assert json.loads(nothing)["training"] == {}


def test_evaluate_shows_every_query(folder, done):
    arguments = ["evaluate", "test.txt", "model", "--measures", "p@1,rr", "--per-query"]
    n_queries = rankwise.load_letor(folder / "test.txt").n_queries
    assert len(done(*arguments).splitlines()) > n_queries
    assert len(json.loads(done(*arguments, "--json", "--preset", "trec"))["per_query"]["rr"]) == n_queries


def test_compare_tests_models_and_scores_against_each_other(done, tmp_path):
    done("train", "train.txt.gz", tmp_path / "other", "--alpha", "1e6")
    (tmp_path / "scores").write_text(done("predict", "test.txt", "model"))
    found = json.loads(
        done("compare", "test.txt", tmp_path / "other", "model", tmp_path / "scores", "--json")
    )
    assert found["means"]["model"] == found["means"][str(tmp_path / "scores")]
    assert len(found["tests"]) == 3 * len(found["means"]["model"])
    assert "p Wilcoxon" in done("compare", "test.txt", tmp_path / "other", "model")


def test_info_describes_the_build_models_text_and_stores(folder, done, tmp_path):
    build = json.loads(done("info", "--json"))
    assert build["rankwise"] == rankwise.__version__
    assert build["compiler"]
    assert "RankRLS" in done("info", "model")
    weights = json.loads(done("info", "model", "--json"))["largest weights"]
    coef = rankwise.load(folder / "model").coef_
    assert list(weights.values()) == sorted(coef, key=abs, reverse=True)[:10]
    assert weights[f"x{abs(coef).argmax()}"] == next(iter(weights.values()))
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
    assert "y.npy: the checksum is wrong" in refused("info", store, "--verify", code=1)
    assert "this is no store" in refused("info", "model", "--verify", code=1)
    assert "--verify needs a store" in refused("info", "--verify", code=2)


def test_the_demo_finds_rankrls_best_and_writes_everything(done, tmp_path):
    out, again = tmp_path / "deep" / "demo", tmp_path / "again"
    run = rankwise_process("demo", "--out", out)
    assert (run.returncode, run.stderr) == (0, "")
    assert "RankRLS" in run.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        "model.safetensors",
        "per_query.csv",
        "report.html",
    ]
    assert rankwise.load(out / "model.safetensors").feature_names_in_[0] == "title_bm25"
    report = (out / "report.html").read_text()
    assert report.startswith("<!doctype html>")
    assert "<svg" in report
    assert "http" not in report
    means = json.loads(done("demo", "--out", again, "--json"))["means"]
    assert means["RankRLS"]["ndcg@10"] == max(means[name]["ndcg@10"] for name in means)
    for name in ("model.safetensors", "per_query.csv", "report.html"):
        assert (again / name).read_bytes() == (out / name).read_bytes()


@pytest.mark.parametrize("ending", ["query", "group"])
def test_sizes_of_queries_are_found_beside_text_without_qid(done, refused, tmp_path, ending):
    rng = np.random.default_rng(0)
    X, y, sizes = rng.normal(size=(30, 2)), rng.integers(0, 3, 30), [4, 1, 10, 15]
    data, beside = tmp_path / "rank.train", tmp_path / f"rank.train.{ending}"
    data.write_text(
        "".join(f"{label} 1:{a!r} 2:{b!r}\n" for label, (a, b) in zip(y, X.tolist(), strict=True))
    )
    beside.write_text("".join(f"{size}\n" for size in sizes))
    done("train", data, tmp_path / "model")
    expected = rankwise.RankRLS().fit(X, y, rankwise.qid_from_group_sizes(sizes))
    np.testing.assert_allclose(rankwise.load(tmp_path / "model").coef_, expected.coef_, rtol=1e-10)
    done("convert", data, tmp_path / "rank.store")
    assert rankwise.open_store(tmp_path / "rank.store").queries.sizes.tolist() == sizes
    beside.write_text("4\n1\n")
    assert "its queries have 5 rows, but" in refused("train", data, tmp_path / "model", code=1)
    beside.write_text("4\n0\n")
    assert "line 2: expected the rows of a query" in refused("train", data, tmp_path / "model", code=1)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_scores_are_measured_against_a_table_whose_other_columns_hold_anything(done, tmp_path, ending):
    y, scores, qid = [2, 0, 1, 0], [0.3, 0.1, 0.5, 0.5], ["red shoes", "red shoes", "tea", "tea"]
    frame = pandas.DataFrame({"query": qid, "title": ["a", None, "c", "d"], "grade": y, "doc": list("wxyz")})
    getattr(frame, f"to_{ending}")(tmp_path / f"judged.{ending}", index=False)
    (tmp_path / "scores").write_text("\n".join(map(str, scores)))
    command = ["evaluate", tmp_path / f"judged.{ending}", tmp_path / "scores", "--label", "grade", "--json"]
    for docs in (None, list("wxyz")):
        more = ["--qid", "query", "--preset", "trec", *([] if docs is None else ["--doc", "doc"])]
        expected = rankwise.metrics.evaluate(y, scores, qid, ["map"], preset="trec", docs=docs)
        printed = json.loads(done(*command, *more, "--measures", "map"))
        assert printed["measures"] == expected.to_dict()["measures"]


@pytest.mark.parametrize(
    "alphas, says",
    [
        ("1e3,1e4,1e5", "That is the smallest alpha on offer; a smaller one may be better (--alphas)."),
        ("1e-9,1e-8", None),  # equally good
        ("1", None),
    ],
)
def test_select_says_so_if_the_best_alpha_ends_the_grid(done, tmp_path, alphas, says):
    printed = done("select", "train.txt.gz", tmp_path / "model", "--alphas", alphas)
    assert (says in printed) if says else ("on offer" not in printed)
