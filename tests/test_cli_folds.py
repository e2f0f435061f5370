"""The folds of a benchmark in one command: a table by fold, means, and significance."""

import csv
import json
import re
from itertools import chain

import numpy as np
import pytest

import rankwise
from command_line import done, letor_lines, rankwise_process, refused
from rankwise.metrics import compare, evaluate, get_measure
from rankwise.metrics.latex import latex_table

__all__ = ["done", "refused"]  # fixtures

MEASURES = ["map", "ndcg@1", "ndcg@5", "ndcg@10", "mean_ndcg"]
ROLES = ["trainingset.txt", "validationset.txt", "testset.txt"]


def write_folds(folder, data, n_folds=5, names=ROLES):
    """As LETOR does: five parts, of which three are for training, one for validation and one for testing."""
    labels = data.queries.labels.tolist()
    parts = [labels[number::n_folds] for number in range(n_folds)]
    for fold in range(n_folds):
        place = folder / f"Fold{fold + 1}"
        place.mkdir(parents=True)
        turned = parts[fold:] + parts[:fold]
        queries = [list(chain(*turned[: n_folds - 2])), turned[-2], turned[-1]]
        for name, wanted in zip(names, queries, strict=True):
            (place / name).write_text("".join(letor_lines(data.select(queries=wanted))), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("folds")
    write_folds(place / "letor", rankwise.make_search_data(50, random_state=6))
    return place


def parts_of(folder, fold):
    return [rankwise.load_letor(folder / "letor" / f"Fold{fold}" / name, n_features=22) for name in ROLES]


def test_five_folds_to_a_table_with_significance_in_one_command(folder, tmp_path):
    """What a researcher types, in a process of its own."""
    run = rankwise_process("folds", "letor", "--out", tmp_path / "out", cwd=folder)
    assert (run.returncode, run.stderr) == (0, "")
    for words in ("Mean over 5 folds (preset letor)", "Fold5", "Differences over 50 test queries", "Holm"):
        assert words in run.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *["folds.csv", "folds.json", "table.tex", "tests.csv"]
    ]
    with (tmp_path / "out" / "folds.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["fold"] for row in rows] == [
        *sorted(["Fold1", "Fold2", "Fold3", "Fold4", "Fold5"] * 2),
        "mean",
        "mean",
    ]
    means = {row["learner"]: [float(row[name]) for name in MEASURES] for row in rows if row["fold"] == "mean"}
    for learner, mean in means.items():
        by_fold = [
            [float(r[m]) for m in MEASURES] for r in rows if r["learner"] == learner and r["fold"] != "mean"
        ]
        np.testing.assert_allclose(mean, np.mean(by_fold, axis=0), rtol=1e-12)
    with (tmp_path / "out" / "tests.csv").open(encoding="utf-8") as file:
        assert [row["measure"] for row in csv.DictReader(file)] == MEASURES
    table = (tmp_path / "out" / "table.tex").read_text(encoding="utf-8")
    assert f"{means['rankrls'][0]:.4f}" in table
    assert table.count(r" \\") == 3
    assert json.loads((tmp_path / "out" / "folds.json").read_text(encoding="utf-8"))["test_queries"] == 50


def test_every_number_is_that_of_python(folder, done):
    found = json.loads(done("folds", "letor", "--learners", "rankrls,rankrls(alphas=[1e6])", "--json"))
    fixed, expected, tests, scores = (
        "rankrls(alphas=[1e6])",
        {},
        [],
        {"rankrls": [], "rankrls(alphas=[1e6])": []},
    )
    for fold in range(1, 6):
        training, validation, test = parts_of(folder, fold)
        for name, options in (("rankrls", {}), (fixed, {"alphas": [1e6]})):
            ranker = rankwise.RankRLSCV(measure=get_measure("map", preset="letor"), **options)
            eval_set = (validation.X, validation.y, validation.qid)
            ranker.fit(training.X, training.y, training.qid, eval_set=eval_set)
            scores[name].append(ranker.predict(test.X))
            expected[f"Fold{fold}", name] = evaluate(
                test.y, scores[name][-1], test.qid, MEASURES, preset="letor"
            ).means
            assert found["chosen"][f"Fold{fold}"][name]["alpha"] == ranker.alpha_
        tests.append(test)
    assert {(f, name): v for f, by in found["folds"].items() for name, v in by.items()} == expected
    together = compare(
        np.concatenate([test.y for test in tests]),
        {name: np.concatenate(parts) for name, parts in scores.items()},
        np.concatenate([test.qid for test in tests]),
        MEASURES,
        preset="letor",
    )
    assert found["tests"] == together.to_dict()["tests"]
    assert found["criterion"] == "map"


