"""`rankwise train` chooses alpha, and what else is left to choose."""

import json
import warnings

import numpy as np
import pytest

import rankwise
from command_line import done, folder, refused
from rankwise.cli import main
from rankwise.cli.learners import SELECTORS, parse_numbers
from rankwise.metrics import get_measure
from watched_tasks import shown

__all__ = ["done", "folder", "refused", "shown"]  # fixtures


def test_train_chooses_what_python_chooses(folder, done, tmp_path):
    model = tmp_path / "model"
    arguments = ["--alpha", "2^-5..2^3,100", "--ties", "keep,drop", "--measure", "map"]
    table = done("train", "train.txt.gz", model, *arguments)
    assert table.startswith("map by leave-query-out")
    train = rankwise.load_letor(folder / "train.txt.gz")
    alphas = [*(2.0**k for k in range(-5, 4)), 100.0]
    expected = rankwise.RankRLSCV(alphas, ties=("keep", "drop"), measure="map").fit(
        train.X, train.y, train.qid
    )
    assert rankwise.load_model(model).best_ == expected.best_
    assert done("predict", "test.txt", model).count("\n") == rankwise.load_letor(folder / "test.txt").n_rows
    choice = json.loads(
        done("train", "train.txt.gz", model, "--validation", "test.txt", "--json", *arguments)
    )
    assert choice["cv"] == "eval_set"
    assert np.shape(choice["scores"]) == (2, 10)


def test_train_says_which_alphas_of_ranksvm_were_not_tried(folder, done, tmp_path):
    for more, early in (([], True), (["--set", "early_stopping=false"], False)):
        shown = done("train", "train.txt.gz", tmp_path / "model", "--learner", "ranksvm", "--cv", "5", *more)
        model = rankwise.load_model(tmp_path / "model")
        assert (len(model.alphas_) < len(model.alphas)) == early
        assert (f"; alphas below {model.alphas_[0]:.6g} were not tried\n" in shown) == early
        assert ("not tried" in shown) == early


def test_train_measures_by_the_conventions_of_a_preset(folder, done, refused, tmp_path):
    model = tmp_path / "model"
    arguments = ["train", "train.txt.gz", model, "--alpha", "2^-9..2^3", "--measure"]
    assert done(*arguments, "letor:ndcg@3").startswith("letor:ndcg@3 by leave-query-out")
    train = rankwise.load_letor(folder / "train.txt.gz")
    measure = get_measure("ndcg@3", preset="letor")
    expected = rankwise.RankRLSCV(parse_numbers("2^-9..2^3"), measure=measure).fit(
        train.X, train.y, train.qid
    )
    np.testing.assert_array_equal(rankwise.load_model(model).scores_, expected.scores_)
    assert rankwise.load_model(model).measure == "letor:ndcg@3"
    scores = json.loads(done(*arguments, "ndcg@3", "--json"))["scores"]
    assert not np.allclose(scores, expected.scores_)
    assert "Unknown preset 'lettor'" in refused(*arguments, "lettor:ndcg@3", code=2)


def test_one_alpha_is_fixed_and_several_are_chosen_from(folder, done, tmp_path):
    model = tmp_path / "model"
    for arguments, name in (
        (["--alpha", "2^-1"], "RankRLS"),
        ([], "RankRLSCV"),
        (["--alpha", "0.5,1"], "RankRLSCV"),
        (["--alpha", "0.5", "--ties", "keep,drop"], "RankRLSCV"),
        (["--alpha", "0.5", "--cv", "3"], "RankRLSCV"),
    ):
        shown = json.loads(done("train", "train.txt.gz", model, "--json", *arguments))
        assert shown["class"] == name
        assert ("best" in shown) == (name == "RankRLSCV")
    done("train", "train.txt.gz", model, "--alpha", "0.5")
    first, again = (rankwise.load_model(path) for path in (folder / "model", model))
    np.testing.assert_array_equal(again.coef_, first.coef_)


def test_train_says_by_which_measure_on_which_rows_it_chose(folder, done, tmp_path):
    command = ["train", "train.txt.gz", tmp_path / "model"]
    for arguments, rows in (
        ([], "leave-query-out"),
        (["--cv", "4"], "4 folds of queries"),
        (["--validation", "test.txt"], "validation data"),
        (["--validation", "test.txt", "--cv", "4"], "4 folds of queries"),
    ):
        shown = done(*command, "--measure", "map", *arguments)
        best = rankwise.load_model(tmp_path / "model").best_
        assert f"map by {rows}\n" in shown
        assert f"Chosen: alpha {best['alpha']:.6g}, " in shown
        assert f"; map {best['score']:.4f} by {rows}\n" in shown
        assert len(shown.splitlines()) <= 25
    assert "Chosen" not in done(*command, "--alpha", "1", "--validation", "test.txt")


@pytest.mark.parametrize("learner", SELECTORS)
def test_every_learner_can_choose_alpha(done, tmp_path, learner):
    store, model = tmp_path / "test.store", tmp_path / "model"
    done("convert", "test.txt", store, "--scale")
    arguments = ["--learner", learner, "--alpha", "0.5,2", "--cv", "3"]
    assert "3 folds of queries" in done("train", store, model, *arguments)
    assert rankwise.load_model(model).best_["alpha"] in (0.5, 2.0)
    assert len(json.loads(done("train", store, model, *arguments, "--json"))["alphas"]) == 2


