"""Docstring examples run and print what they show; public names are documented in numpydoc style."""

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import rankwise

SOURCE = Path(rankwise.__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))
PUBLIC = {name: getattr(rankwise, name) for name in rankwise.__all__ if not name.startswith("__")} | {
    f"{space}.{name}": getattr(module, name)
    for space, module in {s: getattr(rankwise, s) for s in ("clicks", "metrics", "trec")}.items()
    for name in module.__all__
}
FUNCTIONS = {name for name, thing in PUBLIC.items() if inspect.isfunction(thing)}
ESTIMATORS = {name for name, thing in PUBLIC.items() if hasattr(thing, "get_params")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_examples_in_docstrings_hold(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = import_module(".".join(("rankwise", *path.relative_to(SOURCE).with_suffix("").parts)))
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def sections(name):
    """The text below each heading of a docstring; text before the first heading is under ""."""
    text = inspect.getdoc(PUBLIC[name])
    head, *rest = re.split(r"^(\w+)\n-+\n", text, flags=re.MULTILINE)
    return {"": head} | dict(zip(rest[::2], rest[1::2], strict=True))


def documented(section):
    names = (line.partition(" :")[0] for line in section.splitlines() if re.match(r"[\w*]", line))
    return {part.strip(" *") for line in names for part in line.split(",")}


def test_examples_of_the_reference_page_hold():
    result = doctest.testfile(
        str(Path(__file__).parent.parent / "docs" / "python.rst"), module_relative=False
    )
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", sorted(name for name, thing in PUBLIC.items() if callable(thing)))
def test_every_public_function_and_class_has_an_example(name):
    assert ">>> " in sections(name)["Examples"]


@pytest.mark.parametrize("name", sorted(FUNCTIONS | ESTIMATORS))
def test_every_parameter_is_documented_and_no_other(name):
    expected = set(inspect.signature(PUBLIC[name]).parameters)
    assert documented(sections(name).get("Parameters", "")) == expected


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_estimators_document_what_fitting_sets_and_what_it_costs(name):
    assert "Attributes" in sections(name)
    assert "O(" in inspect.getdoc(PUBLIC[name])
