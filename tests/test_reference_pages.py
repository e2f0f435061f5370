"""The reference, as readers use it: signatures are short, classes have examples and name related ones."""

import ast
import inspect
import re
import textwrap
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import rankwise
from rankwise import _SUBMODULES as SUBMODULES

DOCS = Path(__file__).parent.parent / "docs"
HAS_DASK = find_spec("distributed") is not None
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (
        rankwise,
        *(import_module(f"rankwise.{name}") for name in SUBMODULES if name != "dask" or HAS_DASK),
    )
    for name in module.__all__
    if name not in SUBMODULES
}
# Classes that the reference describes because methods return them.
RESULTS = re.findall(
    r"^   (\w+\.\w+)\.([A-Z]\w+)$",
    (DOCS / "python.rst").read_text(encoding="utf-8"),
    re.MULTILINE,
)
CLASSES = {name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing)} | {
    f"{module}.{name}": getattr(import_module(f"rankwise.{module}"), name) for module, name in RESULTS
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


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_an_example_and_names_related_ones(name):
    text = inspect.getdoc(CLASSES[name])
    assert ">>> " in text
    assert "See Also\n--------\n" in text, name


@pytest.mark.parametrize("name", CLASSES)
def test_related_names_are_in_the_reference(name):
    """From the module in which the reference describes a class, or with all of their name."""
    known = {*PUBLIC, *(f"rankwise.{one.removeprefix('rankwise.')}" for one in CLASSES)}
    module = f"rankwise.{name.removeprefix('rankwise.')}".rpartition(".")[0]
    section = inspect.getdoc(CLASSES[name]).partition("See Also\n--------\n")[2].partition("\n\n")[0]
    related = re.findall(r"^([\w.]+) : ", section, re.MULTILINE)
    assert related
    assert [one for one in related if not {one, f"{module}.{one}"} & known] == []


def documented(thing):
    """A thing and, of a class, its own methods and properties."""
    members = vars(thing).values() if inspect.isclass(thing) else ()
    functions = (
        getattr(member, "__func__", None) or getattr(member, "fget", None) or member for member in members
    )
    return [
        thing,
        *(one for one in functions if inspect.isfunction(one) and not one.__name__.startswith("_")),
    ]


@pytest.mark.parametrize("name", [*PUBLIC, *CLASSES])
def test_every_parameter_and_attribute_is_described(name):
    thing = CLASSES.get(name, PUBLIC.get(name))
    for one in documented(thing) if callable(thing) else ():
        for _, section in re.findall(
            r"^(Parameters|Attributes)\n-+\n((?:.*\S.*\n?|\n)*?)(?=\n\S+.*\n-+\n|\Z)",
            inspect.getdoc(one) or "",
            re.MULTILINE,
        ):
            lines = section.strip().splitlines()
            for line, below in zip(lines, [*lines[1:], ""], strict=True):
                assert line.startswith(" ") or not line or below.startswith(" "), (
                    f"{one.__qualname__}: {line}"
                )


def test_the_site_has_a_page_for_lost_readers_and_an_icon():
    site = DOCS / "site"
    settings = (site / "conf.py").read_text(encoding="utf-8")
    for file in ("static/copy.js", "static/favicon.svg", "templates/404.html"):
        assert (site / file).exists()
        assert Path(file).name in settings
