"""The call flows of docs/architecture.md are those that a trace shows."""

import ast
import re
from pathlib import Path

import pytest
from house import journeys

import rankwise

ROOT = Path(__file__).parent.parent
PACKAGE = Path(rankwise.__file__).parent  # where it is installed, which is elsewhere for a wheel
TRACED = ["RankRLS.fit", "RankRLSCV.fit", "RankSVM.fit", "predict"]


def files_on_the_page(journey: str) -> list[str]:
    """The files that a section of call flow names, in order, each once."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^`{re.escape(journey)}`\n\n(.*?)\n\n", page, flags=re.MULTILINE | re.DOTALL)
    return list(dict.fromkeys(re.findall(r"`(\w+/[\w/]+\.py)`", section)))


@pytest.mark.parametrize("journey", TRACED)
def test_a_journey_enters_the_files_of_its_call_flow_in_order(tmp_path, journey):
    run = journeys.journeys(tmp_path)[journey]
    run()  # so that nothing is imported on the way
    entered = journeys.trace(run, PACKAGE)
    named = files_on_the_page(journey)
    assert len(named) >= 4
    assert [file for file in entered if file in named] == named


def find(file: str) -> Path | None:
    return next((root / file for root in (PACKAGE, ROOT, ROOT / "src") if (root / file).exists()), None)


@pytest.mark.parametrize(("page", "least"), [("docs/architecture.md", 100), ("CONTRIBUTING.md", 40)])
def test_every_file_that_a_page_for_developers_names_exists(page, least):
    named = set(re.findall(r"`([\w-]+/[\w/.-]*\w+\.\w+)`", (ROOT / page).read_text(encoding="utf-8")))
    assert len(named) > least
    assert not [file for file in named if find(file) is None]


def test_what_the_page_finds_in_a_file_is_defined_there():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)` `([\w.]+)`", page)
    assert len(named) > 40
    for file, name in named:
        tree = ast.parse(find(file).read_text(encoding="utf-8"))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        assert set(name.split(".")) <= defined, f"{file} {name}"
