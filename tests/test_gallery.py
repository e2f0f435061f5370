"""Every example of the gallery runs without warnings and draws something."""

import runpy
import warnings
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples" / "gallery").glob("*/*.py"))


@pytest.fixture
def pyplot(monkeypatch):
    pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda: None)
    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_what_it_learned(path, pyplot):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        runpy.run_path(str(path))
    assert any(figure.axes for figure in map(pyplot.figure, pyplot.get_fignums()))


def test_there_is_an_example_for_each_thing_worth_seeing():
    assert len(EXAMPLES) >= 12
