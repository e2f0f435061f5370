"""Commands that read data from several files: lists, patterns, shared queries and features that differ."""

import json

import numpy as np
import pytest

import rankwise
from command_line import done, folder, letor_lines, refused

__all__ = ["done", "folder", "refused"]  # fixtures


@pytest.fixture
def parts(folder, tmp_path):
    """The test data in three text files, and as tables."""
    data = rankwise.load_letor(folder / "test.txt")
    labels = data.queries.labels.tolist()
    for number, start in enumerate(range(0, len(labels), 10)):
        part = data.select(queries=labels[start : start + 10])
        (tmp_path / f"part-{number}.txt").write_text("".join(letor_lines(part)), encoding="utf-8")
        rows = ["qid,label,a,b"] + [
            f"{q},{y:g},{x[0]!r},{x[1]!r}" for q, y, x in zip(part.qid, part.y, part.X.tolist(), strict=True)
        ]
        (tmp_path / f"part-{number}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def test_a_list_and_a_pattern_mean_the_same_as_one_file(done, folder, parts, tmp_path):
    files = ",".join(str(parts / f"part-{number}.txt") for number in range(3))
    expected = done("predict", "test.txt", "model")
    assert done("predict", files, "model") == expected
    assert done("predict", parts / "part-*.txt", "model") == expected
    assert done("predict", f"{parts / 'part-0.txt'},{parts / 'part-[12].txt'}", "model") == expected
    whole = json.loads(done("evaluate", "test.txt", "model", "--json"))
    assert json.loads(done("evaluate", files, "model", "--json")) == whole
    done("train", "test.txt", tmp_path / "one", "--validation", "test.txt")
    done("train", files, tmp_path / "several", "--validation", parts / "part-*.txt")
    coefs = [rankwise.load_model(tmp_path / name).coef_ for name in ("one", "several")]
    np.testing.assert_array_equal(*coefs)
    done("convert", files, tmp_path / "all.store")
    np.testing.assert_array_equal(
        rankwise.open_store(tmp_path / "all.store").X, rankwise.load_letor(folder / "test.txt").X
    )
    rows = json.loads(done("info", files, "--json"))["rows"]
    assert rows == rankwise.load_letor(folder / "test.txt").n_rows


def test_tables_and_stores_are_joined(done, parts, tmp_path):
    done("train", parts / "part-*.csv", tmp_path / "model", "--alpha", "1,10")
    for number in range(3):
        done("convert", parts / f"part-{number}.csv", tmp_path / f"part-{number}.store", "--scale")
    done("train", tmp_path / "part-*.store", tmp_path / "scaled")
    assert rankwise.load_model(tmp_path / "scaled").scaled_per_query_
    scores = tmp_path / "scores"
    done(
        "predict",
        parts / "part-*.csv",
        tmp_path / "model",
        "--label",
        "label",
        "--qid",
        "qid",
        "--out",
        scores,
    )
    evaluated = [
        json.loads(done("evaluate", parts / "part-*.csv", by, "--json"))
        for by in (scores, tmp_path / "model")
    ]
    assert evaluated[0] == evaluated[1]


def test_a_file_whose_name_looks_like_a_list_is_that_file(done, parts, tmp_path):
    odd = tmp_path / "a,b[1]*.txt"
    odd.write_text((parts / "part-0.txt").read_text(encoding="utf-8"), encoding="utf-8")
    assert done("predict", odd, "model") == done("predict", parts / "part-0.txt", "model")


def test_shared_queries_are_refused_unless_they_are_to_be_merged(done, refused, parts, tmp_path):
    files = f"{parts / 'part-0.txt'},{parts / 'part-1.txt'},{parts / 'part-0.txt'}"
    for command in (["train", files, tmp_path / "m"], ["convert", files, tmp_path / "s.store"]):
        said = refused(*command, code=1)
        assert "is both in" in said
        assert "--merge-queries" in said
        done(*command, "--merge-queries")
    rows = [
        json.loads(done("info", path, "--json"))["rows per query"]["most"]
        for path in (parts / "part-0.txt", tmp_path / "s.store")
    ]
    assert rows[1] == 2 * rows[0]
    # Scores need no queries.
    assert done("predict", files, "model").count("\n") > 0


def test_what_does_not_fit_together_is_named(refused, parts, tmp_path):
    (parts / "part-1.csv").write_text("qid,label,a,c\n900,1,0.5,1\n901,0,1.5,2\n", encoding="utf-8")
    said = refused("train", parts / "part-*.csv", tmp_path / "m", code=1)
    assert f"The features differ: {parts / 'part-1.csv'} has no 'b', but {parts / 'part-0.csv'} has" in said
    (parts / "part-1.txt").write_text("1 2:1\n0 1:1\n", encoding="utf-8")
    assert "qid" in refused("train", parts / "part-*.txt", tmp_path / "m", code=1)
    assert "no file matches this pattern" in refused("train", parts / "none-*.txt", tmp_path / "m", code=2)
    missing = f"{parts / 'part-0.txt'},{parts / 'absent.txt'}"
    assert f"{parts / 'absent.txt'}: No such file" in refused("train", missing, tmp_path / "m", code=1)
    (parts / "part-2.txt").write_text("1 1:1\n0 1:2\n", encoding="utf-8")
    (parts / "part-1.txt.query").write_text("2\n", encoding="utf-8")
    sizes = f"{parts / 'part-1.txt'},{parts / 'part-2.txt'}"
    assert "have sizes but no labels cannot be joined" in refused("train", sizes, tmp_path / "m", code=1)


def test_no_input_of_several_is_overwritten(refused, parts):
    out = parts / "part-1.txt"
    said = refused("predict", parts / "part-*.txt", "model", "--out", out, code=2)
    assert "is an input of this command" in said
