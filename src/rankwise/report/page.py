"""The page of a report: one HTML file with its facts, styles and scripts, which loads nothing else.

Charts are plain SVG, drawn in the browser by the scripts beside this file. See docs/architecture.md for why.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from rankwise.rendering import printable

_HERE = Path(__file__).parent
# In this order, as one script: what is used comes before its users.
_SCRIPTS = (
    "elements",
    "facts",
    "charts",
    "curves",
    "lists",
    "queries",
    "segments",
    "learned",
    "data",
    "page",
)
# Nothing may be loaded from anywhere, whatever the facts contain.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(facts: dict[str, Any]) -> str:
    """A complete page that shows the facts."""
    script = "\n".join((_HERE / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)
    style = (_HERE / "page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(printable(facts['title']))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        "<noscript><p>The charts and tables of this page need JavaScript; it loads nothing.</p></noscript>\n"
        f'<script type="application/json" id="facts">{embedded(facts)}</script>\n'
        f'<script>\n"use strict";\n(() => {{\n{script}}})();\n</script>\n</body>\n</html>\n'
    )


def embedded(facts: dict[str, Any]) -> str:
    """JSON that cannot end the script element that it is in."""
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    # Half of a surrogate pair cannot be encoded.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