def test_options_reach_reading_choosing_and_measuring(folder, done):
    options = ["--scale", "--preset", "trec", "--measures", "p@5,recall@5", "--measure", "ndcg@3"]
    learner = 'rankrls(alphas=[1,100],ties=["keep","drop"])'
    found = json.loads(done("folds", "letor", "--learners", learner, *options, "--json"))
    training, validation, test = (part.scale_per_query() for part in parts_of(folder, 2))
    measure = get_measure("ndcg@3", preset="trec")
    ranker = rankwise.RankRLSCV([1, 100], ties=["keep", "drop"], measure=measure)
    ranker.fit(training.X, training.y, training.qid, eval_set=(validation.X, validation.y, validation.qid))
    expected = evaluate(
        test.y, ranker.predict(test.X), test.qid, ["p@5", "recall@5"], preset="trec", docs=test.docs
    )
    assert found["folds"]["Fold2"][learner] == expected.means
    chosen = found["chosen"]["Fold2"][learner]
    assert (chosen["alpha"], chosen["ties"]) == (ranker.alpha_, ranker.best_["ties"])
    assert chosen["score"] == ranker.best_score_
    assert found["tests"] == []


def test_a_single_split_and_any_format_will_do(folder, done, tmp_path):
    (tmp_path / "one").mkdir()
    for name, part in zip(("train", "vali", "test"), parts_of(folder, 1), strict=True):
        rankwise.save_store(part, tmp_path / "one" / f"{name}.store")
    found = json.loads(done("folds", tmp_path / "one", "--learners", "rankrls", "--json"))
    assert list(found["folds"]) == ["one"]
    assert "Mean over 1 fold " in done("folds", tmp_path / "one", "--learners", "rankrls")


def test_labels_that_are_no_grades_are_measured_by_pairs(done, tmp_path):
    data = rankwise.make_search_data(20, random_state=1)
    write_folds(
        tmp_path / "real", rankwise.RankingData.from_arrays(data.X, data.y - 1.5, data.qid, data.docs)
    )
    found = json.loads(done("folds", tmp_path / "real", "--learners", "rankrls", "--json"))
    assert list(found["means"]["rankrls"]) == ["pairwise_error", "kendall_tau_b"]


def test_folds_are_taken_in_the_order_of_their_numbers(done, tmp_path):
    write_folds(tmp_path / "many", rankwise.make_search_data(33, random_state=1), 11)
    found = json.loads(
        done("folds", tmp_path / "many", "--learners", "rankrls", "--measures", "map", "--json")
    )
    assert list(found["folds"]) == [f"Fold{number}" for number in range(1, 12)]


def test_the_table_for_papers_marks_the_best_and_the_significant():
    rng = np.random.default_rng(0)
    qid, y = np.repeat(np.arange(60), 10), rng.integers(0, 3, 600).astype(float)
    scores = {
        "a_1": y + 0.3 * rng.normal(size=600),
        "b": y + 3 * rng.normal(size=600),
        "c": rng.normal(size=600),
    }
    found = compare(y, scores, qid, ["ndcg@5", "pairwise_error"])
    table = latex_table(found.means, found, 60)
    (first, *_, last) = [line for line in table.splitlines() if re.match(r"\d & ", line)]
    assert first.startswith(r"1 & a\_1 & \textbf{")
    assert first.count("$^{2,3}$") == 2
    assert "textbf" not in last
    assert "$^" not in last


def test_test_queries_that_were_learned_from_are_warned_about(folder, capsys, tmp_path):
    from rankwise.cli import main

    write_folds(tmp_path / "leaky", rankwise.make_search_data(10, random_state=1), 5)
    fold = tmp_path / "leaky" / "Fold2"
    (fold / "testset.txt").write_text(
        (fold / "trainingset.txt").read_text(encoding="utf-8"), encoding="utf-8"
    )
    assert main(["folds", str(tmp_path / "leaky"), "--learners", "rankrls"]) == 0
    said = capsys.readouterr().err
    assert (
        "rankwise: warning: Fold2: 6 of 6 test queries have the label of a query of the training data" in said
    )


