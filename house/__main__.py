"""Print how large the house is, beside what it was at another revision: ``python -m house --against REV``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import tables

from house.checkout import ROOT, checkout
from house.sources import size_of

# How often times are taken of each of two copies.
ROUNDS = 5


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m house", description=__doc__)
    parser.add_argument("--against", metavar="REV", help="a revision with the same native code")
    parser.add_argument("--write", action="store_true", help="write the table into docs/architecture.md")
    parser.add_argument("--times", action="store_true", help="compare how long fits and predictions take")
    arguments = parser.parse_args()
    if arguments.times and arguments.against is None:
        parser.error("--times needs --against.")
    revision = arguments.against
    with tempfile.TemporaryDirectory(prefix="rankwise-house-") as folder:
        here = checkout(Path(folder, "now"))
        if revision is None:
            show(measure(here), {}, None)
            return write(arguments.write, "python -m house --write")
        there = checkout(Path(folder, "then"), revision)
        if arguments.times:
            return compare_times(here, there, revision)
        show(measure(here), measure(there), revision)
        write(arguments.write, f"python -m house --against {revision} --write")
        return compare_fits(_run("fits", here), _run("fits", there))


def measure(root: Path) -> dict[str, int]:
    """All counts of a copy of the sources, in the order in which they are shown."""
    return _run("journeys", root) | size_of(root)


def _run(module: str, root: Path) -> dict[str, Any]:
    """What a module of this package prints about a copy of the sources, in a process of its own."""
    command = [sys.executable, "-m", f"house.{module}", str(root)]
    run = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    return dict(json.loads(run.stdout))


def compare_fits(now: dict[str, str], then: dict[str, str]) -> int:
    """Print the fits with other bits than before; fail if there are any."""
    changed = [name for name in then if now.get(name) != then[name]]
    print(f"\n{len(then) - len(changed)} of {len(then)} fits have the same bits")
    for name in changed:
        print(f"  changed: {name}")
    return 1 if changed else 0


def compare_times(here: Path, there: Path, revision: str) -> int:
    """Print how long fits and predictions take, of each the fastest time of runs in turn, and the ratios."""
    now: dict[str, list[float]] = {}
    then: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for fastest, root in ((then, there), (now, here)):
            for name, seconds in _run("times", root).items():
                fastest[name] = list(map(min, seconds, fastest.get(name, seconds)))
    rows = (
        [
            name,
            *(f"{1e3 * times[name][0]:.3g}" for times in (then, now)),
            *(f"{after / before:.2f}" for before, after in zip(then[name], now[name], strict=True)),
        ]
        for name in then
    )
    headings = ["milliseconds", revision, "now", "ratio", "ratio of processor times"]
    tables.show("times", headings, rows)
    return 0


def show(now: dict[str, int], then: dict[str, int], revision: str | None) -> None:
    """Print a table; a count that one of the two does not have is left empty."""
    names = dict.fromkeys([*then, *now])
    headings = ["count", *([] if revision is None else [revision]), "now"]
    counts = [now] if revision is None else [then, now]
    tables.show("house", headings, ([name, *(str(one.get(name, "")) for one in counts)] for name in names))


def write(wanted: bool, command: str) -> int:
    """Write what was shown into the page that has it, if that is wanted."""
    if wanted:
        tables.write(command, packages=())
    return 0


if __name__ == "__main__":
    sys.exit(main())
