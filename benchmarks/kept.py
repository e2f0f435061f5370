"""Results of long benchmarks, kept on disk, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import timing

FOLDER = Path(__file__).parent.parent / "build-kept"
# The values of the test queries, and the seconds that training took.
Result = tuple[NDArray, float]


def measured_once(name: str, part: str, measure: Callable[[], Result]) -> Result:
    """What `measure` returns or, if an earlier run of the benchmark got that far, what it returned then."""
    if timing.quick:
        return measure()
    path = FOLDER / name / f"{part}.npz"
    if path.exists():
        with np.load(path) as file:
            return file["values"], float(file["seconds"])
    values, seconds = measure()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part.npz")
    np.savez(unfinished, values=values, seconds=seconds)
    unfinished.rename(path)
    return values, seconds


def forget(name: str) -> None:
    """Have the next run measure everything anew."""
    shutil.rmtree(FOLDER / name, ignore_errors=True)
