"""Links to scripts of the gallery lead to their pages; as links to files, they also work without the site."""

import re

from sphinx.application import Sphinx


def lead_to_pages(app: Sphinx, page: str, source: list[str]) -> None:
    text = source[0].replace("(../examples/gallery/README.rst)", "(gallery/index.rst)")
    source[0] = re.sub(r"\(\.\./examples/gallery/(\w+/\w+)\.py\)", r"(gallery/\1.rst)", text)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", lead_to_pages)
    return {"parallel_read_safe": True}
