"""Errors cross the border between processes with everything that they say."""

import copy
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from rankwise import errors
from rankwise.errors import FileFormatError, MissingExtraError, RankwiseError

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, RankwiseError) and kind.__module__ == errors.__name__
]
ARGUMENTS = {
    FileFormatError: ("./rows.letor", "the label is no number.", 3),
    MissingExtraError: ("Drawing a path", "plot"),
}


def state(error):
    found = {name: getattr(error, name) for name in dir(error) if not name.startswith("__")}
    found = {name: value for name, value in found.items() if not callable(value)}
    return type(error), str(error), repr(error), error.args, getattr(error, "__notes__", None), found


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "again",
    [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy],
    ids=["pickle", "copy", "deep"],
)
def test_every_error_survives_pickling_and_copying_with_all_attributes(kind, again):
    error = kind(*ARGUMENTS.get(kind, ("y has 3 rows, X has 4.",)))
    error.add_note("while reading fold 2")
    assert state(again(again(error))) == state(error)


def test_errors_without_a_line_survive_too():
    error = FileFormatError(Path("model"), "this is no model.")
    assert str(error) == "model: this is no model."
    assert state(pickle.loads(pickle.dumps(error))) == state(error)


def test_what_a_file_error_quotes_stays_on_one_line_of_bearable_length():
    error = FileFormatError("rows.csv", "expected a number, got 'a\nb\x1b[2J\u2028'.")
    assert str(error) == r"rows.csv: expected a number, got 'a b\x1b[2J '."
    assert len(str(FileFormatError("rows.csv", "x" * 10_000))) < 600


POOL = """
import multiprocessing
from rankwise import load_letor
from rankwise.errors import FileFormatError

if __name__ == "__main__":
    with multiprocessing.Pool(1) as pool:
        try:
            pool.map(load_letor, ["bad.txt"])
        except FileFormatError as error:
            print(error, error.path, error.line)
"""


def test_a_worker_of_a_pool_hands_its_error_to_the_caller(tmp_path):
    (tmp_path / "bad.txt").write_text("1 qid:1 1:2\nx qid:1 1:2\n", encoding="utf-8")
    (tmp_path / "pool.py").write_text(POOL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "pool.py"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert done.stdout.startswith("bad.txt, line 2: ")
    assert done.stdout.endswith(" bad.txt 2\n")
