"""What people wait for, next to an earlier version: the processor time of both, and the same choices."""

from __future__ import annotations

import json
import subprocess
import sys
from math import inf
from pathlib import Path
from typing import Any

from benchmarks import timing
from benchmarks.peers import built_peers
from benchmarks.tables import Table
from benchmarks.timing import header, real_data
from benchmarks.waits import WAITS, Found, Wait

ROOT = Path(__file__).parent.parent
REPEATS = 3
# Beyond this many seconds, a run is not repeated.
LONG = 5.0
# Scores that are this close are the same, because the versions round differently.
SAME = 1e-9


def run() -> None:
    """Targets: `Wait.aim`."""
    earlier = built_peers.earlier_python
    header("What people wait for; processor time, the shortest of alternating runs")
    if earlier is None:
        print("No earlier version is compared: --with-earlier PATH names one.")
    table = Table(
        "waits" if earlier else "waits-now", "work", "before", "now", "aim", "times as fast", "found"
    )
    folder = real_data()
    versions = [Version(python) for python in (earlier, Path(sys.executable)) if python is not None]
    for name, wait in WAITS.items():
        if wait.folder is not None and (folder is None or not (folder / wait.folder).is_dir()):
            print(f"Skipped, because there is no folder {wait.folder} among the real data sets: {wait.what}.")
        else:
            table.add(wait.what, *compare(versions, name, wait))
    for version in versions:
        version.end()


def compare(versions: list[Version], name: str, wait: Wait) -> tuple[str, ...]:
    """Both versions take turns; what they take, the aim, their ratio, and whether they find the same."""
    seconds = [inf] * len(versions)
    found: list[Found | None] = [None] * len(versions)
    for number in range(1 if timing.quick else REPEATS):
        for place, version in enumerate(versions):
            if number == 0 or (seconds[place] < LONG and found[place] is not None):
                taken, found[place] = version.take_turn(name)
                seconds[place] = min(seconds[place], taken)
    now, aim = seconds[-1], wait.aim() if callable(wait.aim) else wait.aim
    goal = f"{shown(aim)}{'' if found[-1] is not None and now <= aim else ', missed'}"
    if len(versions) == 1:
        return "", shown(now), goal, "", ""
    before, after = found
    if before is None or after is None:
        more = "> " if after is not None else ""
        return f"{more}{shown(seconds[0])}", shown(now), goal, f"{more}{seconds[0] / now:.2g}", "stopped"
    same = "the same" if are_same(before, after) else "within its tolerance"
    return shown(seconds[0]), shown(now), goal, f"{seconds[0] / now:.2g}", same


def shown(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1e3 * seconds:.2g} ms"


def are_same(one: Found, other: Found) -> bool:
    return all(abs(one[name] - other[name]) <= SAME * max(1.0, abs(one[name])) for name in one)


class Version:
    """A process of one version that does pieces of work when it is asked."""

    def __init__(self, python: Path) -> None:
        self._python = python
        self._start()

    def _start(self) -> None:
        command = [
            str(self._python),
            "-W",
            "ignore",
            "-m",
            "benchmarks.waits",
            *(["--quick"] if timing.quick else []),
        ]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        self._process = subprocess.Popen(command, cwd=ROOT, **pipes)

    def take_turn(self, name: str) -> tuple[float, Found | None]:
        """Do the work; the processor time in seconds, and what it found, None if it was stopped."""
        sent, answer = self._process.stdin, self._process.stdout
        assert sent is not None
        assert answer is not None
        sent.write(f"{name}\n")
        sent.flush()
        line = answer.readline()
        if not line:
            raise SystemExit(f"{self._process.args} ended with code {self._process.wait()} at {name!r}.")
        seconds, found = json.loads(line)
        if found is None:
            self.end()
            self._start()
        return seconds, found

    def end(self) -> None:
        self._process.communicate()
