"""Results as small tables, in text and HTML, with text to the left and numbers to the right, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

Cell = str | int | float | None

# Control characters, which a terminal would act on, and surrogates, which cannot be encoded.
_NOT_SHOWN = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Escape control characters in a line of text, in a form that is valid in JSON strings too."""
    return _NOT_SHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_cell(label: Any) -> Cell:
    """Labels may be any hashables; numbers and text are kept."""
    plain = label.item() if hasattr(label, "item") else label
    return plain if isinstance(plain, str | int | float) else str(plain)


def format_cell(cell: Cell) -> str:
    """Format numbers with four decimals, small ones (p-values) with three digits, and none as a dash."""
    if cell is None or cell != cell:
        return "–"
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.2e}" if 0.0 < abs(cell) < 1e-4 else f"{cell:.4f}"


def counted(n: int, noun: str, nouns: str | None = None) -> str:
    """Such as "1 query" and "1,000 queries"."""
    plural = noun.removesuffix("y") + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,} {noun if n == 1 else nouns or plural}"


def enumerated(words: Sequence[str]) -> str:
    """Such as "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def text_columns(n_columns: int, rows: Sequence[Sequence[Cell]]) -> list[bool]:
    """Which columns contain only text."""
    return [all(isinstance(row[column], str) for row in rows) for column in range(n_columns)]


def text_table(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Columns below their names, as wide as necessary."""
    lines = [list(header), *([format_cell(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    texts = text_columns(len(header), rows)

    def line_of(cells: Sequence[str]) -> str:
        aligned = (
            cell.ljust(width) if is_text else cell.rjust(width)
            for cell, width, is_text in zip(cells, widths, texts, strict=True)
        )
        return "  ".join(aligned).rstrip()

    return "\n".join(line_of(line) for line in lines)


def html_table(header: Sequence[str], rows: Sequence[Sequence[Cell]], *, best: int | None = None) -> str:
    """An HTML table: text columns have the class "text" for alignment, the row `best` the class "best"."""
    kinds = [' class="text"' if is_text else "" for is_text in text_columns(len(header), rows)]

    def line_of(tag: str, cells: Sequence[str], emphasis: str = "") -> str:
        inside = (f"<{tag}{kind}>{_html(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
        return f"<tr{emphasis}>{''.join(inside)}</tr>"

    body = "\n".join(
        line_of("td", [format_cell(cell) for cell in row], ' class="best"' if number == best else "")
        for number, row in enumerate(rows)
    )
    return f"<table>\n<thead>{line_of('th', header)}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A table in Markdown, with numbers to the right."""
    bar = ["---" if is_text else "---:" for is_text in text_columns(len(header), rows)]
    lines = [header, bar, *([format_cell(cell) for cell in row] for row in rows)]
    return "\n".join(map(markdown_row, lines))


def markdown_row(cells: Sequence[str]) -> str:
    """A line of a table in Markdown."""
    return f"| {' | '.join(markdown_text(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def markdown_text(text: str) -> str:
    """Text of others in Markdown, in which it is neither HTML nor a link."""
    return escape(printable(text), quote=False).replace("[", "\\[")


@dataclass(frozen=True)
class Section:
    """A table on a page, below its title."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str | None = None


@dataclass(frozen=True)
class Page:
    """A title, sentences, and sections, to be shown anywhere; an empty section is not shown."""

    title: str
    sentences: tuple[str, ...]
    sections: tuple[Section, ...]

    def markdown(self) -> str:
        """The page in Markdown."""
        parts = [f"# {markdown_text(self.title)}", *map(markdown_text, self.sentences)]
        for section in self.sections:
            parts += [f"## {section.title}", markdown_table(section.header, section.rows)]
            parts += [] if section.note is None else [markdown_text(section.note)]
        return "\n\n".join(parts) + "\n"

    def html(self, style: str) -> str:
        """The page as a complete HTML document that loads nothing."""
        body = [f"<h1>{_html(self.title)}</h1>", *(f"<p>{_html(text)}</p>" for text in self.sentences)]
        for section in self.sections:
            table = html_table(section.header, section.rows)
            body += [f"<h2>{_html(section.title)}</h2>", f'<div class="wide">\n{table}\n</div>']
            body += [] if section.note is None else [f'<p class="note">{_html(section.note)}</p>']
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{_html(self.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
            + "\n".join(body)
            + "\n</body>\n</html>\n"
        )


def _html(text: str) -> str:
    return escape(printable(text))


class TableRows(list[dict[str, Any]]):
    """A list of rows by column, shown as a table by `print` and in notebooks."""

    def _cells(self) -> tuple[list[str], list[list[Cell]]]:
        header = list(self[0]) if self else []
        return header, [[row[name] for name in header] for row in self]

    def __str__(self) -> str:
        return text_table(*self._cells())

    def _repr_html_(self) -> str:
        return html_table(*self._cells())


def jsonable(content: Any) -> Any:
    """Plain lists, dictionaries, numbers and strings; None for numbers that JSON cannot represent."""
    if isinstance(content, dict):
        return {str(key): jsonable(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [jsonable(value) for value in content]
    if hasattr(content, "tolist"):
        return jsonable(content.tolist())
    if isinstance(content, float) and not (abs(content) < float("inf")):
        return None
    return content if content is None or isinstance(content, str | int | float) else str(content)
