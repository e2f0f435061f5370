"""What commands print, in encodings that lack some of its characters."""

import io
import json
import os
import subprocess
import sys

import pytest

import rankwise
from rankwise.cli import main
from rankwise.cli.app import COMMANDS

ENCODINGS = ["ascii", "cp1252", "utf-8"]
NAMES = ["Größe", "價格", "λ – α"]


@pytest.fixture
def printed(monkeypatch):
    """Runs a command, and returns its exit code and the bytes of its standard output and standard error."""

    def run(encoding, *arguments):
        streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict") for _ in range(2)]
        monkeypatch.setattr("sys.stdout", streams[0])
        monkeypatch.setattr("sys.stderr", streams[1])
        code = main([str(argument) for argument in arguments])
        for stream in streams:
            stream.flush()
        return code, *(stream.buffer.getvalue() for stream in streams)

    return run


@pytest.fixture
def files(tmp_path):
    """A data set with names, queries and documents outside of ASCII, and a model of other rows like them."""
    rankwise.save_letor(named_rows(0), tmp_path / "rows.txt")
    rankwise.RankRLS().fit(named_rows(1)).save(tmp_path / "model")
    return tmp_path


def named_rows(seed):
    data = rankwise.make_search_data(6, random_state=seed)
    docs = [f"Stück {row} 件".replace(" ", "_") for row in range(data.n_rows)]
    return rankwise.RankingData.from_arrays(
        data.X[:, : len(NAMES)], data.y, data.qid, feature_names=NAMES, docs=docs
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_prints_its_help_in_every_encoding(printed, command, encoding):
    code, out, err = printed(encoding, command, "--help")
    assert (code, err) == (0, b"")
    assert command.encode() in out


def test_a_process_prints_its_help_in_the_encoding_of_its_environment():
    command = [sys.executable, "-m", "rankwise", "train", "--help"]
    run = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "cp1252"})
    assert (run.returncode, run.stderr) == (0, b"")
    assert rb"\u03bb" in run.stdout


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_tables_and_facts_have_names_that_the_encoding_lacks(printed, files, encoding):
    for arguments in (("info", files / "model"), ("evaluate", files / "rows.txt", files / "model")):
        code, out, err = printed(encoding, *arguments)
        assert (code, err) == (0, b"")
        assert out
    code, out, err = printed("cp1252", "info", files / "model")
    for shown in ("Größe", r"\u50f9\u683c", r"\u03bb – \u03b1"):
        assert shown in out.decode("cp1252")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_is_json_in_every_encoding(printed, files, encoding):
    code, out, err = printed(encoding, "info", files / "model", "--json")
    assert (code, err) == (0, b"")
    assert json.loads(out.decode("utf-8" if encoding == "ascii" else encoding))["feature names"] == NAMES


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_error_quotes_what_the_encoding_lacks(printed, files, encoding):
    command = ("evaluate", files / "rows.txt", files / "model", "--measures", "價格")
    code, out, err = printed(encoding, *command)
    assert (code, out) == (2, b"")
    assert err.startswith(b"rankwise: error: ")
    assert err.count(b"\n") == 1
    assert (rb"\u50f9\u683c" if encoding == "cp1252" else "價格".encode()) in err


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_run_on_standard_output_has_the_bytes_of_one_in_a_file(printed, files, encoding):
    command = ("predict", files / "rows.txt", files / "model", "--trec")
    assert printed(encoding, *command, "--out", files / "run")[0] == 0
    code, out, err = printed(encoding, *command)
    assert (code, err) == (0, b"")
    assert out == (files / "run").read_bytes()
    assert "Stück_0_件".encode() in out