def test_a_choice_speaks_of_what_its_kernel_uses(done, tmp_path):
    arguments = ["train", "test.txt", tmp_path / "model", "--learner", "kernel-rankrls", "--scale"]
    arguments += ["--alpha", "1", "--cv", "auto", "--set"]
    gamma = 1 / rankwise.make_search_data(2).n_features
    assert f"gamma {gamma:.6g}, ties keep, weighting example; " in done(*arguments, "kernel=rbf")
    assert rankwise.load_model(tmp_path / "model").settings_ == [
        {"gamma": None, "ties": "keep", "weighting": "example"}
    ]
    assert "gamma" not in done(*arguments, "kernel=linear")
    assert f"gamma {gamma:.6g}, degree 3, coef0 1, ties keep" in done(*arguments, "kernel=polynomial")


def test_train_shows_how_far_it_is(done, tmp_path, shown):
    done("train", "train.txt.gz", tmp_path / "model", "--learner", "ranksvm", "--alpha", "1e-3,1e-2")
    assert [text for text, _ in shown[:2]] == ["Reading train.txt.gz"] * 2
    shares = [share for text, share in shown if text == "Training RankSVMCV" and share is not None]
    np.testing.assert_allclose(shares, np.arange(1, 11) / 10)


def test_train_names_the_setting_before_it_is_tried(done, tmp_path, shown):
    kernel = ("--learner", "kernel-rankrls", "--scale", "--alpha", "1")
    done("train", "train.txt.gz", tmp_path / "model", *kernel, "--set", "gamma=[0.01,0.1]")
    first = {text: share for text, share in reversed(shown) if "gamma" in text}
    assert list(first)[::-1] == [
        "Training KernelRankRLSCV: gamma=0.01 (1 of 2)",
        "Training KernelRankRLSCV: gamma=0.1 (2 of 2)",
    ]
    assert sorted(first.values()) == [0.0, 0.5]


def test_progress_moves_inside_a_fold_of_conjugate_gradient(monkeypatch):
    data, seen = rankwise.make_search_data(30, random_state=0), []
    model = rankwise.RankRLSCV([1.0], solver="cg", cv=2, max_iter=50)
    model.fit(data, on_progress=lambda step: seen.append(step.done))
    assert len([share for share in seen if 0.0 < share < 0.5]) > 3
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_the_help_of_train_names_the_default_alphas(capsys):
    main(["train", "--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    by_learner = {name: getattr(rankwise, SELECTORS[name])().alphas for name in SELECTORS}
    np.testing.assert_allclose(sorted(by_learner["rankrls"]), parse_numbers("2^-15..2^15"))
    assert by_learner["kernel-rankrls"] == by_learner["rankrls"]
    grid = by_learner["ranksvm"]
    assert (len(grid), min(grid), max(grid)) == (15, pytest.approx(1e-7), 1.0)
    assert "2^-15..2^15 by default, or 15 values from 1e-7 to 1 for ranksvm." in text


@pytest.mark.parametrize(
    "alphas, says",
    [
        ("1e3,1e4,1e5", "The best alpha, 1000, is the smallest of the grid; a smaller one may be better."),
        ("1e-9,1e-8,1e-7", None),  # equally good
        ("1,1e9", None),  # one of two is better
        ("1", None),
    ],
)
@pytest.mark.filterwarnings("always:The best alpha")
def test_a_best_alpha_that_ends_the_grid_is_said(folder, tmp_path, alphas, says, capsys):
    data = rankwise.load_letor(folder / "train.txt.gz")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rankwise.RankRLSCV(parse_numbers(alphas)).fit(data)
    assert [str(warning.message) for warning in caught] == ([says] if says else [])
    capsys.readouterr()
    assert main(["train", str(folder / "train.txt.gz"), str(tmp_path / "model"), "--alpha", alphas]) == 0
    assert capsys.readouterr().err == (f"rankwise: warning: {says}\n" if says else "")


def test_training_shows_left_out_queries_beside_training_rows_with_an_interval(folder, done, tmp_path):
    found = json.loads(done("train", "train.txt.gz", tmp_path / "model", "--json"))
    ranker = rankwise.RankRLSCV().fit(rankwise.load_letor(folder / "train.txt.gz"))
    data = rankwise.load_letor(folder / "train.txt.gz")
    by_hand = rankwise.metrics.evaluate(data.y, ranker.left_out_scores_, data.qid, ["ndcg@10"])
    assert found["left_out"]["ndcg@10"] == pytest.approx(by_hand.means["ndcg@10"])
    assert found["margins"]["left_out"]["ndcg@10"] == pytest.approx(by_hand.margins["ndcg@10"])
    assert found["left_out"]["pairwise_error"] > found["training"]["pairwise_error"]
    shown = done("train", "train.txt.gz", tmp_path / "model")
    assert "left_out: queries scored by models that were not trained on them" in shown
    assert "left_out: " not in done("train", "train.txt.gz", tmp_path / "model", "--alpha", "1")
