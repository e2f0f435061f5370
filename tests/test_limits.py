"""At a limit of the system, work ends with one sentence, and what was there before is still there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "limited.py"
WORKS = ["save", "convert", "predict", "train"]

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")


def ends(folder, *arguments, through=()):
    """The lines that `limited.py` prints, in words."""
    command = [*through, sys.executable, SCRIPT, *arguments]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "RANKWISE_NUM_THREADS": "2"}
    run = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    return [line.split(maxsplit=3) for line in run.stdout.splitlines()]


def test_where_files_may_not_grow_the_old_version_stays_and_nothing_beside_it(tmp_path):
    attempts = ends(tmp_path, "disk", *WORKS)
    assert len(attempts) == 3 * len(WORKS)
    for place, *end in attempts:
        assert end == ["3", "old", "0"], place


def test_on_a_full_disk_the_old_version_stays_and_nothing_beside_it(tmp_path):
    private = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare to mount a small disk with")
    # Who is root in there may be unable to start this interpreter.
    attempt = ["sh", "-c", 'mount -t tmpfs tmpfs "$1" && "$2" -c ""', "sh", tmp_path, sys.executable]
    trial = subprocess.run([*private, *attempt], capture_output=True, encoding="utf-8")
    if trial.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {trial.stderr.strip()}")
    attempts = ends(tmp_path, "tmpfs", *WORKS, through=private)
    assert len(attempts) == 2 * len(WORKS)
    for place, *end in attempts:
        assert end == ["3", "old", "0"], place


def test_too_little_memory_is_a_sentence(tmp_path):
    attempts = ends(tmp_path, "memory")
    for _, code, n_temporary, said in attempts:
        assert n_temporary == "0"
        if code == "0":
            assert said == "nothing"
            continue
        assert (code, said[:36], said[-2:]) == ("1", "rankwise: error: not enough memory (", ").")
    outcomes = [(megabytes, code) for megabytes, code, *_ in attempts]
    assert outcomes.count(("0", "1")) >= 4
    assert ("16", "0") in outcomes
