"""The examples in docstrings run and print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import rankwise

SOURCE = Path(rankwise.__file__).parent
MODULES = sorted(path for path in SOURCE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_examples_in_docstrings_hold(path):
    module = import_module(".".join(("rankwise", *path.relative_to(SOURCE).with_suffix("").parts)))
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
