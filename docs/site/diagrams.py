"""The directive ``mermaid``: a diagram drawn while the site is built, so that pages need no script for it.

The drawing is part of the page, where the style sheet gives it the colours of the theme.
"""

import hashlib
from pathlib import Path

import mermaidx
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

# Narrow enough for the column of a page; labels break only where they say so.
LAYOUT = {"nodeSpacing": 20, "rankSpacing": 34, "padding": 8, "wrappingWidth": 400}


class Diagram(SphinxDirective):
    """A diagram, drawn once for each text and kept next to the other intermediate files of the build."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        name = f"diagram-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        drawing = Path(self.env.doctreedir) / f"{name}.svg"
        if not drawing.exists():
            svg = mermaidx.render(text, config={"theme": "base", "flowchart": LAYOUT}).svg()
            drawing.write_text(svg.replace("my-svg", name), encoding="utf-8")
        figure = f'<div class="diagram">{drawing.read_text(encoding="utf-8")}</div>'
        return [nodes.raw("", figure, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("mermaid", Diagram)
    return {"parallel_read_safe": True}
