"""``rankwise compare``: any rankers against a baseline, on the same rows, in 80 columns."""

import json
import re

import numpy as np
import pytest
from scipy import sparse

import rankwise
from command_line import done, folder, refused
from rankwise.errors import DataError
from rankwise.metrics import compare, evaluate

__all__ = ["done", "folder", "refused"]  # fixtures


@pytest.fixture(scope="module")
def rankers(folder, tmp_path_factory):
    """The scores of one feature as a file and as a run, and the model in SVMrank's format."""
    place = tmp_path_factory.mktemp("rankers")
    test = rankwise.load_letor(folder / "test.txt")
    (place / "title.txt").write_text(
        "".join(f"{score!r}\n" for score in test.X[:, 0].tolist()), encoding="utf-8"
    )
    rankwise.trec.save_run(rankwise.trec.run_from_scores(test, test.X[:, 0]), place / "title.run")
    rankwise.export_model(rankwise.load_model(folder / "model"), place / "svmrank", "svmrank")
    return place


def test_the_numbers_are_those_of_python(folder, done, rankers):
    test = rankwise.load_letor(folder / "test.txt")
    scores = {"title": test.X[:, 0], "model": rankwise.load_model(folder / "model").predict(test.X)}
    expected = compare(test.y, scores, test.queries, ["ndcg@10", "map"], baseline="title").to_dict()
    arguments = ["compare", rankers / "title.txt", "model", "--data", "test.txt", "--measures", "ndcg@10,map"]
    found = json.loads(done(*arguments, "--json"))
    assert {name: found[name] for name in expected} == expected
    printed = done(*arguments)
    for test_ in expected["tests"]:
        assert f"{test_['difference']:+.4f} ±{test_['margin']:.4f}" in printed
    assert found["answer"][0] in printed


def test_runs_scores_and_models_of_every_kind_agree(done, rankers):
    files = [rankers / name for name in ("title.txt", "svmrank")]
    found = json.loads(
        done("compare", rankers / "title.run", *files, "model", "--data", "test.txt", "--json")
    )
    names = [model["name"] for model in found["models"]]
    assert names == [
        str(rankers / "title.run"),
        str(rankers / "title.txt"),
        str(rankers / "svmrank"),
        "model",
    ]
    run, title, svmrank, model = found["means"].values()
    assert run == title
    assert svmrank == model
    assert found["baseline"] == names[0]


def test_peers_are_read_from_their_files(done, folder, tmp_path):
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    train = rankwise.load_letor(folder / "train.txt.gz")
    y, query = train.y.astype(int), train.queries.query_of_row()
    trees = lightgbm.LGBMRanker(n_estimators=5, verbose=-1).fit(train.X, y, group=train.queries.sizes)
    trees.booster_.save_model(tmp_path / "trees.txt")
    boosted = xgboost.XGBRanker(n_estimators=5).fit(train.X, y, qid=query)
    boosted.save_model(tmp_path / "text.json")
    boosted.save_model(tmp_path / "binary.ubj")
    files = [tmp_path / name for name in ("trees.txt", "text.json", "binary.ubj")]
    found = json.loads(done("compare", *files, "--data", "test.txt", "--json"))
    assert [model["kind"] for model in found["models"]] == ["LightGBM", "XGBoost", "XGBoost"]
    assert found["means"]["text"] == found["means"]["binary"]


def test_a_peer_trained_on_text_keeps_its_empty_first_column(folder):
    lightgbm = pytest.importorskip("lightgbm")
    train, test = (rankwise.load_letor(folder / name) for name in ("train.txt.gz", "test.txt"))
    X = np.pad(train.X, ((0, 0), (1, 0)))
    trees = lightgbm.LGBMRanker(n_estimators=5, verbose=-1)
    trees.fit(X, train.y.astype(int), group=train.queries.sizes)
    facts = rankwise.make_report({"trees": trees}, test).facts
    expected = evaluate(test.y, trees.predict(np.pad(test.X, ((0, 0), (1, 0)))), test.queries, ["map"])
    assert facts["means"]["trees"]["map"] == expected.means["map"]
    assert facts["lists"]["sources"]["trees"] == [-1, *range(test.n_features)]
    with pytest.raises(DataError, match="has 2 features, but the LightGBM model was trained on 23"):
        rankwise.make_report({"trees": trees}, rankwise.RankingData.from_arrays(X[:, :2], train.y))


def test_features_of_a_peer_are_found_by_name_in_any_order(folder):
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    pandas = pytest.importorskip("pandas")
    train, test = (rankwise.load_letor(folder / name) for name in ("train.txt.gz", "test.txt"))
    names = [f"my {k}" for k in range(train.n_features)]
    frame = pandas.DataFrame(train.X, columns=names)
    y, queries = train.y.astype(int), train.queries
    trees = lightgbm.LGBMRanker(n_estimators=5, n_jobs=1, verbose=-1).fit(frame, y, group=queries.sizes)
    boosted = xgboost.XGBRanker(n_estimators=5, n_jobs=1).fit(frame, y, qid=queries.query_of_row())
    order = np.random.default_rng(0).permutation(train.n_features)
    for X in (test.X, sparse.csr_matrix(test.X)):
        mixed = rankwise.RankingData.from_arrays(
            X[:, order], test.y, test.qid, test.docs, [names[k] for k in order]
        )
        facts = rankwise.make_report({"trees": trees, "boosted": boosted}, mixed).facts
        for name, model in (("trees", trees), ("boosted", boosted)):
            expected = evaluate(test.y, model.predict(X), test.queries, ["map"])
            assert facts["means"][name]["map"] == pytest.approx(expected.means["map"], abs=1e-12)
            assert facts["lists"]["sources"][name] == np.argsort(order).tolist()
    other = rankwise.RankingData.from_arrays(test.X[:, :2], test.y, test.qid, None, ["my 0", "price"])
    with pytest.raises(DataError, match="trained on 22 features; 21 of them, such as 'my_1', are not in the"):
        rankwise.make_report({"trees": trees}, other)


