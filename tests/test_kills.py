"""A process killed at any moment leaves a whole file, old or new; `make kills` does this for longer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_leaves_one_whole_version_and_work_started_again_ends_with_the_same_bits():
    command = [sys.executable, HERE / "killed.py", "--kills", "10", "--seed", "0"]
    run = subprocess.run(
        command, capture_output=True, encoding="utf-8", env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    )
    assert run.returncode == 0, run.stdout + run.stderr
    rows = [line.split() for line in run.stdout.splitlines()[1:]]
    assert sum(int(kills) for _, kills, *_ in rows) == 10
    assert {violations for *_, violations in rows} == {"0"}
