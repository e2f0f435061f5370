"""Failures of the command line: one sentence, the right exit code, nothing half-written."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import done, folder, refused
from rankwise.cli import demo, main

__all__ = ["done", "folder", "refused"]  # fixtures


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["trian"], "No such command 'trian'"),
        (["train"], "Missing argument 'DATA'"),
        (["train", "test.txt", "out", "--alhpa", "1"], "No such option: --alhpa"),
        (
            ["train", "test.txt", "out", "--alpha", "much"],
            "--alpha expects a number like 0.1 or a power like 2^-3",
        ),
        (
            ["train", "test.txt", "out", "--alpha", "-1"],
            "option --alpha must be a finite number of at least 0",
        ),
        (["train", "test.txt", "out", "--ties", "maybe"], "option --ties must be one of 'keep', 'drop'"),
        (["train", "test.txt", "out", "--learner", "oracle"], "--learner must be one of rankrls"),
        (["train", "test.txt", "out", "--set", "beta=1"], "The learner rankrls has no option 'beta'"),
        (["train", "test.txt", "out", "--set", "beta"], "--set expects name=value; got 'beta'.\n"),
        (
            ["train", "test.txt", "out", "--alpha", "2^x"],
            "--alpha expects a number like 0.1 or a power like 2^-3",
        ),
        (
            ["train", "test.txt", "out", "--alpha", "2^1..3^2"],
            "--alpha expects a range of powers like 2^-15..2^15",
        ),
        (["train", "test.txt", "out", "--cv", "guess"], "option --cv must be"),
        (["train", "test.txt", "out", "--cv", "-3"], "between 2 and the number of queries, 24; got -3"),
        (["train", "test.txt", "no/such/out"], "the folder no/such does not exist"),
        (["train", "test.txt", "."], "is a folder; expected the name of a file"),
        (["evaluate", "test.txt", "model", "--measures", "fame"], "Unknown measure 'fame'"),
        (["evaluate", "test.txt", "model", "--preset", "fame"], "Unknown preset 'fame'"),
        (["predict", "test.txt", "model", "--threads", "0"], "Invalid value for '--threads'"),
        (["predict", "test.txt", "model", "--threads", "99999"], "Invalid value for '--threads'"),
        (["predict", "test.txt", "model", "--threads"], "Invalid value for '--threads'"),
        (["convert", "test.txt", "out.foo"], "out.foo: the output name must end in .store or, for"),
        (
            ["convert", "test.txt", "out"],
            "in one of .txt, .letor, .dat, .svm, .svmlight, .libsvm, optionally",
        ),
        (["convert", "test.txt", "out.csv.gz"], "followed by one of .gz, .xz, .bz2."),
    ],
)
def test_a_wrong_command_line_is_a_sentence_and_exit_code_2(folder, refused, arguments, says):
    assert says in refused(*arguments, code=2)
    assert not list(folder.glob("out*"))


@pytest.fixture(scope="module")
def bad_files(folder):
    (folder / "garbage").write_bytes(bytes(range(256)) * 40)
    (folder / "empty").write_bytes(b"")
    (folder / "words.txt").write_text("1 qid:1 1:0.5\nrelevant qid:1 1:0.5\n", encoding="utf-8")
    (folder / "tied.txt").write_text("1 qid:1 1:0.5\n1 qid:1 1:0.25\n", encoding="utf-8")
    (folder / "wide.txt").write_text("1 qid:1 999:0.5\n0 qid:1 1:0.25\n", encoding="utf-8")
    (folder / "few_scores").write_text("0.5\n", encoding="utf-8")
    (folder / "word_scores").write_text("0.5\nhigh\n", encoding="utf-8")
    (folder / "table.csv").write_text("grade,qid,a\n1,1,0.5\n0,1,0.25\n", encoding="utf-8")
    (folder / "cut.safetensors").write_bytes((folder / "model").read_bytes()[:5])
    (folder / "cut.gz").write_bytes((folder / "train.txt.gz").read_bytes()[:500])
    return folder


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["train", "missing.txt", "out"], "missing.txt: No such file or directory"),
        (["train", "garbage", "out"], "garbage, line 1:"),
        (["train", "empty", "out"], "empty: "),
        (["train", "words.txt", "out"], "words.txt, line 2:"),
        (["train", "cut.gz", "out"], "cut.gz"),
        (["train", "/proc/self/mem", "out"], "/proc/self/mem: Input/output error."),
        (["train", "tied.txt", "out", "--ties", "drop"], "nothing to learn"),
        (["train", "table.csv", "out"], "label"),
        (["predict", "test.txt", "missing"], "missing: No such file or directory"),
        (["predict", "test.txt", "garbage"], "garbage: is not a model file"),
        (["predict", "test.txt", "test.txt"], "test.txt: is not a model file"),
        (["predict", "wide.txt", "model"], "wide.txt"),
        (["evaluate", "test.txt", "few_scores"], "few_scores: the file has 1 scores, but the data has"),
        (["evaluate", "test.txt", "word_scores"], "word_scores, line 2: expected one score; found 'high'"),
        (["evaluate", "test.txt", "missing"], "missing: No such file or directory"),
        (["convert", "garbage", "out.txt"], "garbage, line 1:"),
        (["info", "missing"], "missing: No such file or directory"),
        (["info", "garbage"], "garbage"),
        (["info", "cut.safetensors"], "cut.safetensors: is not a model file or is damaged"),
        (["evaluate", "test.txt", "cut.safetensors"], "cut.safetensors: is not a model file or is damaged"),
    ],
)
def test_bad_data_is_a_sentence_and_exit_code_1(bad_files, refused, arguments, says):
    assert says in refused(*arguments, code=1)
    assert not list(bad_files.glob("out*"))


def test_a_full_disk_is_a_sentence_and_leaves_the_old_model(folder, tmp_path):
    model = tmp_path / "model"
    model.write_text("SVM-light Version old", encoding="utf-8")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100));"
    script = f"{limit} import sys; from rankwise.cli import main; sys.exit(main(sys.argv[1:]))"
    run = subprocess.run(
        [sys.executable, "-c", script, "train", folder / "test.txt", model],
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 1
    assert run.stderr == f"rankwise: error: {model}: File too large.\n"
    assert model.read_text(encoding="utf-8") == "SVM-light Version old"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


class FullDisk:
    """A model for which there is no space, after some of what was written."""

    def save(self, path, **card):
        (path.parent / "report.html").write_text("<!doctype html>", encoding="utf-8")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def test_a_demo_on_a_full_disk_leaves_nothing(refused, tmp_path, monkeypatch):
    monkeypatch.setattr(
        demo, "run_experiment", lambda seed: demo.DemoRankers(None, None, FullDisk(), {}, None)
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("kept", encoding="utf-8")
    for out in ("new/deep/demo", "mine", "mine/demo"):
        said = refused("demo", "--out", tmp_path / out, code=1)
        assert said == f"{tmp_path / out}/model.safetensors: No space left on device.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert not (tmp_path / "mine" / "demo").exists()
    assert (tmp_path / "mine" / "notes").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("command", ["train test.txt", "path test.txt --model"])
def test_a_model_is_not_written_over_what_is_no_model(refused, tmp_path, command):
    data = tmp_path / "validation.txt"
    data.write_text("1 qid:1 1:0.5\n", encoding="utf-8")
    said = refused(*command.split(), data, code=2)
    assert said == f"{data} is not a model file; refusing to overwrite it.\n"
    assert data.read_text(encoding="utf-8") == "1 qid:1 1:0.5\n"


def test_validation_rows_without_queries_are_refused_where_training_rows_have_some(refused, tmp_path):
    (tmp_path / "rows.txt").write_text("1 22:0.5\n0 1:0.25\n", encoding="utf-8")
    said = refused("train", "test.txt", tmp_path / "m", "--validation", tmp_path / "rows.txt", code=1)
    assert said == f"{tmp_path}/rows.txt: the data has no queries, but the training data does.\n"


def test_an_unwritable_place_is_a_sentence(refused):
    assert "/proc/model: " in refused("train", "test.txt", "/proc/model", code=1)


def test_failures_of_the_process_exit_with_the_same_codes(folder):
    for code, arguments in ((1, ["info", "missing"]), (2, ["train"])):
        command = [sys.executable, "-m", "rankwise", *arguments]
        run = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
        assert (run.returncode, run.stdout, run.stderr.count("\n")) == (code, "", 1)
        assert run.stderr.startswith("rankwise: error: ")


def test_debug_shows_the_traceback_wherever_it_stands(tmp_path):
    for arguments in (["--debug", "info", str(tmp_path / "no")], ["info", str(tmp_path / "no"), "--debug"]):
        with pytest.raises(FileNotFoundError):
            main(arguments)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_reader_that_has_seen_enough_is_no_error(folder, command):
    line = f"{sys.executable} -m rankwise {command} test.txt model | true"
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], cwd=folder, capture_output=True, encoding="utf-8"
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_an_output_that_takes_no_more_is_a_sentence(folder):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        run = subprocess.run(
            [sys.executable, "-m", "rankwise", "info"], stdout=full, stderr=subprocess.PIPE, encoding="utf-8"
        )
    assert (run.returncode, run.stderr) == (1, "rankwise: error: standard output: No space left on device.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_file_that_takes_no_more_is_named(refused):
    for arguments in (
        ["predict", "test.txt", "model", "--out", "/dev/full"],
        ["train", "test.txt", "/dev/full"],
    ):
        assert refused(*arguments, code=1) == "/dev/full: No space left on device.\n"


def test_an_interrupt_is_quiet_and_ends_the_process_by_its_signal(folder, tmp_path):
    pipe = tmp_path / "scores"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "rankwise", "evaluate", folder / "test.txt", pipe],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with pipe.open(
        "w", encoding="utf-8"
    ):  # opens once the command reads it; the command now waits for scores
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (-signal.SIGINT, b"", b"")
