"""A model trained on features scaled within queries is applied only to such features."""

import json

import numpy as np
import pytest

import rankwise
from command_line import done, folder, rankwise_process, refused

__all__ = ["done", "folder", "refused"]  # fixtures


@pytest.fixture(scope="module")
def scaled(folder, tmp_path_factory):
    """A scaled training store, a model trained on it, and test data as scaled and raw stores."""
    place = tmp_path_factory.mktemp("scaled")
    for arguments in (
        ["convert", folder / "train.txt.gz", place / "train.store", "--scale"],
        ["train", place / "train.store", place / "model", "--alpha", "0.5"],
        ["convert", folder / "test.txt", place / "test.store", "--scale"],
        ["convert", folder / "test.txt", place / "raw.store"],
    ):
        run = rankwise_process(*arguments)
        assert run.returncode == 0, run.stderr
    return place


@pytest.fixture
def expected(scaled, folder):
    test = rankwise.load_letor(folder / "test.txt")
    return rankwise.load_model(scaled / "model").predict(rankwise.scale_per_query(test.X, test.qid))


def test_another_process_scales_raw_text_as_the_training_data_was(scaled, folder, expected):
    run = rankwise_process("predict", folder / "test.txt", scaled / "model")
    assert run.stderr == ""
    np.testing.assert_array_equal([float(line) for line in run.stdout.split()], expected)


@pytest.mark.parametrize("data", ["raw.store", "test.store", "rows.csv", "shuffled.txt"])
def test_scores_do_not_depend_on_how_the_rows_come(scaled, folder, done, expected, data, tmp_path):
    test, path, order = rankwise.load_letor(folder / "test.txt"), scaled / data, np.arange(len(expected))
    if data == "rows.csv":
        import pandas

        path = tmp_path / data
        frame = pandas.DataFrame(test.X).assign(qid=test.qid, label=test.y)
        frame.to_csv(path, index=False)
        arguments = ["--label", "label"]
    elif data == "shuffled.txt":
        path, arguments = tmp_path / data, []
        order = np.random.default_rng(0).permutation(len(order))
        rankwise.save_letor(test.select(order), path)
    else:
        arguments = []
    scores = done("predict", path, scaled / "model", *arguments).split()
    np.testing.assert_array_equal([float(score) for score in scores], expected[order])


def test_parts_that_fit_in_memory_do_not_show(scaled, done, expected, monkeypatch):
    monkeypatch.setattr("rankwise.rows.scaling._PART_VALUES", 100)
    scores = done("predict", scaled / "raw.store", scaled / "model").split()
    np.testing.assert_array_equal([float(score) for score in scores], expected)


def test_evaluation_and_validation_scale_too(scaled, folder, done, tmp_path):
    model, store = scaled / "model", scaled / "test.store"
    assert done("evaluate", "test.txt", model, "--json") == done("evaluate", store, model, "--json")
    by_text, by_store = (
        json.loads(done("train", scaled / "train.store", tmp_path / "m", "--validation", data, "--json"))
        for data in ("test.txt", store)
    )
    assert by_text["validation"] == by_store["validation"]
    selected = (
        json.loads(done("train", scaled / "train.store", tmp_path / "m", "--validation", data, "--json"))
        for data in ("test.txt", store)
    )
    assert len({json.dumps(choice["scores"]) for choice in selected}) == 1


@pytest.mark.parametrize("command", ["train", "train --alpha 0.5,2", "path --set alpha_min=0.04 --model"])
def test_train_and_path_scale_as_convert_does(scaled, folder, done, tmp_path, command):
    found = []
    for data, scale in ((scaled / "train.store", []), (folder / "train.txt.gz", ["--scale"])):
        name, *options = command.split()
        validation = ["--validation", "test.txt", "--json"]
        printed = done(name, data, *options, tmp_path / "m", *validation, *scale)
        assert rankwise.load_model(tmp_path / "m").scaled_per_query_
        found.append(json.loads(printed) | {"seconds": None})
    assert found[0] == found[1]


def test_scaled_data_is_refused_by_a_model_of_raw_data(scaled, folder, refused, tmp_path):
    sentence = "The data was scaled within each query"
    assert sentence in refused("predict", scaled / "test.store", "model", code=1)
    assert sentence in refused("evaluate", scaled / "test.store", "model", code=1)
    validation = ["--validation", scaled / "test.store"]
    assert sentence in refused("train", "test.txt", tmp_path / "m", *validation, code=1)
    assert sentence in refused("path", "test.txt", *validation, code=1)


def test_rows_without_queries_cannot_be_scaled_by_them(scaled, refused, tmp_path):
    test = rankwise.open_store(scaled / "raw.store")
    rankwise.save_letor(rankwise.RankingData.from_arrays(test.X, test.y), tmp_path / "rows.txt")
    said = refused("predict", tmp_path / "rows.txt", scaled / "model", code=1)
    assert said.endswith("within each query (--scale), but the data has no queries.\n")
    for command in (
        ["convert", tmp_path / "rows.txt", tmp_path / "out.store"],
        ["train", tmp_path / "rows.txt", "m"],
    ):
        said = refused(*command, "--scale", code=1)
        assert "rows.txt: --scale scales features within each query, but the data has no queries." in said
    assert not (tmp_path / "out.store").exists()


def test_what_cannot_remember_the_scaling_says_so(scaled, tmp_path):
    run = rankwise_process("svm_rank_learn", scaled / "train.store", tmp_path / "svm")
    assert run.returncode == 0
    assert "SVMrank model files cannot record that features were scaled" in run.stderr


def test_a_store_and_its_parts_say_that_they_are_scaled(scaled, done):
    data = rankwise.open_store(scaled / "test.store")
    assert data.scaled_per_query
    assert data.select(rows=[1, 2]).scaled_per_query
    assert data.scale_per_query() is data
    assert repr(data).endswith("features (float64, scaled per query))")
    facts = json.loads(done("info", scaled / "test.store", "--json"))
    assert facts["scaled per query"] is True
    assert json.loads(done("info", scaled / "model", "--json"))["scaled_per_query_"] is True