def test_queries_that_are_tested_twice_are_warned_about(capsys, tmp_path):
    from rankwise.cli import main

    write_folds(tmp_path / "same", rankwise.make_search_data(10, random_state=1), 5)
    first, second = (tmp_path / "same" / f"Fold{number}" / "testset.txt" for number in (1, 2))
    second.write_text(first.read_text(encoding="utf-8"), encoding="utf-8")
    assert main(["folds", str(tmp_path / "same"), "--learners", "rankrls", "--measures", "map"]) == 0
    assert "2 query labels are in the test data of more than one fold" in capsys.readouterr().err


def test_mistakes_get_one_sentence(refused, folder, tmp_path):
    write_folds(tmp_path / "broken", rankwise.make_search_data(10, random_state=1), 5)
    fold = tmp_path / "broken" / "Fold3"
    (fold / "validationset.txt").rename(fold / "notes.txt")
    said = refused("folds", tmp_path / "broken", code=1)
    assert (
        f"{fold}: there is no validation data; expected a file whose name begins with 'vali' or 'dev'" in said
    )
    assert "found notes.txt, testset.txt" in said
    (fold / "vali.txt").write_text("1 qid:1 1:1\n", encoding="utf-8")
    (fold / "valid.txt").write_text("1 qid:1 1:1\n", encoding="utf-8")
    assert "is ambiguous: vali.txt or valid.txt." in refused("folds", tmp_path / "broken", code=1)
    (fold / "valid.txt").unlink()
    (fold / "vali.txt").write_text("1 qid:1 23:1\n", encoding="utf-8")
    out = tmp_path / "deep" / "out"
    assert "vali.txt, line 1: feature index 23" in refused("folds", tmp_path / "broken", "--out", out, code=1)
    assert not out.parent.exists()
    (tmp_path / "nothing").mkdir()
    assert "found neither folds" in refused("folds", tmp_path / "nothing", code=1)
    assert "expected a folder with the folds" in refused("folds", tmp_path / "absent", code=1)
    for learners, sentence in (
        ("lambdamart", "--learners must name any of rankrls, kernel-rankrls, ranksvm, lightgbm, xgboost, or"),
        ("lgbm(num_leaves=3)", "feature:11; got 'lgbm'; did you mean 'lightgbm'?"),
        ("rankrls(alfa=1)", "The learner rankrls has no option 'alfa'"),
        ("rankrls,rankrls", "one or more different learners"),
        ("rankrls(", "--learners expects names such as"),
        ("", "one or more different learners"),
    ):
        assert sentence in refused("folds", "letor", "--learners", learners, code=2)
    assert "Unknown measure" in refused("folds", "letor", "--measures", "f1", code=2)
    assert "Unknown preset 'mine'" in refused("folds", "letor", "--preset", "mine", code=2)
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "is not a folder" in refused("folds", "letor", "--out", tmp_path / "file", code=2)


def test_ohsumed_is_as_good_as_the_official_ranking_svm(shared_data, done):
    """The official mean over the folds is a MAP of 0.4468."""
    data = shared_data / "ohsumed_letor2"
    found = json.loads(done("folds", data, "--scale", "--learners", "ranksvm", "--measures", "map", "--json"))
    assert found["means"]["ranksvm"]["map"] == pytest.approx(0.4468, abs=0.005)
    assert found["test_queries"] == 106


def test_other_learners_and_features_take_part(folder, done):
    """Boosted trees stop by the validation data; a feature is its own score."""
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    named = "rankrls,lightgbm(n_jobs=1),xgboost(n_jobs=1),feature:2"
    found = json.loads(
        done("folds", folder / "letor", "--learners", named, "--measures", "ndcg@10", "--json")
    )
    assert list(found["means"]) == ["rankrls", "lightgbm(n_jobs=1)", "xgboost(n_jobs=1)", "feature:2"]
    assert len(found["tests"]) == 6
    test = parts_of(folder, 1)[2]
    expected = evaluate(test.y, test.X[:, 1], test.qid, ["ndcg@10"], preset="letor").means["ndcg@10"]
    assert found["folds"]["Fold1"]["feature:2"]["ndcg@10"] == pytest.approx(expected)
    for name in list(found["means"])[:3]:
        assert found["means"][name]["ndcg@10"] > found["means"]["feature:2"]["ndcg@10"]
    assert 1 <= found["chosen"]["Fold1"]["lightgbm(n_jobs=1)"]["trees"] <= 500


def test_a_feature_that_is_not_there_is_named(folder, refused):
    message = refused("folds", folder / "letor", "--learners", "rankrls,feature:99", code=1)
    assert "no feature '99'" in message
