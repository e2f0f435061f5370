"""Where tests run: an interpreter, a folder, variables, a user; prepared when it is needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from wheels.pythons import find_interpreters

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "elsewhere"
NOBODY = 65534
# The kernels for Prescott serve older processors, too; some versions of OpenBLAS report the first of them.
REPORTED_AS = {"Prescott": "Katmai"}
# What OpenBLAS has for a processor, in NumPy and in SciPy, after a product that uses it.
_ARCHITECTURES = """
import numpy, scipy.linalg, threadpoolctl
scipy.linalg.blas.dgemm(1.0, numpy.ones((300, 300)), numpy.ones((300, 300)) @ numpy.ones((300, 300)))
known = [blas for blas in threadpoolctl.threadpool_info() if "architecture" in blas]
print(max((blas["num_threads"] for blas in known), default=0), *{blas["architecture"] for blas in known})
"""


class UnavailableError(Exception):
    """This machine does not have what a surrounding needs; the message says what."""


@dataclass(frozen=True)
class Place:
    """How to start the tests.

    Attributes
    ----------
    python : Path
    folder : Path
        The working directory.
    variables : mapping
        Added to those of this process.
    prefix : tuple of str
        The command that starts Python, such as one that changes the user.
    options : tuple of str
        For pytest.
    note : str
        What was found or drawn on the way, for the table.
    """

    python: Path = Path(sys.executable)
    folder: Path = ROOT
    variables: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    note: str = ""


def processor(kind: str, threads: int) -> Place:
    """OpenBLAS as on another processor, as far as this one has the instructions."""
    variables = {"OPENBLAS_CORETYPE": kind, "OPENBLAS_NUM_THREADS": str(threads)}
    asked = subprocess.run(
        [sys.executable, "-c", _ARCHITECTURES],
        env=os.environ | variables,
        capture_output=True,
        encoding="utf-8",
    )
    if asked.returncode != 0:
        raise UnavailableError("this processor lacks its instructions")
    in_force, *kinds = asked.stdout.split()
    if not kinds or not {kind, REPORTED_AS.get(kind)}.issuperset(kinds):
        raise UnavailableError(f"OpenBLAS takes {' and '.join(kinds) or 'no kernels'} instead")
    note = "" if int(in_force) == threads else f"{in_force} threads, as many as there are cores"
    return Place(variables=variables, note=note)


def another_folder(cleanup: ExitStack) -> Place:
    """A folder that has nothing to do with the checkout."""
    return Place(folder=Path(cleanup.enter_context(tempfile.TemporaryDirectory())))


def another_user(cleanup: ExitStack) -> Place:
    """A user who may not write into the checkout, with a home and a temporary folder elsewhere."""
    if os.geteuid() != 0:
        raise UnavailableError("only root can become another user")
    if shutil.which("setpriv") is None:
        raise UnavailableError("there is no setpriv")
    home = Path(cleanup.enter_context(tempfile.TemporaryDirectory()))
    os.chown(home, NOBODY, NOBODY)
    prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    note = ""
    if not all(_open_to_others(path) for path in (ROOT, Path(sys.base_prefix))):
        prefix += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
        note = "may read what others may not"
    variables = {"HOME": str(home), "TMPDIR": str(home)}
    return Place(variables=variables, prefix=tuple(prefix), note=note)


def _open_to_others(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def lowest_versions() -> Place:
    """The oldest versions of packages that pyproject.toml allows; of those without a bound, any."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    # Constraints have no extras.
    pins = [re.sub(r"\[.*\]", "", bound).replace(">=", "==") for bound in bounds if ">=" in bound]
    return Place(python=_installed("lowest", Path(sys.executable), pins), note=", ".join(pins[:3]) + ", ...")


def another_python(version: str) -> Place:
    """Another interpreter of this machine, with the newest packages."""
    found = {".".join(map(str, python.version[:2])): python for python in find_interpreters()}
    if version not in found:
        raise UnavailableError("there is no such interpreter")
    return Place(python=_installed(f"python-{version}", found[version].path), note=str(found[version]))


def _installed(name: str, python: Path, pins: Sequence[str] = ()) -> Path:
    """The interpreter of an environment of that name, with rankwise and what its tests need."""
    folder = FOLDER / name
    constraints = folder / "constraints.txt"
    own = folder / "bin" / "python"
    if not own.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
    constraints.write_text("\n".join(pins), encoding="utf-8")
    command: list[str | Path] = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--constraint", constraints, f"{ROOT}[dev]"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise UnavailableError(f"pip fails: {lines[-1] if lines else 'without a reason'}")
    return own