def test_numbered_features_of_a_peer_are_called_as_in_the_data(folder):
    lightgbm = pytest.importorskip("lightgbm")
    train = rankwise.load_letor(folder / "train.txt.gz")
    trees = lightgbm.LGBMRanker(n_estimators=5, verbose=-1)
    trees.fit(train.X, train.y.astype(int), group=train.queries.sizes)
    columns = rankwise.make_report({"trees": trees}, train).facts["lists"]["columns"]["trees"]
    assert columns == [str(k) for k in range(1, train.n_features + 1)]


def test_the_worst_queries_are_those_that_lose_most(done, rankers):
    arguments = ["compare", "model", rankers / "title.txt", "--data", "test.txt", "--measures", "ndcg@10"]
    facts = json.loads(done(*arguments, "--json"))
    changes = facts["queries"]["changes"]["ndcg@10"]["title"]
    lost = sorted(change for change in changes if change is not None and change < 0)
    table = done(*arguments, "--worst", 3).split("Queries on which title is worse than model")[1]
    assert [float(line.split()[-1]) for line in table.splitlines()[2:5]] == [round(c, 4) for c in lost[:3]]
    same = done("compare", "model", rankers / "svmrank", "--data", "test.txt", "--worst", 3)
    assert "svmrank is not worse than model on any query" in same


def test_everything_fits_80_columns(done, rankers, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    printed = done("compare", rankers / "title.txt", "model", "--data", "test.txt", "--worst", 5)
    shown = re.sub("\x1b\\[[0-9;]*m", "", printed)
    assert max(map(len, shown.splitlines())) <= 80
    assert "pairwise_error" in printed


def test_long_names_fit_80_columns(done, rankers, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    long = [tmp_path / f"{part * 30}{end}.txt" for part, end in (("aaaa", ""), ("b c ", "\n\x1b[31m"))]
    for path in long:
        path.write_text((rankers / "title.txt").read_text(encoding="utf-8"), encoding="utf-8")
    printed = done("compare", *long, "model", "--data", "test.txt", "--worst", 5)
    shown = re.sub("\x1b\\[[0-9;]*m", "", printed)
    assert max(map(len, shown.splitlines())) <= 80
    assert "\\u001b" in shown.replace("\n", "").replace(" ", "")
    assert re.search(r"\d\.\d{4}", shown)


def test_linear_models_models_of_columns_and_trees_are_compared_on_one_table(done, tmp_path):
    lightgbm, pandas = pytest.importorskip("lightgbm"), pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    values = {"price": rng.normal(size=120), "stars": rng.integers(1, 6, 120).astype(float)}
    frame = pandas.DataFrame({"qid": np.repeat(np.arange(12), 10), **values})
    frame["label"] = np.digitize(frame.price + frame.stars / 2, [1.0, 2.5])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    done("train", tmp_path / "rows.csv", tmp_path / "linear")
    done("train", tmp_path / "rows.csv", tmp_path / "spline", "--columns", "spline")
    trees = lightgbm.LGBMRanker(n_estimators=3, n_jobs=1, verbose=-1)
    trees.fit(frame[["price", "stars"]], frame.label, group=[10] * 12).booster_.save_model(tmp_path / "trees")
    names = ["linear", "spline", "trees"]
    facts = {}
    for order in (names, names[::-1]):
        files = [tmp_path / name for name in order]
        page = ["--out", tmp_path / "page.html", "--json"]
        data = ["--data", tmp_path / "rows.csv", "--train", tmp_path / "rows.csv"]
        facts[order[0]] = json.loads(done("report", *files, *data, *page))
    one, other = facts.values()
    assert one["means"] == other["means"]
    assert one["weights"]["linear"]["margins"] == other["weights"]["linear"]["margins"]
    linear = rankwise.load_model(tmp_path / "linear").predict(frame[["price", "stars"]].to_numpy())
    expected = evaluate(frame.label, linear, frame.qid, ["map"]).means["map"]
    assert one["means"]["linear"]["map"] == pytest.approx(expected, abs=1e-12)
    query = other["lists"]["queries"][0]
    assert set(query["parts"]) == set(names)
    for name in names:
        sums = np.sum(query["parts"][name]["contributions"], axis=1) + query["parts"][name]["others"]
        scores = np.array(query["scores"][name])
        np.testing.assert_allclose(sums - sums[0], scores - scores[0], atol=1e-5)


def test_mistakes_get_one_sentence(refused, rankers, tmp_path):
    title = rankers / "title.txt"
    assert "at least two models" in refused("compare", title, "--data", "test.txt", code=2)
    assert "either --data" in refused("compare", title, "model", code=2)
    assert "--complete needs --qrels" in refused(
        "compare", title, "model", "--data", "test.txt", "--complete", code=2
    )
    assert "must be one of 'title', 'model'; got 'x'" in refused(
        "compare", title, "model", "--data", "test.txt", "--baseline", "x", code=2
    )
    (tmp_path / "trees.txt").write_text("tree\nnonsense\n", encoding="utf-8")
    (tmp_path / "boosted.json").write_text('{"learner": 1}', encoding="utf-8")
    for name in ("trees.txt", "boosted.json"):
        assert "cannot read this model" in refused(
            "compare", title, tmp_path / name, "--data", "test.txt", code=1
        )
    assert "No such file" in refused("compare", title, tmp_path / "absent", "--data", "test.txt", code=1)
