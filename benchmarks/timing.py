"""Times of alternatives, measured in turns so that a noisy machine disturbs all of them alike."""

import os
import platform
import time
from collections.abc import Callable

import numpy as np


def best_times(alternatives: dict[str, Callable[[], object]], repeats: int = 5) -> dict[str, float]:
    """Best wall time in seconds of each alternative, over alternating runs."""
    best = dict.fromkeys(alternatives, float("inf"))
    for _ in range(repeats):
        for name, call in alternatives.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def header(title: str) -> None:
    cores = len(os.sched_getaffinity(0))
    print(f"\n## {title}  (Python {platform.python_version()}, NumPy {np.__version__}, {cores} cores)")
