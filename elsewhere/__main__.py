"""Run the tests in other surroundings, and write a table into docs/reliability.md: ``python -m elsewhere``.

A run replaces the rows of its own surroundings in the table; the others stay.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks import tables

from elsewhere.places import Place, UnavailableError
from elsewhere.surroundings import Surrounding, declared

# What differs most from the machines at hand, quickly.
SHORT = ("cpu-Prescott-4", "locale")


@dataclass(frozen=True)
class Outcome:
    """How many tests ran in a surrounding, and how they ended; or why none could."""

    note: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def ran(self) -> bool:
        return self.passed + self.failed + self.skipped > 0

    def cells(self) -> tuple[str, ...]:
        counts = (self.passed + self.failed + self.skipped, self.passed, self.failed, self.skipped)
        return (*(f"{count:,}" if self.ran else "–" for count in counts), self.note)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m elsewhere", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="the surroundings; all by default")
    parser.add_argument("--list", action="store_true", help="list the surroundings and exit")
    parser.add_argument("--jobs", type=int, default=2, help="processes that run tests at the same time")
    parser.add_argument(
        "--short",
        action="store_true",
        help=f"a few test files each, and nothing is written; by default in {' and '.join(SHORT)}",
    )
    options = parser.parse_args()
    surroundings = declared()
    if options.list:
        print("\n".join(f"{one.name:20}{one.what}" for one in surroundings.values()))
        return 0
    unknown = [name for name in options.names if name not in surroundings]
    if unknown:
        parser.error(f"unknown surrounding {', '.join(unknown)}; must be one of {', '.join(surroundings)}")
    names = options.names or (SHORT if options.short else surroundings)
    failed = False
    for name in names:
        outcome = run(surroundings[name], options.jobs, options.short)
        failed |= outcome.failed > 0
        if not options.short:
            tables.row("elsewhere", f"`{name}`", surroundings[name].what, *outcome.cells())
            tables.write("make elsewhere")
    return int(failed)


def run(surrounding: Surrounding, jobs: int, short: bool) -> Outcome:
    """Run the tests of a surrounding; what they print is shown."""
    print(f"\n{surrounding.name}: {surrounding.what}", flush=True)
    with ExitStack() as cleanup:
        try:
            place = surrounding.prepare(cleanup)
        except UnavailableError as reason:
            print(f"not run: {reason}", flush=True)
            return Outcome(f"not run: {reason}")
        if place.note:
            print(place.note, flush=True)
        return run_in(place, surrounding.files(short), jobs)


def run_in(place: Place, files: list[str], jobs: int) -> Outcome:
    """Run test files at a place, and count from the report that pytest writes."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)  # another user may write the report
        report = Path(folder) / "report.xml"
        # The cache would be written into the checkout.
        options = ["-n", str(jobs), "-p", "no:cacheprovider", "--tb=short", f"--junit-xml={report}"]
        command = [*place.prefix, str(place.python), "-m", "pytest", *options, *place.options, *files]
        subprocess.run(command, cwd=place.folder, env=os.environ | place.variables)
        if not report.exists():
            return Outcome(f"{place.note}; pytest did not finish".removeprefix("; "), failed=1)
        counts = [suite.attrib for suite in ET.parse(report).getroot().iter("testsuite")]
    total, failed, errors, skipped = (
        sum(int(suite[name]) for suite in counts) for name in ("tests", "failures", "errors", "skipped")
    )
    return Outcome(place.note, total - failed - errors - skipped, failed + errors, skipped)


if __name__ == "__main__":
    sys.exit(main())
