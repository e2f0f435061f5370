"""What users build and install; `make wheel` does it, and works with the result."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
from wheels.pythons import find_interpreters

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_warnings_are_errors_for_developers_only():
    assert "Werror" not in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert "CMAKE_COMPILE_WARNING_AS_ERROR" not in str(SETTINGS)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(
        r"^STRICT := -Ccmake\.define\.CMAKE_COMPILE_WARNING_AS_ERROR=ON$", makefile, re.MULTILINE
    )
    assert re.search(r"^INSTALL := .*\$\(STRICT\)$", makefile, re.MULTILINE)


def test_one_wheel_serves_python_3_12_and_newer():
    assert SETTINGS["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert re.search(r"nanobind_add_module\(_native .*\bSTABLE_ABI\b", cmake)
    assert "${SKBUILD_SABI_COMPONENT}" in cmake


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    pytest.importorskip("scikit_build_core")
    folder, copy = tmp_path_factory.mktemp("sdist"), tmp_path_factory.mktemp("copy") / "rankwise"
    # Every file of .venv would be looked at, so a copy of the sources has one of each kind that is built.
    built = shutil.ignore_patterns(".git", ".venv", "build", "build-*", "dist", "out")
    shutil.copytree(ROOT, copy, ignore=built)
    for name in (".venv/lib/a.py", "build/a.o", "build-sanitize/a.o", "dist/a.whl", "docs/gallery/a.rst"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("", encoding="utf-8")
    build = "import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", build, folder], cwd=copy, check=True, capture_output=True)
    (file,) = folder.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_the_source_distribution_has_what_a_build_reads(sdist):
    needed = [*ROOT.glob("native/*/*.?pp"), *ROOT.glob("src/**/*.py"), *ROOT.glob("src/rankwise/report/*.js")]
    assert {path.relative_to(ROOT).as_posix() for path in needed} <= sdist
    assert {"CMakeLists.txt", "pyproject.toml", "README.md", "src/rankwise/py.typed"} <= sdist


def test_the_source_distribution_has_every_licence(sdist):
    assert {"LICENSE", "licenses/nanobind.txt", "licenses/robin-map.txt"} <= sdist
    assert SETTINGS["project"]["license-files"] == ["LICENSE", "licenses/*.txt"]


def test_the_source_distribution_has_nothing_that_was_built(sdist):
    assert not [
        name for name in sdist if re.match(r"build|dist/|\.venv|\.git/|\.ci|docs/(gallery|reference)/", name)
    ]


def test_interpreters_that_are_too_old_or_broken_are_left_out(tmp_path):
    old, broken = tmp_path / "old", tmp_path / "broken"
    old.write_text("#!/bin/sh\necho 3 9 18 0\n", encoding="utf-8")
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    for path in (old, broken):
        path.chmod(0o755)
    (found,) = find_interpreters([old, broken, Path(sys.executable)])
    assert found.version == sys.version_info[:3]
