"""The reference, as readers use it: signatures are short, classes have examples and name related ones."""

import ast
import inspect
import textwrap
from importlib import import_module
from pathlib import Path

import pytest

import rankwise
from rankwise import _SUBMODULES as SUBMODULES

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (rankwise, *(import_module(f"rankwise.{name}") for name in SUBMODULES if name != "dask"))
    for name in module.__all__
    if name not in SUBMODULES
}


def signature_of(name, thing):
    """The signature as the reference shows it: without types, and with defaults as in the source."""
    function = thing.__init__ if inspect.isclass(thing) else thing
    try:
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (TypeError, OSError):  # that of a dataclass has no source
        return f"{name}(...)"
    for argument in ast.walk(definition.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return f"{name}({ast.unparse(definition.args)})"


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if callable(thing)])
def test_a_signature_takes_at_most_three_lines(name):
    signature = signature_of(name.removeprefix("rankwise."), PUBLIC[name])
    assert len(textwrap.wrap(signature, 120)) <= 3, signature


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if inspect.isclass(thing)])
def test_a_class_has_an_example_and_names_related_ones(name):
    text = inspect.getdoc(PUBLIC[name])
    assert ">>> " in text
    assert "See Also\n--------\n" in text, name


def test_the_site_has_a_page_for_lost_readers_and_an_icon():
    site = Path(__file__).parent.parent / "docs" / "site"
    settings = (site / "conf.py").read_text(encoding="utf-8")
    for file in ("static/copy.js", "static/favicon.svg", "templates/404.html"):
        assert (site / file).exists()
        assert Path(file).name in settings
