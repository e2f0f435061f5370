"""Missing prerequisites are reported in one sentence, before anything is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def bare_machine(tmp_path):
    """A copy of the project's top-level files, and a nearly empty PATH."""
    if shutil.which("make") is None:
        pytest.skip("there is no make here")
    for name in ("Makefile", "pyproject.toml", "CMakeLists.txt"):
        shutil.copy(ROOT / name, tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("make", "sh"):
        (programs / name).symlink_to(shutil.which(name))

    def make(*arguments, python=None):
        if python is not None:
            (programs / "python3").symlink_to(python)
        environment = {
            key: value for key, value in os.environ.items() if key not in ("CXX", "MAKEFLAGS", "MAKELEVEL")
        }
        run = subprocess.run(
            ["make", *arguments],
            cwd=tmp_path,
            env=environment | {"PATH": str(programs)},
            capture_output=True,
            encoding="utf-8",
        )
        assert run.returncode != 0
        assert not (tmp_path / ".venv").exists()
        return [line for line in run.stderr.splitlines() if not line.startswith("make: ***")] + [run.stdout]

    return make


@pytest.mark.parametrize("target", ["demo", "test", "check", "bench", "sanitize", "fuzz"])
def test_a_missing_python_is_one_sentence(bare_machine, target):
    assert bare_machine(target) == [
        "rankwise needs Python 3.11 or newer as 'python3'; try 'make PYTHON=/path/to/python3.11'.",
        "",
    ]


def test_a_missing_compiler_is_one_sentence(bare_machine):
    sentence, *rest = bare_machine("demo", python=sys.base_prefix + "/bin/python3")
    assert sentence == "rankwise needs a C++17 compiler as 'c++'; install g++ or clang, or set CXX."
    assert rest == [""]


def test_a_missing_java_is_one_sentence(bare_machine):
    sentence = "The engines need Java 17 and Maven; install them (on Debian: apt install default-jdk maven)."
    assert bare_machine("engines") == [sentence, ""]
