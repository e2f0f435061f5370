"""Text without qid: files of query sizes next to it, a warning without them; text with other features."""

import json

import numpy as np
import pytest

import rankwise
from command_line import done, folder, letor_lines, refused
from rankwise import DataError, load_letor
from rankwise.cli import main
from rankwise.readers.letor_folds import find_folds
from rankwise.readers.text import COMPRESSED, create_text

__all__ = ["done", "folder", "refused"]  # fixtures

SIZES = [4, 1, 10, 15]


def write(path, text):
    with create_text(path) as file:
        file.write(text.encode())
    return path


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 2)), rng.integers(0, 3, 30)


@pytest.fixture(scope="module")
def text(rows):
    return "".join(
        f"{label} 1:{a!r} 2:{b!r}\n" for (a, b), label in zip(rows[0].tolist(), rows[1], strict=True)
    )


def written_sizes(path, sizes=SIZES):
    return write(path, "".join(f"{size}\n" for size in sizes))


@pytest.mark.parametrize("ending", ["query", "group"])
def test_sizes_of_queries_are_found_beside_text_without_qid(done, refused, rows, text, tmp_path, ending):
    (X, y), sizes = rows, SIZES
    data, beside = write(tmp_path / "rank.train", text), written_sizes(tmp_path / f"rank.train.{ending}")
    done("train", data, tmp_path / "model", "--alpha", "1")
    expected = rankwise.RankRLS().fit(X, y, rankwise.qid_from_group_sizes(sizes))
    np.testing.assert_allclose(rankwise.load_model(tmp_path / "model").coef_, expected.coef_, rtol=1e-10)
    done("convert", data, tmp_path / "rank.store")
    assert rankwise.open_store(tmp_path / "rank.store").queries.sizes.tolist() == sizes
    beside.write_text("4\n1\n", encoding="utf-8")
    assert "the query sizes sum to 5, but" in refused("train", data, tmp_path / "model", code=1)
    beside.write_text("4\n0\n", encoding="utf-8")
    assert "line 2: expected the number of rows of a query" in refused(
        "train", data, tmp_path / "model", code=1
    )


@pytest.mark.parametrize("packed", ["", *COMPRESSED, ".GZ"])
@pytest.mark.parametrize("name", ["{0}.query", "{0}.group", "{0}{1}.query"])
@pytest.mark.parametrize("also_packed", ["", *COMPRESSED])
def test_sizes_are_found_however_either_file_is_compressed(text, tmp_path, packed, name, also_packed):
    data = write(tmp_path / f"rank.train{packed}", text)
    written_sizes(tmp_path / f"{name.format('rank.train', packed)}{also_packed}")
    assert load_letor(data).queries.sizes.tolist() == SIZES


def test_commands_and_library_read_the_same_queries(done, text, tmp_path):
    data = write(tmp_path / "rank.train.xz", text)
    written_sizes(tmp_path / "rank.train.query.xz")
    assert json.loads(done("info", data, "--json"))["queries"] == len(SIZES)
    rankwise.convert_letor(data, tmp_path / "rank.store")
    for found in (load_letor(data), rankwise.open_store(tmp_path / "rank.store")):
        assert found.qid.tolist() == rankwise.qid_from_group_sizes(SIZES).tolist()
        assert found.queries.labels.tolist() == [0, 1, 2, 3]
    done("train", data, tmp_path / "model", "--alpha", "1")
    expected = rankwise.RankRLS().fit(load_letor(data))
    np.testing.assert_array_equal(rankwise.load_model(tmp_path / "model").coef_, expected.coef_)


def test_labels_of_queries_count_more_than_sizes(tmp_path):
    data = write(tmp_path / "rows.txt", "1 qid:7 1:1\n0 qid:8 1:2\n")
    written_sizes(tmp_path / "rows.txt.query", [2])
    assert load_letor(data).qid.tolist() == [7, 8]


