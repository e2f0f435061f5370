"""A copy of the project in which sources are changed, built and tested, so that nobody's files are."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import pytest

from mutation.mutant import Mutant

ROOT = Path(__file__).parent.parent
# A mutant that asks for all memory must not get it.
MEMORY = 12 << 30


class CompileError(Exception):
    """The mutant is not a program."""


class Sandbox:
    """A copy of the tracked files with an environment of its own, which shares the installed packages.

    Parameters
    ----------
    folder : Path
        Where to put it; what an earlier run left there is brought up to date.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._log = folder, folder / "pytest.log"
        folder.mkdir(parents=True, exist_ok=True)
        self._copy_files()
        self._python = folder / "venv" / "bin" / "python"
        if not self._python.exists():
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        # A path file in a folder that is itself on the path only because of one is not read: the editable
        # install of the project stays out of sight.
        packages = (
            self._python.parent.parent / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
        )
        (packages / "sandbox.pth").write_text(
            f"{folder / 'src'}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8"
        )
        self.build()

    def _copy_files(self) -> None:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        names = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
        for top in ("src", "tests", "native"):
            for path in (self.folder / top).rglob("*"):
                known = path.relative_to(self.folder).as_posix() in names
                if path.is_file() and path.suffix != ".so" and not known:
                    path.unlink()
        for name in names:
            target = self.folder / name
            content = (ROOT / name).read_bytes()
            # Only what differs, so that the compiler need not start again.
            if not target.exists() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)

    def build(self) -> None:
        """Compile what changed; the module goes where Python finds it."""
        build = self.folder / "build"
        if not (build / "build.ninja").exists():
            nanobind = subprocess.run(
                [sys.executable, "-m", "nanobind", "--cmake_dir"],
                capture_output=True,
                encoding="utf-8",
                check=True,
            )
            self._tool(
                *("cmake", "-S", self.folder, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
                *(f"-Dnanobind_DIR={nanobind.stdout.strip()}", f"-DPython_EXECUTABLE={sys.executable}"),
            )
        self._tool("ninja", "-C", build, "-j", "1")
        for module in build.glob("_native*.so"):
            target = self.folder / "src" / "rankwise" / module.name
            shutil.copy2(module, target.with_suffix(".new"))
            target.with_suffix(".new").replace(target)

    def _tool(self, name: str, *arguments: object) -> None:
        tool = Path(sysconfig.get_path("scripts")) / name
        environment = os.environ | {"PATH": f"{tool.parent}:{os.environ['PATH']}"}
        run = subprocess.run(
            [tool, *map(str, arguments)], capture_output=True, encoding="utf-8", check=False, env=environment
        )
        if run.returncode != 0:
            raise CompileError(run.stdout[-2000:])

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """The copy with one mutant in it, built."""
        path = self.folder / mutant.path
        source = path.read_text(encoding="utf-8")
        try:
            self._write(path, mutant.applied_to(source))
            yield
        finally:
            self._write(path, source, build=False)

    def _write(self, path: Path, source: str, build: bool = True) -> None:
        path.write_text(source, encoding="utf-8")
        # Compiled code is recognized by its second and size, which a mutant may share with its original.
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        if build and path.suffix != ".py":
            self.build()

    def record(self, files: list[str], folder: Path, jobs: int) -> None:
        """Run test files and record which lines each test runs."""
        folder.mkdir(parents=True)
        status = self._pytest(["-n", str(jobs), *files], {"MUTATION_RECORD": str(folder)})
        if os.waitstatus_to_exitcode(status) not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise SystemExit(f"The tests did not run to their end; see {self._log}.")

    def noticed_by(self, tests: Mapping[str, float]) -> str | None:
        """The first of the tests that fails, crashes or exceeds its limit in seconds; None if all pass."""
        chosen = self.folder / "chosen.json"
        chosen.write_text(json.dumps(tests), encoding="utf-8")
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        if self._pytest(["-x", *files], {"MUTATION_CHOSEN": str(chosen)}) == 0:
            return None
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", self._log.read_text(encoding="utf-8"), re.MULTILINE)
        return failed[1] if failed else "a crash or the time limit"

    def _pytest(self, arguments: list[str], environment: dict[str, str]) -> int:
        options = ["-q", "-p", "no:cacheprovider", "-p", "mutation.recorder", "--tb=line"]
        request = {
            "arguments": [*options, *arguments],
            "environment": environment,
            "log": str(self._log),
        }
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())

    @cached_property
    def _server(self) -> subprocess.Popen[str]:
        environment = {"RANKWISE_SHARED": str(ROOT.parent / "shared" / "data")} | os.environ
        # Threads of linear algebra would only compete with the other sandboxes.
        environment |= {"PYTHONPATH": str(self.folder), "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.Popen(
            [self._python, "-m", "mutation.test_server"],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            preexec_fn=_limit_memory,
        )


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
