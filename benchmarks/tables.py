"""Tables that pages of the documentation show: printed, and written into the pages that name them.

A page has ``<!-- table: NAME -->`` above the table and ``<!-- end of table -->`` below it; everything between
the two is written here, with the date, the machine and the command beneath the table. The rows of the tables
in `GATHERED` come from different runs, so there the origin is part of each row.
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
# The tables that are written row by row.
GATHERED = (HEADLINES, "elsewhere", "clients")

# What was measured since the last `write`: whole tables by name, rows of others by table and first cell.
measured: dict[str, Table] = {}
rows: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in GATHERED}


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
    row(HEADLINES, task, time, comparison)


def row(name: str, *cells: str) -> None:
    """Note a row of one of the gathered tables; it replaces the one with the same first cell."""
    rows[name][cells[0]] = cells


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
    for gathered in rows.values():
        gathered.clear()


def filled(page: str, command: str, packages: Sequence[str] = ()) -> str:
    """The text of a page with the tables that were measured; others stay as they are."""

    def fill(mark: re.Match[str]) -> str:
        start, name, content, end = mark.groups()
        if name in GATHERED:
            content = _with_rows(content, rows[name], command)
        elif name in measured:
            content = "\n".join([*measured[name].lines, "", origin(command, packages), ""])
        return start + content + end

    return MARKED.sub(fill, page)


def _with_rows(content: str, new: dict[str, tuple[str, ...]], command: str) -> str:
    """The lines of a table, those with the same first cell replaced and new ones added."""
    lines = {line.split(" | ")[0]: line for line in content.splitlines()}
    for cells in new.values():
        line = _line((*cells, f"{date_and_machine()}: `{command}`"))
        lines[line.split(" | ")[0]] = line
    return "".join(f"{line}\n" for line in lines.values())


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
