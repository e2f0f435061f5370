"""Tables that pages of the documentation show: printed, and written into the pages that name them.

A page has ``<!-- table: NAME -->`` above the table and ``<!-- end of table -->`` below it; everything between
the two is written here, with the date, the machine and the command beneath the table. Several benchmarks have
rows in the table ``headlines``, so there the origin is part of each row.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
MARKED = re.compile(r"(<!-- table: ([a-z-]+) -->\n\n)(.*?)(\n<!-- end of table -->\n)", re.DOTALL)
HEADLINES = "headlines"

# What the benchmarks have measured since the last `write`: tables by name, headlines by task.
measured: dict[str, Table] = {}
headlines: dict[str, tuple[str, str]] = {}


class Table:
    """A table whose rows are printed as they come."""

    def __init__(self, name: str, *columns: str) -> None:
        self.lines = [_line(columns), "|---" * len(columns) + "|"]
        print("\n".join(self.lines), flush=True)
        measured[name] = self

    def add(self, *cells: str) -> None:
        self.lines.append(_line(cells))
        print(self.lines[-1], flush=True)


def show(name: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a whole table."""
    table = Table(name, *columns)
    for row in rows:
        table.add(*row)


def headline(task: str, time: str, comparison: str) -> None:
    """Note a row of the table of headlines: what was done, how long it took, and next to what."""
    headlines[task] = (time, comparison)


def pages() -> list[Path]:
    """The pages that can have tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def write(command: str, packages: Sequence[str] = ("numpy", "scipy", "scikit-learn")) -> None:
    """Write what was measured into the pages that show it, and forget it.

    Parameters
    ----------
    command : str
        What measures it again.
    packages : sequence of str
        Those whose versions matter.
    """
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = filled(before, command, packages)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}")
    measured.clear()
    headlines.clear()


def filled(page: str, command: str, packages: Sequence[str] = ()) -> str:
    """The text of a page with the tables that were measured; others stay as they are."""

    def fill(mark: re.Match[str]) -> str:
        start, name, content, end = mark.groups()
        if name == HEADLINES:
            content = _with_headlines(content, command)
        elif name in measured:
            content = "\n".join([*measured[name].lines, "", origin(command, packages), ""])
        return start + content + end

    return MARKED.sub(fill, page)


def _with_headlines(content: str, command: str) -> str:
    """The rows of a table, those of the same tasks replaced and new ones added."""
    rows = {line.split(" | ")[0]: line for line in content.splitlines()}
    for task, cells in headlines.items():
        line = _line((task, *cells, f"{date_and_machine()}: `{command}`"))
        rows[line.split(" | ")[0]] = line
    return "".join(f"{line}\n" for line in rows.values())


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def origin(command: str, packages: Sequence[str]) -> str:
    """When, where and how a table was measured, in one line."""
    versions = [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)]
    return f"*{', '.join([date_and_machine(), *versions])}: `{command}`*"


def date_and_machine() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}, {len(os.sched_getaffinity(0))} cores of {_processor()}"


def _processor() -> str:
    """The model of the processor, as Linux names it."""
    known = Path("/proc/cpuinfo")
    found = (
        re.search(r"^model name\s*:\s*(.+)$", known.read_text(encoding="utf-8"), re.MULTILINE)
        if known.exists()
        else None
    )
    return found[1] if found else platform.machine()
