"""``rankwise path``: what it prints and writes."""

import json

import numpy as np
import pytest

import rankwise
from rankwise.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("path")
    for name, part in zip(
        ("train", "val"), rankwise.make_search_data(16, random_state=3).split(0.6), strict=True
    ):
        rankwise.save_letor(part, folder / f"{name}.txt")
    return folder


def test_the_chosen_model_is_the_best_breakpoint(folder, capsys):
    inputs = ["path", str(folder / "train.txt"), "--validation", str(folder / "val.txt")]
    outputs = ["--model", str(folder / "model"), "--plot", str(folder / "path.svg"), "--json"]
    code = main([*inputs, "--graph", "reduced", *outputs])
    facts = json.loads(capsys.readouterr().out)
    assert code == 0
    assert facts["alpha"] == facts["alphas"][::-1][int(np.argmin(facts["scores"][::-1]))]
    assert max(facts["violation"]) < 1e-7
    assert rankwise.load_model(folder / "model").alpha_ == pytest.approx(facts["alpha"])
    assert "<svg" in (folder / "path.svg").read_text(encoding="utf-8")


def test_the_table_marks_the_choice(folder, capsys):
    assert main(["path", str(folder / "train.txt"), "--kernel", "linear", "--graph", "reduced"]) == 0
    printed = capsys.readouterr().out
    assert "pairwise_error (training)" in printed
    assert printed.count(" *") >= 1
    assert "optimality conditions hold to within" in printed


def test_any_other_parameter_can_be_set(folder, capsys):
    options = ["--kernel", "polynomial", "--set", "degree=2", "--model", str(folder / "squares")]
    assert main(["path", str(folder / "train.txt"), "--graph", "reduced", "--scale", *options]) == 0
    assert rankwise.load_model(folder / "squares").degree_ == 2
    assert main(["path", str(folder / "train.txt"), "--set", "depth=2"]) == 2
    assert "The learner path has no option 'depth'; expected kernel, gamma" in capsys.readouterr().err


def test_a_measure_nobody_knows_is_refused_before_the_path_is_followed(folder, capsys, monkeypatch):
    monkeypatch.setattr(rankwise.RankSVMPath, "fit", lambda *_, **__: pytest.fail("the path was followed"))
    assert main(["path", str(folder / "train.txt"), "--measure", "beauty"]) == 2
    assert "Unknown measure 'beauty'" in capsys.readouterr().err


def test_a_table_without_queries_is_one_ranking(folder, capsys):
    rows = "a,b,label\n1,0,0\n0,1,1\n1,1,1\n0,0,0\n"
    (folder / "classes.csv").write_text(rows, encoding="utf-8")
    assert main(["path", str(folder / "classes.csv"), "--qid", "", "--measure", "auc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_pairs"] == 4


@pytest.mark.parametrize(
    "options, message",
    [
        (["--graph", "half"], "option --graph must be one of 'full', 'reduced'"),
        (["--plot", "path.txt"], "--plot must name a file ending in .svg, .png, .pdf"),
        (["--set", "alpha_min=0"], "option --set alpha_min"),
        (["--measure", "beauty"], "beauty"),
    ],
)
def test_wrong_options_are_one_sentence(folder, capsys, options, message):
    assert main(["path", str(folder / "train.txt"), "--set", "max_events=20", *options]) == 2
    error = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert len(error) == 1
    assert message in error[0]
