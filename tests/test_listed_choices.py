"""What is listed by hand lists every choice: measures, formats, codes and shapes of columns."""

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from rankwise import export_model
from rankwise.cli import export
from rankwise.columns import stored
from rankwise.columns.codes import Code
from rankwise.columns.specs import ColumnKind, spec_of
from rankwise.errors import ParameterError
from rankwise.export import weights
from rankwise.export.formats import Format
from rankwise.metrics import KINDS, get_measure
from rankwise.rankers.column_encoder import ColumnEncoder
from rankwise.scoring.shapes import Line, Shape

DOCS = Path(__file__).parent.parent / "docs"


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_a_measure_is_described(kind):
    assert re.search(rf"^\| .*`{kind}(@k)?`", page("measures.md"), re.MULTILINE)
    assert re.search(rf'"{kind}(@\d+)?"', get_measure.__doc__)


@pytest.mark.parametrize("form", Format)
def test_a_format_is_described(form):
    listed = inspect.get_annotations(export.run, eval_str=True)["to"].__metadata__[0].help
    assert form in re.findall(r"[\w-]+", listed)
    assert f'"{form}"' in export_model.__doc__
    assert f"`{form}`" in page("serving.md")


@pytest.mark.parametrize("kind", ColumnKind)
def test_what_a_column_can_become_is_described(kind):
    assert f'`"{kind}"`' in page("columns.md")
    assert f'"{kind}"' in ColumnEncoder.__doc__
    with pytest.raises(ParameterError, match=rf"\b{kind}\b"):
        spec_of("unknown")


@pytest.mark.parametrize("code", get_args(Code))
def test_a_code_can_be_stored_and_is_checked_when_read(code):
    assert code in stored._WORDS
    assert code in stored._CHECKS


@pytest.mark.parametrize("shape", [shape for shape in get_args(Shape) if shape is not Line])
def test_a_shape_that_weights_cannot_express_has_a_name(shape):
    assert shape in weights._WORDS
