"""The call flows of docs/architecture.md are those that a trace shows."""

import re
from pathlib import Path

import pytest
from house import journeys

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "rankwise"
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


def test_every_file_that_the_page_names_exists():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:native|tests|src)/[\w/]+\.\w+|\w+/[\w/]+\.py)`", page))
    assert len(named) > 50
    assert not [file for file in named if not (PACKAGE / file).exists() and not (ROOT / file).exists()]
