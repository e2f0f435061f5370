"""The Python interpreters of this machine."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

OLDEST = (3, 11)
# From here on, one wheel of the stable ABI serves all.
OLDEST_STABLE = (3, 12)
# An interpreter that cannot make environments cannot be used here either.
_ASK = """
import ensurepip, sys, sysconfig, venv
print(*sys.version_info[:3], sysconfig.get_config_var("Py_GIL_DISABLED") or 0)
"""


@dataclass(frozen=True, order=True)
class Interpreter:
    """An interpreter that rankwise supports, by its version."""

    version: tuple[int, int, int]
    path: Path

    def __str__(self) -> str:
        return "Python " + ".".join(map(str, self.version))

    @property
    def stable(self) -> bool:
        return self.version[:2] >= OLDEST_STABLE


def find_interpreters(paths: Iterable[Path] = ()) -> list[Interpreter]:
    """Those at the given paths; by default one of each version, from PATH and from pyenv."""
    found = {python.version: python for path in paths or _candidates() if (python := _ask(path)) is not None}
    return sorted(found.values())


def _candidates() -> list[Path]:
    on_path = [path for folder in os.get_exec_path() for path in Path(folder).glob("python3*")]
    pyenv = (Path.home() / ".pyenv" / "versions").glob("*/bin/python3")
    return [*(path for path in on_path if re.fullmatch(r"python3(\.\d+)?", path.name)), *pyenv]


def _ask(path: Path) -> Interpreter | None:
    """None for what cannot be run, is too old, or has no global lock and hence no stable ABI."""
    answer = subprocess.run([path, "-c", _ASK], capture_output=True, encoding="utf-8")
    if answer.returncode != 0:
        return None
    major, minor, micro, unlocked = map(int, answer.stdout.split())
    if (major, minor) < OLDEST or unlocked:
        return None
    return Interpreter((major, minor, micro), path)
