"""Timing of alternatives in alternation, so that a noisy machine affects all of them equally."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

# With --quick, data is smaller by this factor; targets apply to the full sizes.
QUICK_SHARE = 20
quick = False


def sized(n: int) -> int:
    """The number of rows to use: n, or a fraction of it with --quick."""
    return max(100, n // QUICK_SHARE) if quick else n


def real_data() -> Path | None:
    """The folder of real data sets, which are not in the repository; prints a note if it is missing."""
    default = Path(__file__).parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("RANKWISE_SHARED", default))
    if folder.is_dir():
        return folder
    print("Real data sets are skipped: RANKWISE_SHARED is not set to their folder.")
    return None


def best_times(
    alternatives: dict[str, Callable[[], object]],
    repeats: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Best time in seconds of each alternative over alternating runs; wall time by default."""
    best = dict.fromkeys(alternatives, float("inf"))
    for _ in range(repeats):
        for name, call in alternatives.items():
            start = clock()
            call()
            best[name] = min(best[name], clock() - start)
    return best


def header(title: str) -> None:
    cores = len(os.sched_getaffinity(0))
    size = ", quick: smaller data" if quick else ""
    print(
        f"\n## {title}  (Python {platform.python_version()}, NumPy {np.__version__}, {cores} cores{size})",
        flush=True,
    )
