"""Every saved input of the fuzz targets is still refused in a sentence or read as something valid.

The corpus holds seeds (``python -m fuzz.seeds``), inputs that reached new code and inputs that once failed.
"""

import pytest
from fuzz.corpus import CORPUS, inputs_of
from fuzz.targets import TARGETS, run


def test_every_target_has_inputs():
    assert {folder.name for folder in CORPUS.iterdir()} == set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_saved_inputs_are_read_or_refused(target, tmp_path, little_memory):
    for path in inputs_of(target):
        try:
            run(target, path.read_bytes(), tmp_path)
        except Exception as error:
            raise AssertionError(f"{path.relative_to(CORPUS)}: {error!r}") from error
