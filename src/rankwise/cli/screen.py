"""What commands show: tables, JSON, and progress when something takes long."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

PATIENCE_SECONDS = 2.0


def show_json(content: Any) -> None:
    """Print JSON; numbers that JSON lacks (NaN: no such value) become null."""
    typer.echo(json.dumps(_jsonable(content), indent=2, ensure_ascii=False))


def show_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], note: str | None = None
) -> None:
    """Print a table: text to the left, numbers to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lines = list(rows)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for position, name in enumerate(columns):
        is_text = all(isinstance(line[position], str) for line in lines)
        table.add_column(Text(name), justify="left" if is_text else "right", no_wrap=True)
    for line in lines:
        table.add_row(*(Text(_cell(value)) for value in line))
    # Off a terminal there is no width to keep to, and a cut number would be a wrong one.
    console = Console(width=None if sys.stdout.isatty() else 10_000, highlight=False)
    # Captured, because rich would end the program itself when nobody reads its output any more.
    with console.capture() as capture:
        console.print(Text(title, style="bold"))
        console.print(table)
        console.print(Text(f"{note}\n" if note else "", style="dim"))
    typer.echo(capture.get(), nl=False)


def show_facts(title: str, facts: dict[str, Any]) -> None:
    """Print names and values, one below the other."""
    width = max(map(len, facts), default=0)
    typer.echo(title)
    for name, value in facts.items():
        typer.echo(f"  {name:{width}}  {_fact(value)}")


def _fact(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_fact(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(map(_fact, value))
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _cell(value: object) -> str:
    """Four decimals, and three digits of what is smaller (p-values)."""
    if isinstance(value, float):
        return "–" if value != value else f"{value:.2e}" if 0.0 < abs(value) < 1e-4 else f"{value:.4f}"
    return "–" if value is None else str(value)


def _jsonable(content: Any) -> Any:
    if isinstance(content, dict):
        return {str(key): _jsonable(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_jsonable(value) for value in content]
    if hasattr(content, "tolist"):
        return _jsonable(content.tolist())
    if isinstance(content, float) and not (abs(content) < float("inf")):
        return None
    return content


@contextmanager
def progress(task: str) -> Iterator[Callable[[float], None]]:
    """Show a bar on a terminal once the block has taken two seconds.

    Yields a function that takes the share done, from 0 to 1; until it is called the bar only pulses.
    """
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    number = bar.add_task(task, total=None)
    timer = threading.Timer(PATIENCE_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda share: bar.update(number, total=1.0, completed=share)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
