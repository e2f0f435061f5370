"""What commands read: tables and stores."""

import csv
import gzip
import json

import numpy as np
import pandas
import pytest

import rankwise
from command_line import done, folder, refused
from rankwise.cli import main

__all__ = ["done", "folder", "refused"]  # fixtures


def test_a_store_and_text_give_the_same_model(folder, done, tmp_path):
    store, model, back = tmp_path / "train.store", tmp_path / "model", tmp_path / "back.txt.xz"
    done("convert", "train.txt.gz", store)
    done("train", store, model, "--alpha", "0.5")
    np.testing.assert_allclose(
        rankwise.load_model(model).coef_, rankwise.load_model(folder / "model").coef_, rtol=1e-12
    )
    done("convert", store, back)
    assert (rankwise.load_letor(back).X == rankwise.load_letor(folder / "train.txt.gz").X).all()


def test_convert_takes_extensions_in_capitals(done, folder, tmp_path):
    done("convert", "test.txt", tmp_path / "TEST.TXT.GZ")
    text = gzip.decompress((tmp_path / "TEST.TXT.GZ").read_bytes())
    assert text.count(b"\n") == (folder / "test.txt").read_bytes().count(b"\n")


def test_tables_are_read_by_their_column_names(done, tmp_path):
    data = rankwise.make_search_data(20, random_state=5)
    for name, order in (("a.csv", 1), ("b.csv", -1)):
        with (tmp_path / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["grade", "query", "page", *data.feature_names[::order]])
            for row in range(data.n_rows):
                values = data.X[row].tolist()[::order]
                writer.writerow([data.y[row], f"q{data.qid[row]}", data.docs[row], *values])
    columns = ("--label", "grade", "--qid", "query", "--doc", "page")
    done("train", tmp_path / "a.csv", tmp_path / "model", *columns)
    model = rankwise.load_model(tmp_path / "model")
    assert list(model.feature_names_in_) == list(data.feature_names)
    run = done("predict", tmp_path / "b.csv", tmp_path / "model", "--trec", "--tag", "me", *columns)
    first = run.splitlines()[0].split()
    assert (first[0], first[1], first[3], first[5]) == ("q1", "Q0", "1", "me")
    query = data.qid == 1
    assert first[2] == data.docs[query][(data.X[query] @ model.coef_).argmax()]


def test_tables_without_labels_are_scored(done, tmp_path):
    data = rankwise.make_search_data(10, random_state=5)
    frame = pandas.DataFrame(data.X, columns=list(data.feature_names))
    frame.to_csv(tmp_path / "unjudged.csv", index=False)
    frame.assign(label=data.y, qid=data.qid).to_parquet(tmp_path / "judged.parquet")
    done("train", tmp_path / "judged.parquet", tmp_path / "model")
    scores = done("predict", tmp_path / "unjudged.csv", tmp_path / "model")
    assert scores == done("predict", tmp_path / "judged.parquet", tmp_path / "model")
    expected = data.X @ rankwise.load_model(tmp_path / "model").coef_
    np.testing.assert_allclose([float(line) for line in scores.split()], expected, rtol=1e-12)


def test_labels_that_are_no_grades_are_measured_by_pairs(done, tmp_path):
    rng = np.random.default_rng(0)
    lines = (f"{rng.normal()} 1:{rng.normal()} 2:{rng.normal()}\n" for _ in range(20))
    (tmp_path / "real.txt").write_text("".join(lines), encoding="utf-8")
    report = json.loads(done("train", tmp_path / "real.txt", tmp_path / "model", "--json", "--qid", ""))
    assert set(report["training"]) == {"pairwise_error", "kendall_tau_b"}
    assert report["cv"] == "leave-pair-out"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_scores_are_measured_against_a_table_whose_other_columns_hold_anything(done, tmp_path, ending):
    y, scores, qid = [2, 0, 1, 0], [0.3, 0.1, 0.5, 0.5], ["red shoes", "red shoes", "tea", "tea"]
    frame = pandas.DataFrame({"query": qid, "title": ["a", None, "c", "d"], "grade": y, "doc": list("wxyz")})
    getattr(frame, f"to_{ending}")(tmp_path / f"judged.{ending}", index=False)
    (tmp_path / "scores").write_text("\n".join(map(str, scores)), encoding="utf-8")
    command = ["evaluate", tmp_path / f"judged.{ending}", tmp_path / "scores", "--label", "grade", "--json"]
    for docs in (None, list("wxyz")):
        more = ["--qid", "query", "--preset", "trec", *([] if docs is None else ["--doc", "doc"])]
        expected = rankwise.metrics.evaluate(y, scores, qid, ["map"], preset="trec", docs=docs)
        printed = json.loads(done(*command, *more, "--measures", "map"))
        assert printed["measures"] == expected.to_dict()["measures"]


@pytest.mark.parametrize("option", ["--exclude", "--features"])
@pytest.mark.parametrize("command", ["train", "audit", "curve", "convert"])
def test_a_choice_of_columns_is_refused_for_text_and_stores(done, refused, tmp_path, command, option):
    done("convert", "test.txt", tmp_path / "test.store")
    out = {"train": [tmp_path / "chosen"], "convert": [tmp_path / "chosen.store"]}.get(command, [])
    for data in ("test.txt", tmp_path / "test.store"):
        says = refused(command, data, *out, option, "1", code=2)
        assert f"{option} chooses columns of tables, but {data} is not a table" in says


def test_arguments_in_the_wrong_order_are_named(refused, tmp_path):
    (tmp_path / "rows.csv").write_text("label,qid,x\n1,a,1\n0,a,2\n", encoding="utf-8")
    assert "model: is a model; expected data." in refused("evaluate", "model", "test.txt", code=1)
    for command in (["predict", "model"], ["update", "model"]):
        assert "rows.csv: is not a model file but a table." in refused(
            *command, tmp_path / "rows.csv", code=1
        )


def test_more_queries_of_a_curve_are_whole_numbers(refused):
    for given in ("1e3", "0", "-1", "many", "50,"):
        says = refused("curve", "test.txt", f"--more={given}", code=2)
        assert "--more expects whole numbers of queries" in says


def test_results_on_the_rows_of_training_are_questioned(folder, tmp_path, capsys):
    same = tmp_path / "same.txt"
    same.write_bytes((folder / "test.txt").read_bytes())
    arguments = ["train", str(folder / "test.txt"), str(tmp_path / "model"), "--alpha", "1", "--test"]
    assert main([*arguments, str(same)]) == 0
    assert f"{same}: the model was trained on these rows" in capsys.readouterr().err
    assert main([*arguments, str(folder / "train.txt.gz")]) == 0
    assert "trained on these rows" not in capsys.readouterr().err
