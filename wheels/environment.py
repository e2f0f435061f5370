"""Clean environments: a new venv, and only what is named on PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from wheels.pythons import Interpreter

# What compiling needs, and what a machine without git has.
COMPILER = ("c++", "cc", "as", "ld", "ar", "nm", "objdump", "ranlib", "strip")
# How pip finds packages is the machine's business; anything else could make up for something that is missing.
_KEPT = ("PIP_", "SSL_", "REQUESTS_", "HOME", "TMPDIR", "LANG", "HTTP", "http", "NO_PROXY", "no_proxy")


class Environment:
    """A venv in a new folder, in which commands run without the variables and programs of this process.

    Parameters
    ----------
    folder : Path
    interpreter : Interpreter
    programs : tuple of str
        The programs that are on PATH next to those of the venv.
    """

    def __init__(self, folder: Path, interpreter: Interpreter, programs: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        linked = folder / "programs"
        linked.mkdir()
        for name in programs:
            if found := shutil.which(name):
                (linked / name).symlink_to(found)
        kept = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
        path = f"{folder / 'venv' / 'bin'}{os.pathsep}{linked}"
        # An interpreter may remember another name of the compiler that built it.
        self._variables = kept | {"PATH": path, "CC": "cc", "CXX": "c++"}
        subprocess.run([interpreter.path, "-m", "venv", folder / "venv"], check=True, env=kept)

    def run(self, *command: str | Path) -> str:
        """Run a program of the venv in the work folder, and return what it prints."""
        program, *arguments = command
        done = subprocess.run(
            [self.folder / "venv" / "bin" / program, *arguments],
            cwd=self.work,
            env=self._variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
        return done.stdout

    def pip(self, *arguments: str | Path) -> None:
        self.run("pip", "--disable-pip-version-check", "--quiet", *arguments)
