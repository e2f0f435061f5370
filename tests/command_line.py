"""The command line for tests: files to work on, commands that must succeed, commands that must fail."""

import gzip

import pytest

import rankwise
from rankwise.cli import main
from warm import run_warm


def rankwise_process(*arguments, cwd="."):
    """A command in a process of its own."""
    return run_warm(
        "import sys; from rankwise.cli import main; sys.exit(main(sys.argv[1:]))", *arguments, cwd=cwd
    )


def letor_lines(data):
    for label, qid, doc, values in zip(data.y, data.qid, data.docs, data.X.tolist(), strict=True):
        entries = " ".join(f"{index}:{value!r}" for index, value in enumerate(values, start=1))
        yield f"{label:g} qid:{qid} {entries} #docid = {doc}\n"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Training and test data as text, and a model trained by the command line."""
    folder = tmp_path_factory.mktemp("cli")
    train, test = rankwise.make_search_data(60, random_state=3).split(0.6)
    with gzip.open(folder / "train.txt.gz", "wt", encoding="utf-8") as file:
        file.writelines(letor_lines(train))
    (folder / "test.txt").write_text("".join(letor_lines(test)), encoding="utf-8")
    assert main(["train", str(folder / "train.txt.gz"), str(folder / "model"), "--alpha", "0.5"]) == 0
    return folder


@pytest.fixture
def done(folder, monkeypatch, capsys):
    """Runs a command that must succeed, and returns its output.

    It may warn that a model is measured on rows that it has seen, as many tests do.
    """

    def run(*arguments):
        monkeypatch.chdir(folder)
        capsys.readouterr()
        returned = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        heard = [line for line in printed.err.splitlines() if "was trained on" not in line]
        assert (returned, heard) == (0, []), printed
        return printed.out

    return run


@pytest.fixture
def refused(folder, monkeypatch, capsys):
    """Runs a command that must fail, and returns its one-sentence message."""

    def run(*arguments, code):
        monkeypatch.chdir(folder)
        returned = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert (returned, printed.out) == (code, ""), printed
        assert printed.err.startswith("rankwise: error: ")
        assert printed.err.count("\n") == 1
        assert printed.err.endswith((".\n", "?\n", ")\n"))
        return printed.err.removeprefix("rankwise: error: ")

    return run
