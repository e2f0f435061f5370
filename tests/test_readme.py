"""Every example in the README runs."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import rankwise

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
PYTHON = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [text for language, text in BLOCKS if text.startswith("rankwise ")]


@pytest.fixture
def folder_with_data(tmp_path):
    train, test = rankwise.make_search_data(40, seed=2).split(0.6)
    rankwise.save_letor(train, tmp_path / "train.txt.gz")
    rankwise.save_letor(test, tmp_path / "test.txt")
    return tmp_path


def test_the_readme_has_a_short_example_of_each_kind():
    assert len(PYTHON) == 1
    assert len(COMMANDS) == 1
    assert len(PYTHON[0].splitlines()) <= 12
    assert len(COMMANDS[0].splitlines()) == 5


@pytest.mark.parametrize("example", PYTHON)
def test_python_examples_run(example, folder_with_data):
    run = subprocess.run(
        [sys.executable, "-c", example], cwd=folder_with_data, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "ndcg@10" in run.stdout


@pytest.mark.parametrize("example", COMMANDS)
def test_command_line_examples_run(example, folder_with_data):
    for line in example.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "rankwise"
        command = [sys.executable, "-m", program, *arguments]
        run = subprocess.run(command, cwd=folder_with_data, capture_output=True, text=True)
        assert run.returncode == 0, f"{line}\n{run.stderr}"


def test_every_make_target_and_link_that_is_named_exists():
    root = Path(__file__).parent.parent
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake (\w+)", README):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (root / link).exists(), link
