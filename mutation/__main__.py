"""Change one operator or number at a time, and count how often a test notices: ``python -m mutation``."""

from __future__ import annotations

import argparse
import hashlib
import json
import queue
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path

from mutation.coverage_map import CoverageMap
from mutation.cpp_mutants import cpp_mutants
from mutation.equivalents import known_equivalents
from mutation.mutant import Mutant
from mutation.python_mutants import python_mutants
from mutation.sandbox import ROOT, CompileError, Sandbox

PACKAGES = ["ridge", "svm", "path", "metrics", "selection", "preferences", "operators", "rankers", "model"]
MODULES = ["family.py", "held_out.py"]
FOLDER = ROOT / "build" / "mutation"
VERDICTS = FOLDER / "verdicts.json"
# A mutant may slow a test down; one that takes this many times as long, and a bit, is not coming back.
PATIENCE, GRACE_SECONDS = 10.0, 10.0
# Most mutants are noticed by the first few tests, and only the others are worth importing more files for.
STAGES = (1.0, 5.0)


class Verdict(StrEnum):
    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    INVALID = "does not compile"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="mutants of the Python sources")
    parser.add_argument("--kernels", type=int, default=50, help="mutants of the C++ kernels")
    parser.add_argument("--seed", type=int, default=0, help="of the random sample")
    parser.add_argument("--jobs", type=int, default=2, help="sandboxes at work at the same time")
    parser.add_argument("--only", default="", help="the mutants of one package, file or line (path:line)")
    parser.add_argument("--least", type=float, default=95.0, help="the share to reach, in per cent")
    parser.add_argument(
        "--seconds",
        type=float,
        default=300.0,
        help="of tests per mutant, quick ones first; with fewer, more mutants count as survivors",
    )
    parser.add_argument(
        "--keep-kills",
        action="store_true",
        help="do not repeat mutants that were killed before; sound as long as tests were only added since",
    )
    options = parser.parse_args()
    sandboxes = [Sandbox(FOLDER / f"sandbox-{job}") for job in range(options.jobs)]
    runs = CoverageMap(sandboxes[0], FOLDER / "map", options.jobs)
    judge = Judge(sandboxes, runs, options.seconds, options.keep_kills)
    found: dict[Mutant, Verdict] = {}
    for mutants, count in ((all_python(), options.count), (all_kernels(), options.kernels)):
        chosen = [mutant for mutant in mutants if options.only in f"{mutant.path}:{mutant.line}"]
        found |= judge.first(shuffled(chosen, options.seed), count)
    return report(found, options.least)


def shuffled(mutants: list[Mutant], seed: int) -> list[Mutant]:
    """In an order that looks random but stays the same when other lines of the sources change."""
    return sorted(mutants, key=lambda mutant: hashlib.sha256(repr((seed, mutant.key)).encode()).digest())


def all_python() -> list[Mutant]:
    sources = ROOT / "src" / "rankwise"
    files = [path for name in PACKAGES for path in sorted((sources / name).rglob("*.py"))]
    files += [sources / name for name in MODULES]
    return [mutant for path in files for mutant in python_mutants(*_named(path))]


def all_kernels() -> list[Mutant]:
    files = sorted((ROOT / "native" / "kernels").glob("*.[ch]pp"))
    return [mutant for path in files for mutant in cpp_mutants(*_named(path))]


def _named(path: Path) -> tuple[str, str]:
    return path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


class Judge:
    """Finds out whether the tests notice mutants, in several sandboxes at the same time."""

    def __init__(self, sandboxes: list[Sandbox], runs: CoverageMap, seconds: float, keep_kills: bool) -> None:
        self._idle: queue.Queue[Sandbox] = queue.Queue()
        for sandbox in sandboxes:
            self._idle.put(sandbox)
        self._jobs = len(sandboxes)
        self._runs = runs
        self._equivalents = known_equivalents()
        self._verdicts: dict[str, str] = (
            json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else {}
        )
        self._seconds, self._keep_kills = seconds, keep_kills

    def first(self, mutants: list[Mutant], count: int) -> dict[Mutant, Verdict]:
        """Judge the first `count` mutants, not counting those that are no programs."""
        found: dict[Mutant, Verdict] = {}
        with ThreadPoolExecutor(self._jobs) as pool:
            while mutants and len(found) < count:
                batch, mutants = mutants[: count - len(found)], mutants[count - len(found) :]
                for mutant, verdict in zip(batch, pool.map(self._judged, batch), strict=True):
                    if verdict is not Verdict.INVALID:
                        found[mutant] = verdict
        return found

    def _judged(self, mutant: Mutant) -> Verdict:
        if mutant.key in self._equivalents:
            return Verdict.EQUIVALENT
        name = "\n".join([*mutant.key, str(mutant.line)])
        if self._keep_kills and self._verdicts.get(name) in (Verdict.KILLED, Verdict.INVALID):
            return Verdict(self._verdicts[name])
        start = time.perf_counter()
        sandbox = self._idle.get()
        try:
            verdict, reason = self._run(sandbox, mutant)
        finally:
            self._idle.put(sandbox)
        print(f"{mutant}\n  {verdict}{reason}, {time.perf_counter() - start:.0f} s", flush=True)
        self._verdicts[name] = verdict
        VERDICTS.write_text(json.dumps(self._verdicts, indent=1), encoding="utf-8")
        return verdict

    def _run(self, sandbox: Sandbox, mutant: Mutant) -> tuple[Verdict, str]:
        try:
            with sandbox.changed(mutant):
                for stage in _stages(self._runs.tests_of(mutant), self._seconds):
                    if noticed_by := sandbox.noticed_by(stage):
                        return Verdict.KILLED, f" by {noticed_by}"
        except CompileError:
            return Verdict.INVALID, ""
        return Verdict.SURVIVED, ""


def _stages(tests: dict[str, float], budget: float) -> Iterator[dict[str, float]]:
    """The tests with their limits, in stages that take longer and longer, up to the budget in seconds."""
    stages: list[dict[str, float]] = [{} for _ in range(len(STAGES) + 1)]
    total = 0.0
    for test, seconds in tests.items():
        total += seconds
        if total > budget:
            break
        stages[sum(total > end for end in STAGES)][test] = PATIENCE * seconds + GRACE_SECONDS
    yield from (stage for stage in stages if stage)


def report(found: dict[Mutant, Verdict], least: float) -> int:
    """Print the counts and every survivor; fail if too few mutants were killed."""
    columns = [Verdict.KILLED, Verdict.SURVIVED, Verdict.EQUIVALENT]
    counts = Counter((Path(mutant.path).parent.name, verdict) for mutant, verdict in found.items())
    print(f"\n{'':14}" + "".join(f"{column:>12}" for column in columns))
    for package in dict.fromkeys(package for package, _ in counts):
        print(f"{package:14}" + "".join(f"{counts[package, column]:12}" for column in columns))
    killed, survived, equivalent = (sum(v is column for v in found.values()) for column in columns)
    print(f"{'all':14}{killed:12}{survived:12}{equivalent:12}")
    for mutant, verdict in found.items():
        if verdict is Verdict.SURVIVED:
            print(f"\n{mutant}")
    share = 100.0 * killed / max(1, killed + survived)
    print(f"\n{killed} of {killed + survived} changes that matter were noticed: {share:.1f} %")
    return int(share < least)


if __name__ == "__main__":
    sys.exit(main())
