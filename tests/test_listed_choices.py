"""Whatever is listed by hand lists every choice: rankers, losses, measures, formats, codes, shapes."""

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

import hinge_ranking
import rankwise
from rankwise import export_model
from rankwise.cli import export
from rankwise.columns import stored
from rankwise.columns.codes import Code
from rankwise.columns.specs import ColumnKind, spec_of
from rankwise.errors import ParameterError
from rankwise.export import weighted_features
from rankwise.export.formats import Format
from rankwise.metrics import KINDS, get_measure
from rankwise.model.schemas import SCHEMAS
from rankwise.rankers.column_encoder import ColumnEncoder
from rankwise.scoring.shapes import Line, Shape
from rankwise.svm.losses import LossName

ROOT = Path(__file__).parent.parent


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("ranker", SCHEMAS)
def test_a_ranker_is_described_and_tried_wherever_one_of_each_is(ranker):
    assert re.search(rf"^\| `[^|]*\b{ranker}`", page("rankers.md"), re.MULTILINE)
    for file in ("tests/golden/write.py", "house/fits.py", "fuzz/seeds.py"):
        assert f"rankwise.{ranker}(" in (ROOT / file).read_text(encoding="utf-8"), file


@pytest.mark.parametrize("ranker", SCHEMAS)
def test_a_ranker_is_tried_with_the_checks_of_scikit_learn(ranker):
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("test_*.py")]
    assert any("@parametrize_with_checks" in text and re.search(rf"\b{ranker}[()]", text) for text in tests)


@pytest.mark.parametrize("loss", LossName)
def test_a_loss_is_described_and_tried(loss):
    assert loss in hinge_ranking.LOSSES
    for ranker in (rankwise.RankSVM, rankwise.RankSVMCV):
        (choices,) = re.findall(r"loss : (\{.*?\})", ranker.__doc__)
        assert f'"{loss}"' in choices


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
    assert shape in weighted_features._WORDS
