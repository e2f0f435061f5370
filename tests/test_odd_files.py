"""Files that are none: closed streams, pipes, devices without end, links in a circle; and odd names."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rankwise
from command_line import done, folder, refused
from rankwise.cli import main
from rankwise.errors import FileFormatError
from rankwise.files import replacing_file, replacing_folder
from rankwise.ridge.checkpoint import read_state

__all__ = ["done", "folder", "refused"]  # fixtures

needs_zero = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
needs_shell = pytest.mark.skipif(not Path("/bin/sh").exists(), reason="there is no shell")


def in_shell(line, cwd):
    """Run a line in which RANKWISE stands for the command."""
    line = line.replace("RANKWISE", f"'{sys.executable}' -m rankwise")
    return subprocess.run(["/bin/sh", "-c", line], cwd=cwd, capture_output=True, text=True, encoding="utf-8")


@needs_shell
@pytest.mark.parametrize("arguments", ["--version", "predict test.txt model"])
def test_a_closed_standard_output_is_a_sentence(folder, arguments):
    run = in_shell(f"RANKWISE {arguments} >&-", folder)
    assert (run.returncode, run.stderr) == (1, "rankwise: error: standard output: Bad file descriptor.\n")


def test_only_an_error_of_standard_output_gives_it_up(refused, monkeypatch):
    def fail(*_):
        raise OSError(19, "No such device")

    monkeypatch.setattr("rankwise.cli.info._build", fail)
    before = os.fstat(1)
    assert refused("info", code=1) == "No such device.\n"
    assert os.path.samestat(os.fstat(1), before)


@needs_shell
def test_a_closed_standard_input_is_a_sentence(folder):
    run = in_shell("RANKWISE evaluate test.txt - <&-", folder)
    assert (run.returncode, run.stderr) == (1, "rankwise: error: standard input: Bad file descriptor.\n")


@needs_shell
def test_nothing_is_printed_into_files_that_take_the_place_of_closed_streams(folder, tmp_path):
    run = in_shell(f"RANKWISE train test.txt '{tmp_path}/model' <&- >&- 2>&-", folder)
    assert (run.returncode, run.stdout, run.stderr) == (1, "", "")
    rows = rankwise.load_letor(folder / "test.txt")
    assert rankwise.load_model(tmp_path / "model").score(rows) > 0.6


@needs_shell
def test_scores_are_read_from_a_pipe(folder):
    run = in_shell("RANKWISE predict test.txt model | RANKWISE evaluate test.txt - --json", folder)
    assert (run.returncode, run.stderr) == (0, "")


@needs_zero
@pytest.mark.parametrize(
    "command, says",
    [
        ("train test.txt out --columns", "/dev/zero: is longer than 67,108,864 bytes"),
        ("train test.txt out --monotonic-cst", "/dev/zero: is longer than 67,108,864 bytes"),
        ("evaluate test.txt", "/dev/zero, line 1: the line is longer than 1,048,576 bytes."),
        ("predict test.txt", "/dev/zero: is a pipe or a device; expected a regular file"),
    ],
)
def test_a_file_without_end_is_not_read_whole(refused, command, says):
    assert refused(*command.split(), "/dev/zero", code=1).startswith(says)


@needs_zero
def test_a_checkpoint_that_is_a_device_is_not_read(tmp_path):
    (tmp_path / "conjugate-gradient.npz").symlink_to("/dev/zero")
    with pytest.raises(FileFormatError, match="it is not a regular file"):
        read_state(tmp_path / "conjugate-gradient.npz", None, "")


def test_more_scores_than_rows_are_not_counted(refused, tmp_path):
    (tmp_path / "scores").write_text("1\n" * 1000, encoding="utf-8")
    said = refused("evaluate", "test.txt", tmp_path / "scores", code=1)
    assert "scores: the file has more scores than the" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("command", ["predict test.txt PIPE", "export PIPE out", "update test.txt PIPE"])
def test_a_model_in_a_pipe_is_refused_in_a_sentence(refused, tmp_path, command):
    os.mkfifo(tmp_path / "model")
    said = refused(*(tmp_path / "model" if word == "PIPE" else word for word in command.split()), code=1)
    assert said == f"{tmp_path}/model: is a pipe or a device; expected a regular file, which can be mapped.\n"


@pytest.fixture
def circle(tmp_path):
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    return tmp_path / "one"


@pytest.mark.parametrize(
    "command",
    [
        "train CIRCLE out",
        "train test.txt CIRCLE",
        "train test.txt out --columns CIRCLE",
        "train test.txt out --checkpoint CIRCLE",
        "predict test.txt CIRCLE",
        "predict test.txt model --out CIRCLE",
        "evaluate test.txt CIRCLE",
        "audit test.txt --csv CIRCLE",
        "convert test.txt CIRCLE --parts 2",
        "export model CIRCLE",
        "info CIRCLE",
        "demo --out CIRCLE",
    ],
)
def test_links_in_a_circle_are_a_sentence(refused, circle, command):
    said = refused(*(circle if word == "CIRCLE" else word for word in command.split()), code=1)
    assert said.startswith(str(circle))
    assert said.endswith(": Too many levels of symbolic links.\n")


@pytest.mark.parametrize(
    "writing", [replacing_file, lambda path: replacing_folder(path, check=lambda _: None)]
)
def test_links_in_a_circle_are_not_replaced(circle, writing):
    with pytest.raises(OSError, match="Too many levels of symbolic links"), writing(circle):
        raise AssertionError("there is nowhere to write to")
    assert circle.is_symlink()


@pytest.mark.skipif(sys.platform != "linux", reason="file names need not be text only on some systems")
def test_names_that_are_no_text_are_shown_escaped(folder, tmp_path, capsys):
    odd = os.fsdecode(b"caf\xe9")
    data, new, model, page = (str(tmp_path / f"{odd}{end}") for end in (".txt", "2.txt", ".model", ".html"))
    Path(data).write_bytes(gzip.decompress((folder / "train.txt.gz").read_bytes()))
    Path(new).write_bytes((folder / "test.txt").read_bytes())
    for line in (
        ["train", data, model],
        ["train", data, model, "--json"],
        ["info", model],
        ["report", model, "--data", new, "--out", page, "--title", odd],
        ["audit", data, "--csv", f"{data}.csv"],
    ):
        assert main(line) == 0, line
        printed = capsys.readouterr()
        assert "caf\\udce9" in printed.out
        assert printed.err == ""
    assert "caf\\udce9" in Path(page).read_text(encoding="utf-8")
