"""Which tests run which lines, recorded once and kept until the sources or a test file change."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from mutation.mutant import Mutant
from mutation.python_mutants import lines_of_functions
from mutation.sandbox import ROOT, Sandbox

Line = tuple[str, int]

# More tests that fail without a mutant mean that something is wrong with the tree.
MAX_UNFIT = 20
# What these files test runs in other processes, where no lines are recorded; Chromium also reserves more
# address space than a mutant may have.
ELSEWHERE = {
    "test_building.py",
    "test_dask.py",
    "test_dask_faults.py",
    "test_examples.py",
    "test_gallery.py",
    "test_pages.py",
}
ELSEWHERE |= {"test_report_page.py", "test_types.py"}


@dataclass
class Ran:
    """What a test runs: lines of sources, by path, how many without its file's imports, and for how long."""

    seconds: float = 0.0
    width: int = 0
    lines: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))


class CoverageMap:
    """The tests that run a line, or call a kernel.

    Parameters
    ----------
    sandbox : Sandbox
        Where tests run whose record is missing or out of date.
    folder : Path
        Of the records, one per test file.
    jobs : int
        How many processes record.
    """

    def __init__(self, sandbox: Sandbox, folder: Path, jobs: int) -> None:
        self._tests: dict[str, Ran] = {}
        keys = _keys()
        missing = {file: key for file, key in keys.items() if not (folder / f"{key}.json").exists()}
        if missing:
            print(f"Recording which lines {len(missing)} test files run", flush=True)
            self._record(sandbox, folder, missing, jobs)
        for file, key in keys.items():
            tests = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
            shared = tests.pop(file, {"lines": {}})["lines"]
            for test, ran in tests.items():
                both = Ran(ran["seconds"], sum(map(len, ran["lines"].values())))
                for lines in (shared, ran["lines"]):
                    for path, numbers in lines.items():
                        both.lines[path] |= set(numbers)
                self._tests[test] = both
        self._functions: dict[str, list[tuple[range, range]]] = {}

    @staticmethod
    def _record(sandbox: Sandbox, folder: Path, keys: dict[str, str], jobs: int) -> None:
        raw = folder / "raw"
        shutil.rmtree(raw, ignore_errors=True)
        sandbox.record(list(keys), raw, jobs)
        records = [
            json.loads(line)
            for path in raw.glob("*.jsonl")
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
        failed = sorted({record["failed"] for record in records if "failed" in record})
        if not any("test" in record for record in records):
            raise SystemExit("No test was recorded.")
        if len(failed) > MAX_UNFIT:
            raise SystemExit("These tests fail without any mutant: " + ", ".join(failed))
        if failed:
            # Recording takes memory, which a few tests limit. Without them, mutants only survive more often.
            print("Left out, because they fail while being recorded: " + ", ".join(failed), file=sys.stderr)
        tests: dict[str, Ran] = defaultdict(Ran)
        for record in records:
            if "test" not in record or record["test"] in failed:
                continue
            ran = tests[record["test"]]
            ran.seconds += record["seconds"]
            for path, numbers in record["lines"].items():
                ran.lines[path] |= set(numbers)
        for file, key in keys.items():
            own = {
                test: {"seconds": ran.seconds, "lines": {p: sorted(n) for p, n in ran.lines.items()}}
                for test, ran in tests.items()
                if _file(test) == file
            }
            (folder / f"{key}.json").write_text(json.dumps(own), encoding="utf-8")

    def tests_of(self, mutant: Mutant) -> dict[str, float]:
        """The tests that run what the mutant changes, with their times, those likely to notice it first.

        These are tests in files that run few other lines; of a file, one test of each function goes first.
        """
        if mutant.path.endswith(".py"):
            chosen = self._tests_of_line(mutant.path, mutant.line)
        else:
            chosen = self._tests_of_kernel(mutant.path)
        seconds = {test: self._tests[test].seconds for test in chosen}
        widths: dict[str, list[int]] = defaultdict(list)
        for test in chosen:
            widths[_file(test)].append(self._tests[test].width)
        width = {file: sum(counts) / len(counts) for file, counts in widths.items()}
        quickest: dict[str, str] = {}
        for test in sorted(chosen, key=lambda test: (seconds[test], test)):
            quickest.setdefault(test.partition("[")[0], test)
        first = set(quickest.values())
        by_file = sorted(chosen, key=lambda test: (width[_file(test)], _file(test), test not in first, test))
        return {test: seconds[test] for test in by_file}

    def _tests_of_line(self, path: str, line: int) -> set[str]:
        functions = self._functions_of(path)
        inside = {number for _, body in functions for number in body}
        # A default matters to whoever calls the function, any other line that runs on import to whoever calls
        # a function of the file.
        own = {number for head, body in functions if line in head for number in body}
        lines = {line} if line in inside else own or inside
        return {test for test, ran in self._tests.items() if not lines.isdisjoint(ran.lines.get(path, ()))}

    def _functions_of(self, path: str) -> list[tuple[range, range]]:
        if path not in self._functions:
            self._functions[path] = lines_of_functions((ROOT / path).read_text(encoding="utf-8"))
        return self._functions[path]

    def _tests_of_kernel(self, path: str) -> set[str]:
        call = re.compile(r"\b(?:" + "|".join(sorted(_names_that_reach(path))) + r")\(")
        tests = set()
        for file in sorted((ROOT / "src").rglob("*.py")):
            source, name = file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix()
            if "_native" in source:
                for number, line in enumerate(source.splitlines(), start=1):
                    if call.search(line):
                        tests |= self._tests_of_line(name, number)
        direct = {
            file.relative_to(ROOT).as_posix()
            for file in (ROOT / "tests").glob("test_*.py")
            if "_native" in (text := file.read_text(encoding="utf-8")) and call.search(text)
        }
        return tests | {test for test in self._tests if _file(test) in direct}


def _file(test: str) -> str:
    return test.partition("::")[0]


def _keys() -> dict[str, str]:
    """A digest per test file, of itself and of everything that decides which lines it runs."""
    shared = hashlib.sha256()
    helpers = [path for path in (ROOT / "tests").glob("*.py") if not path.name.startswith("test_")]
    for path in sorted([*(ROOT / "src").rglob("*.py"), *helpers]):
        shared.update(path.read_bytes())
    keys = {}
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        if path.name in ELSEWHERE:
            continue
        own = shared.copy()
        own.update(path.read_bytes())
        keys[path.relative_to(ROOT).as_posix()] = f"{path.stem}-{own.hexdigest()[:16]}"
    return keys


def _names_that_reach(path: str) -> set[str]:
    """The names under which Python calls bindings that lead to a kernel file."""
    native = ROOT / "native"
    includes = {
        file.relative_to(native).as_posix(): set(
            re.findall(r'#include "(kernels/[^"]+)"', file.read_text(encoding="utf-8"))
        )
        for file in native.rglob("*.[ch]pp")
    }
    names: set[str] = set()
    for binding in (native / "bindings").glob("*.cpp"):
        reached: set[str] = set()
        ahead = {binding.relative_to(native).as_posix()}
        while ahead:
            file = ahead.pop()
            reached.add(file)
            ahead |= (includes[file] | _sources_of(file, includes)) - reached
        if path.removeprefix("native/") in reached:
            source = binding.read_text(encoding="utf-8")
            names |= set(re.findall(r'(?:def|>)\(\s*(?:\w+, )?"([a-zA-Z]\w*)"', source))
    return names


def _sources_of(header: str, includes: dict[str, set[str]]) -> set[str]:
    """The files that define what a header declares: of the same name, or else of the most similar one."""
    return {
        file
        for file, included in includes.items()
        if file.startswith("kernels/") and file.endswith(".cpp") and header in included
        if _likeness(file, header) == max(_likeness(file, other) for other in included)
    }


def _likeness(source: str, header: str) -> int:
    """How many characters their names have in common at the beginning."""
    pairs = zip(source.replace(".cpp", "."), header.replace(".hpp", "."), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
