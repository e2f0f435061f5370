"""A small self-contained HTML page with paragraphs, tables and bars; all text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rankwise.rendering import Cell, html_table

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #66727f; --line: #d9dfe5;
        --up: #2f7d6b; --down: #b4563a; --ground: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ee; --soft: #98a4b0; --line: #37424d;
          --up: #5fb8a2; --down: #de8a6c; --ground: #171d23; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
       max-width: 56rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p { color: var(--soft); max-width: 42rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .9rem .3rem 0; text-align: right; white-space: nowrap;
         border-bottom: 1px solid var(--line); }
th.text, td.text { text-align: left; }
th { font-weight: 600; color: var(--soft); } tr.best td { font-weight: 600; }
svg { width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.up { fill: var(--up); } .down { fill: var(--down); } .axis { stroke: var(--line); }
""".strip()


def page(title: str, *parts: str) -> str:
    """Build a complete page from parts created by the functions below."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], *, best: int | None = None) -> str:
    """A table that scrolls horizontally on a narrow page; `best` is the row to emphasize."""
    return f'<div class="wide">{html_table(columns, rows, best=best)}</div>'


def bars(values: Sequence[tuple[str, float]], description: str) -> str:
    """Horizontal bars around zero, in the order given, as inline SVG."""
    line, left, width = 22, 170, 720
    largest = max((abs(value) for _, value in values), default=0.0) or 1.0
    middle = left + (width - left) / 2
    scale = ((width - left) / 2 - 60) / largest
    shapes = [f'<line class="axis" x1="{middle:.1f}" y1="0" x2="{middle:.1f}" y2="{line * len(values)}"/>']
    for number, (name, value) in enumerate(values):
        y, length = number * line, abs(value) * scale
        start = middle if value >= 0 else middle - length
        sign = "up" if value >= 0 else "down"
        edge, anchor = (start + length + 6, "start") if value >= 0 else (start - 6, "end")
        shapes += [
            f'<text x="0" y="{y + 15}">{escape(name)}</text>',
            f'<rect class="{sign}" x="{start:.1f}" y="{y + 4}" '
            f'width="{length:.1f}" height="{line - 8}" rx="2"/>',
            f'<text x="{edge:.1f}" y="{y + 15}" text-anchor="{anchor}">{value:+.3f}</text>',
        ]
    label = escape(description)
    inside = "\n".join(shapes)
    return (
        f'<svg viewBox="0 0 {width} {line * len(values)}" role="img" aria-label="{label}">\n{inside}\n</svg>'
    )
