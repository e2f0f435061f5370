"""Links between guides, reference and gallery, which nobody has to write.

Links to scripts of the gallery lead to their pages; as links to files, they also work without the site. In
guides and docstrings, code that names a class, a function or a command leads to the reference, and each
entry of the reference names the guides that use it most.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

DOCS = Path(__file__).parent.parent
# Pages about rankwise itself, which mention everything.
NO_GUIDES = (
    "architecture",
    "benchmarks",
    "guides",
    "index",
    "papers",
    "reference",
    "reliability",
    "versions",
)
GUIDES_SHOWN = 3
# The guide of a whole module, whatever it mentions.
GUIDE_OF_MODULE = {"metrics": "measures", "raters": "judgments"}


def lead_to_pages(app: Sphinx, page: str, source: list[str]) -> None:
    text = source[0].replace("(../examples/gallery/README.rst)", "(gallery/index.rst)")
    source[0] = re.sub(r"\(\.\./examples/gallery/(\w+/\w+)\.py\)", r"(gallery/\1.rst)", text)


@cache
def guides() -> dict[str, str]:
    """The text of each guide by its name."""
    paths = [path for path in sorted(DOCS.glob("*.md")) if path.stem not in NO_GUIDES]
    return {path.stem: path.read_text(encoding="utf-8") for path in paths}


def guides_of(name: str) -> list[str]:
    """The guides that mention a public name most often, at most `GUIDES_SHOWN`.

    Lower-case words such as `compare` also name commands and measures, so only calls of them count.
    """
    word = name.rpartition(".")[2]
    pattern = re.compile(rf"\b{word}\b" if is_distinct(word) else rf"\b{word}\(")
    counts = {page: len(pattern.findall(text)) for page, text in guides().items()}
    ranked = sorted((page for page, count in counts.items() if count), key=lambda page: -counts[page])
    of_module = [guide for module, guide in GUIDE_OF_MODULE.items() if f".{module}." in name]
    return list(dict.fromkeys([*of_module, *ranked]))[:GUIDES_SHOWN]


def is_distinct(word: str) -> bool:
    """Whether a word can only mean the public name."""
    return "_" in word or word != word.lower()


def name_guides(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Add the guides to the docstring of a class or function."""
    if what in ("class", "function", "exception") and (found := guides_of(name)):
        links = ", ".join(f":doc:`/{page}`" for page in found)
        lines += ["", f"**In the guides:** {links}", ""]


def lead_to_reference(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Link the first mention of a class, function or command in each section of a guide or the reference."""
    from docutils import nodes

    if page not in guides() and not page.startswith("reference/"):
        return
    targets = reference_targets(app)
    for section in doctree.findall(nodes.section):
        seen = set()
        for code in [node for child in section.children for node in own_code(child)]:
            text = code.astext()
            target = targets.get(named_by(text) if page in guides() else text.removeprefix("rankwise."))
            if target and target[0] != page and target not in seen:
                seen.add(target)
                to, anchor = target
                uri = f"{app.builder.get_relative_uri(page, to)}#{anchor}"
                link = nodes.reference("", "", internal=True, refuri=uri)
                code.replace_self(link)
                link += code


def own_code(node: nodes.Node) -> list[nodes.literal]:
    """The code within text, without that of subsections, titles and links."""
    from docutils import nodes

    if isinstance(node, nodes.section | nodes.title | nodes.reference):
        return []
    if isinstance(node, nodes.literal):
        return [node]
    return [code for child in node.children for code in own_code(child)]


def named_by(code: str) -> str:
    """The name of what a piece of code calls, such as `rankwise train ...` or `RankRLS(alpha=1)`."""
    if command := re.match(r"rankwise (\w+)", code):
        return command[0]
    call = re.fullmatch(r"(?:rankwise\.)?([\w.]+)(\(.*\))?", code)
    if not call:
        return ""
    return call[1] if is_distinct(call[1]) or call[2] or "." in call[1] else ""


def reference_targets(app: Sphinx) -> dict[str, tuple[str, str]]:
    """The page and anchor of each public name, with and without its module, and of each command."""
    from rankwise.cli.app import COMMANDS
    from rankwise.metrics import KINDS

    found = {f"rankwise {name}": ("commands", f"rankwise-{name}".replace("_", "-")) for name in COMMANDS}
    objects = app.env.get_domain("py").objects
    for name in sorted(objects, key=len, reverse=True):
        if objects[name].objtype in ("class", "function", "exception"):
            short = name.removeprefix("rankwise.")
            last = short.rpartition(".")[2]
            target = (objects[name].docname, objects[name].node_id)
            found[short] = target
            if last not in KINDS:
                found[last] = target
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", lead_to_pages)
    app.connect("autodoc-process-docstring", name_guides, priority=900)  # after numpydoc
    app.connect("doctree-resolved", lead_to_reference)
    return {"parallel_read_safe": True}
