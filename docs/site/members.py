"""Which methods the reference shows: our own, not those that scikit-learn adds to every estimator."""

from typing import Any

from sphinx.application import Sphinx


def skip_inherited(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    module = getattr(member, "__module__", None) or ""
    return True if module.startswith("sklearn.") else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-skip-member", skip_inherited)
    return {"parallel_read_safe": True}