def test_sizes_that_are_wrong_are_refused_by_the_library_too(text, tmp_path):
    data = write(tmp_path / "rank.train.gz", text)
    for sizes, says in (
        ([4, 1], "the query sizes sum to 5, but"),
        ([30, 0], "line 2: expected the number"),
        (["٣"], "line 1"),
    ):
        written_sizes(tmp_path / "rank.train.query.gz", sizes)
        for read in (load_letor, lambda path: rankwise.convert_letor(path, tmp_path / "rank.store")):
            with pytest.raises(DataError, match=says):
                read(data)
    assert not (tmp_path / "rank.store").exists()


def test_compressed_sizes_are_no_part_of_a_fold(text, tmp_path):
    for part in ("train", "vali", "test"):
        write(tmp_path / f"{part}.txt.gz", text)
        written_sizes(tmp_path / f"{part}.txt.query.gz")
    (fold,) = find_folds(tmp_path)
    assert fold.training.name == "train.txt.gz"


@pytest.mark.parametrize("command", ["train", "path", "audit", "folds"])
def test_rows_without_queries_are_questioned_in_one_line(text, tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    for name in ("rows.txt", "train.txt", "vali.txt", "test.txt"):
        write(tmp_path / name, text)
    given = "." if command == "folds" else "rows.txt"
    line = [command, given, *(["m"] if command == "train" else [])]
    assert main(line) == 0
    read = "train.txt" if command == "folds" else "rows.txt"
    says = "the rows have no qid, so all 30 form one ranking; if that is meant, say so with --qid ''."
    assert capsys.readouterr().err == f"rankwise: warning: {read}: {says}\n"
    assert main([*line, "--qid", ""]) == 0
    assert capsys.readouterr().err == ""


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A model of 25 features, and rows with 22 that write out zeros or have none."""
    folder = tmp_path_factory.mktemp("narrow")
    data = rankwise.make_search_data(10, random_state=0)
    wide = rankwise.RankingData.from_arrays(np.hstack([data.X, np.ones((data.n_rows, 3))]), data.y, data.qid)
    rankwise.RankRLS().fit(wide).save(folder / "model")
    (folder / "rows.txt").write_text("".join(letor_lines(data)), encoding="utf-8")
    (folder / "full.txt").write_text("2 qid:1 1:1 2:0.5\n0 qid:1 1:3 2:1\n", encoding="utf-8")
    (folder / "sparse.txt").write_text("2 qid:1 1:1 2:0.5\n0 qid:1 2:1\n", encoding="utf-8")
    (folder / "wide.txt").write_text("2 qid:1 25:1\n0 qid:1 1:1\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "predict rows.txt model",
        "evaluate rows.txt model",
        "report model --data rows.txt --out page.html",
        "export model out.onnx --data rows.txt",
        "train wide.txt other --validation rows.txt",
    ],
)
def test_text_with_the_features_of_another_model_is_refused(narrow, refused, command):
    line = [str(narrow / word) if (narrow / word).exists() else word for word in command.split()]
    said = refused(*line, code=1)
    assert said.startswith(f"{narrow}/rows.txt: every row has 22 features, but 25 are expected")


def test_text_that_may_leave_out_zeros_is_scored(narrow, capsys):
    assert main(["predict", str(narrow / "sparse.txt"), str(narrow / "model")]) == 0
    assert capsys.readouterr().err == ""
    assert main(["predict", str(narrow / "full.txt"), str(narrow / "model")]) == 0
    says = "every row has 2 features, but 25 are expected; the last 23 are taken to be 0."
    assert capsys.readouterr().err == f"rankwise: warning: {narrow}/full.txt: {says}\n"


def test_parts_on_workers_need_labels_of_queries(text, tmp_path):
    from rankwise.dask.data import read_part

    data = write(tmp_path / "rank.train", text)
    written_sizes(tmp_path / "rank.train.query.gz")
    with pytest.raises(DataError, match="parts need query labels rather than sizes"):
        read_part(str(data), "auto", None)
