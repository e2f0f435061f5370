"""Model files of earlier versions load and score as they did, or are rejected with one sentence.

`tests/golden/write.py` writes the files of the current schema; those of earlier schemas, and those called
``first``, were written by the versions that had them and by the first version with theirs.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

import rankwise
from golden.write import rows_of
from rankwise.cli.reading import load_model as load_for_command
from rankwise.errors import FileFormatError
from rankwise.model.schemas import SCHEMAS
from rankwise.tensor_file import SCHEMA

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*/*.safetensors"))


def class_of(path):
    return path.stem.partition("-")[0]


def schema_of(path):
    return int(path.parent.name.split("-")[1])


def expected_of(path):
    return json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))[path.stem]


def name_of(path):
    return f"{path.parent.name}/{path.stem}"


READABLE = [path for path in FILES if "rejected" not in expected_of(path)]
REJECTED = [path for path in FILES if "rejected" in expected_of(path)]


@pytest.mark.parametrize("path", READABLE, ids=name_of)
def test_a_model_of_an_earlier_version_scores_as_it_did(path):
    expected = expected_of(path)
    rows = rows_of(expected["rows"])
    model = rankwise.load_model(path)
    assert type(model).__name__ == class_of(path)
    for scores in (model.predict(rows), load_for_command(path).predict(rows)):
        np.testing.assert_allclose(scores, expected["scores"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("path", REJECTED, ids=name_of)
def test_a_model_that_would_mean_something_else_is_rejected_with_a_sentence(path):
    for load in (rankwise.load_model, load_for_command):
        with pytest.raises(FileFormatError, match=re.escape(expected_of(path)["rejected"])) as refusal:
            load(path)
        assert "\n" not in str(refusal.value)


def test_only_files_of_paths_are_rejected():
    assert {class_of(path) for path in REJECTED} == {"RankSVMPath"}
    assert {path.parent.name for path in FILES if path.stem == "RankSVMPath"} > {"schema-1"}


@pytest.mark.parametrize("path", READABLE, ids=name_of)
def test_a_model_of_an_earlier_version_can_be_saved_again(path, tmp_path):
    expected = expected_of(path)
    rankwise.load_model(path).save(tmp_path / "again")
    again = rankwise.load_model(tmp_path / "again")
    np.testing.assert_allclose(
        again.predict(rows_of(expected["rows"])), expected["scores"], rtol=1e-9, atol=1e-12
    )


def test_every_schema_and_every_class_of_the_current_one_has_a_file():
    assert {schema_of(path) for path in FILES} == set(range(1, SCHEMA + 1))
    assert {class_of(path) for path in FILES if schema_of(path) == SCHEMA} == set(SCHEMAS), (
        "run python tests/golden/write.py and commit what it writes"
    )


def test_files_are_small_and_hold_what_their_names_say():
    for path in FILES:
        assert path.stat().st_size < 20_000, path
        with safe_open(path, framework="numpy") as file:
            header = json.loads(file.metadata()["rankwise"])
        assert (header["schema"], header["class"]) == (schema_of(path), class_of(path))
