"""Times of alternatives, measured in turns so that noise affects all of them equally."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

# With --quick, data are smaller by this factor; targets are meant for the full sizes.
QUICK_SHARE = 20
quick = False


def sized(n: int) -> int:
    """A number of rows: n, or with --quick a fraction of it."""
    return max(100, n // QUICK_SHARE) if quick else n


def real_data() -> Path | None:
    """The folder of real data sets, absent from a user's clone; prints a note if it is missing."""
    default = Path(__file__).parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("RANKWISE_SHARED", default))
    if folder.is_dir():
        return folder
    print("The real data sets are left out: RANKWISE_SHARED does not name their folder.")
    return None


def best_times(
    alternatives: dict[str, Callable[[], object]],
    repeats: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Best time in seconds of each alternative, over alternating runs; wall time by default."""
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
