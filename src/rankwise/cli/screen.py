"""The output of commands: tables, sentences and JSON."""

from __future__ import annotations

import codecs
import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TextIO

import typer

from rankwise.rendering import Cell, format_cell, jsonable, printable, text_columns

# Text up to this width is never folded; lists up to this length are shown in full.
FOLD_WIDTH, SHOWN_ENTRIES = 12, 10
# Opened for the wrong direction; what is said on a closed standard error is lost.
_REFUSING = (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))


def prepare_streams() -> None:
    """Let standard output and standard error carry any text, whatever their encoding.

    Characters that the encoding lacks are escaped as in JSON. ASCII is what Python assumes where no language
    is set, and becomes UTF-8, as `typer.echo` has it. A stream that the caller has closed is replaced by one
    that refuses everything: the next file to be opened would take its place, and what is printed with it.
    """
    for name, flag, mode in _REFUSING:
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flag), mode, encoding="utf-8"))
    codecs.register_error("json_escapes", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = "utf-8" if codecs.lookup(stream.encoding).name == "ascii" else None
            stream.reconfigure(encoding=encoding, errors="json_escapes")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def data_stream() -> TextIO:
    """Standard output for lines that other programs read: UTF-8, as in files."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout


def show_json(content: Any) -> None:
    """Print JSON; numbers that JSON cannot represent, such as NaN for a missing value, become null."""
    for line in json.dumps(jsonable(content), indent=2, ensure_ascii=False).split("\n"):
        typer.echo(printable(line))


def show_text(sentences: Iterable[str]) -> None:
    """Print sentences, each on lines of its own that fit the terminal."""
    for sentence in sentences:
        text = printable(sentence)
        if sys.stdout.isatty():
            text = textwrap.fill(text, shutil.get_terminal_size().columns)
        typer.echo(text)


def confirm(path: Path, what: str) -> None:
    """Say in a line what was written; nothing if it went to a device or a pipe, such as standard output."""
    if path.is_file() or path.is_dir():
        show_text([f"Written to {path}: {what}"])


def show_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]], note: str | None = None
) -> None:
    """Print a table with text left-aligned and numbers right-aligned.

    A table too wide for the terminal stacks the words of its headers and folds long text and headers (the
    reason to use rich), but never truncates a number, which would make it wrong. Without a terminal, the
    width is unlimited.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lines = list(rows)
    columns = [printable(name) for name in columns]
    cells = [[printable(format_cell(cell)) for cell in line] for line in lines]
    texts = text_columns(len(columns), lines)
    longest = [max((len(line[k]) for line in cells), default=0) for k in range(len(columns))]
    console = Console(width=None if sys.stdout.isatty() else 10_000, highlight=False)
    if _width(map(max, _header_widths(columns), longest)) > console.width:
        columns = [name.replace(" ", "\n") for name in columns]
    least = [
        max(min(width, FOLD_WIDTH) if is_text else width, min(header, FOLD_WIDTH))
        for width, is_text, header in zip(longest, texts, _header_widths(columns), strict=True)
    ]
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, is_text, width in zip(columns, texts, least, strict=True):
        justify: Literal["left", "right"] = "left" if is_text else "right"
        table.add_column(Text(name), justify=justify, min_width=width, overflow="fold")
    for cell in cells:
        table.add_row(*map(Text, cell))
    console.width = max(console.width, _width(least))
    # Captured, because rich would exit the program itself on a broken pipe.
    with console.capture() as capture:
        console.print(Text(printable(title), style="bold"))
        console.print(table)
        console.print(Text(f"{note}\n" if note else "", style="dim"))
    typer.echo(capture.get(), nl=False)


def _header_widths(columns: Iterable[str]) -> list[int]:
    return [max(map(len, name.split("\n"))) for name in columns]


def _width(columns: Iterable[int]) -> int:
    """The width of a table, with two spaces between columns."""
    widths = list(columns)
    return sum(widths) + 2 * (len(widths) - 1)


def show_facts(title: str, facts: dict[str, Any]) -> None:
    """Print names and values, one per line."""
    width = max(map(len, facts), default=0)
    typer.echo(printable(title))
    for name, value in facts.items():
        typer.echo(printable(f"  {name:{width}}  {_fact(value)}"))


def _fact(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_fact(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        if len(value) > SHOWN_ENTRIES:
            return f"{', '.join(map(_fact, value[:2]))}, ..., {_fact(value[-1])} ({len(value)} in total)"
        return ("; " if any(isinstance(entry, dict) for entry in value) else ", ").join(map(_fact, value))
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
