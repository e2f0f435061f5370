"""``rankwise path``: what it prints and writes."""

import json

import numpy as np
import pytest

import rankwise
from rankwise.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("path")
    for name, part in zip(("train", "val"), rankwise.make_search_data(16, seed=3).split(0.6), strict=True):
        rankwise.save_letor(part, folder / f"{name}.txt")
    return folder


def test_the_chosen_model_is_the_best_breakpoint(folder, capsys):
    inputs = ["path", str(folder / "train.txt"), "--validation", str(folder / "val.txt")]
    outputs = ["--model", str(folder / "model"), "--plot", str(folder / "path.svg"), "--json"]
    code = main([*inputs, "--graph", "reduced", *outputs])
    facts = json.loads(capsys.readouterr().out)
    assert code == 0
    assert facts["alpha"] == facts["alphas"][int(np.argmin(facts["measured"]))]
    assert max(facts["violation"]) < 1e-7
    assert rankwise.load(folder / "model").alpha_ == pytest.approx(facts["alpha"])
    assert "<svg" in (folder / "path.svg").read_text(encoding="utf-8")


def test_the_table_marks_the_choice(folder, capsys):
    assert main(["path", str(folder / "train.txt"), "--kernel", "linear", "--graph", "reduced"]) == 0
    printed = capsys.readouterr().out
    assert "pairwise_error (training)" in printed
    assert printed.count(" *") >= 1
    assert "optimality conditions hold within" in printed


@pytest.mark.parametrize(
    "options, message",
    [
        (["--graph", "half"], "'graph' parameter must be one of 'full', 'reduced'"),
        (["--plot", "path.txt"], "--plot must name a file ending in .svg, .png, .pdf"),
        (["--alpha-min", "0"], "'alpha_min' parameter"),
        (["--measure", "beauty"], "beauty"),
    ],
)
def test_wrong_options_are_one_sentence(folder, capsys, options, message):
    assert main(["path", str(folder / "train.txt"), "--max-events", "20", *options]) == 2
    error = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert len(error) == 1
    assert message in error[0]
