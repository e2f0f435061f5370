"""``rankwise train --pairs``: models from preferences instead of labels."""

import json

import numpy as np
import pytest

import rankwise
from rankwise.cli import main


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)).round(3), rng.integers(0, 3, 40)
    rows = (" ".join(f"{k + 1}:{v}" for k, v in enumerate(x)) for x in X)
    lines = (f"{label} qid:{i // 10} {row}" for i, (label, row) in enumerate(zip(y, rows, strict=True)))
    (tmp_path / "data.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pairs = np.column_stack([rng.integers(0, 20, 30), rng.integers(20, 40, 30)])
    (tmp_path / "pairs.tsv").write_text("".join(f"{i}\t{j}\n" for i, j in pairs), encoding="utf-8")
    return tmp_path, X, y.astype(float), np.arange(40) // 10, pairs


def test_pairs_are_learned_from_instead_of_labels(files):
    folder, X, _, _, pairs = files
    command = ["train", str(folder / "data.txt"), str(folder / "model"), "--pairs", str(folder / "pairs.tsv")]
    assert main([*command, "--alpha", "1"]) == 0
    expected = rankwise.RankRLS().fit_preferences(X, pairs)
    np.testing.assert_allclose(rankwise.load_model(folder / "model").coef_, expected.coef_, rtol=1e-10)


def test_the_model_remembers_that_rows_of_pairs_were_scaled(files):
    folder, X, _, qid, pairs = files
    command = ["train", str(folder / "data.txt"), str(folder / "model"), "--pairs", str(folder / "pairs.tsv")]
    assert main([*command, "--alpha", "1", "--scale"]) == 0
    model = rankwise.load_model(folder / "model")
    assert model.scaled_per_query_
    expected = rankwise.RankRLS().fit_preferences(rankwise.scale_per_query(X, qid), pairs)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-10)


@pytest.mark.parametrize(
    "learner, choosing", [("rankrls", rankwise.RankRLSCV), ("ranksvm", rankwise.RankSVMCV)]
)
def test_alpha_is_chosen_on_folds_of_pairs_without_labels(files, capsys, learner, choosing):
    folder, X, _, _, pairs = files
    command = [
        "train",
        str(folder / "data.txt"),
        str(folder / "model"),
        "--pairs",
        str(folder / "pairs.tsv"),
    ]
    assert main([*command, "--learner", learner, "--alpha", "0.1,10"]) == 0
    printed = capsys.readouterr()
    expected = choosing([0.1, 10.0], cv=5).fit_preferences(X, pairs)
    model = rankwise.load_model(folder / "model")
    assert model.best_ == expected.best_
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert printed.out.startswith("pairwise_error by 5 folds of pairs\n")
    assert f"Chosen: alpha {expected.best_['alpha']:g}, " in printed.out
    assert "Quality" not in printed.out
    assert "\\u000a" not in printed.out
    assert main([*command, "--validation", str(folder / "data.txt"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["cv"] == "5 folds of pairs"
    assert "validation" in shown
    assert "training" not in shown
    page = folder / "page.html"
    assert main([*command, "--validation", str(folder / "data.txt"), "--report", str(page)]) == 0
    assert "on validation data" in page.read_text(encoding="utf-8")


def test_a_pair_of_a_row_that_is_not_there_is_refused(files, capsys):
    folder = files[0]
    (folder / "pairs.tsv").write_text("0\t40\n", encoding="utf-8")
    command = ["train", str(folder / "data.txt"), str(folder / "model"), "--pairs", str(folder / "pairs.tsv")]
    assert main(command) == 1
    assert "pairs.tsv, line 1" in capsys.readouterr().err


def test_clicks_in_a_table_name_documents(tmp_path):
    lines = [f"0 qid:{i // 10} 1:{i % 7} 2:{i % 3} #docid = d{i}\n" for i in range(40)]
    (tmp_path / "data.txt").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "clicks.csv").write_text(
        "qid,preferred,other,weight\n0,d3,d1,2\n3,d35,d36,1\n", encoding="utf-8"
    )
    command = ["train", str(tmp_path / "data.txt"), str(tmp_path / "model"), "--alpha", "1"]
    assert main([*command, "--pairs", str(tmp_path / "clicks.csv")]) == 0
    X = rankwise.load_letor(tmp_path / "data.txt", dense=True).X
    expected = rankwise.RankRLS().fit_preferences(X, [[3, 1], [35, 36]], weight=[2.0, 1.0])
    np.testing.assert_allclose(rankwise.load_model(tmp_path / "model").coef_, expected.coef_, rtol=1e-10)
