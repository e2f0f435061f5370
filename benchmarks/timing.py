"""Times of alternatives, measured in turns so that a noisy machine disturbs all of them alike."""

import os
import platform
import time
from collections.abc import Callable

import numpy as np


def best_times(
    alternatives: dict[str, Callable[[], object]],
    repeats: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Best time in seconds of each alternative, over alternating runs; wall time unless said otherwise."""
    best = dict.fromkeys(alternatives, float("inf"))
    for _ in range(repeats):
        for name, call in alternatives.items():
            start = clock()
            call()
            best[name] = min(best[name], clock() - start)
    return best


def header(title: str) -> None:
    cores = len(os.sched_getaffinity(0))
    print(f"\n## {title}  (Python {platform.python_version()}, NumPy {np.__version__}, {cores} cores)")
