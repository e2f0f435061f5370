"""Small tables as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

Cell = str | int | float


def format_cell(cell: Cell) -> str:
    """Numbers with four decimals, small ones (p-values) with three digits."""
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.2e}" if 0.0 < abs(cell) < 1e-4 else f"{cell:.4f}"


def text_table(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Columns under their names: text to the left, numbers to the right."""
    lines = [list(header), *([format_cell(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    numeric = [bool(rows) and not isinstance(rows[0][column], str) for column in range(len(header))]

    def line_of(cells: Sequence[str]) -> str:
        aligned = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=True)
        )
        return "  ".join(aligned).rstrip()

    return "\n".join(line_of(line) for line in lines)


def html_table(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(format_cell(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
