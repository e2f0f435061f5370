"""Rates of the release gate by simulation: how often rankers pass that are equal, or worse by the margin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import show
from benchmarks.timing import header, sized
from rankwise.metrics.noninferiority import Verdict, non_inferiority

MARGIN = 0.005
# Differences of queries with a mean of 0; those of the last kind are 0 but for rare losses.
Draw = Callable[[np.random.Generator, int], NDArray]
KINDS: dict[str, Draw] = {
    "normal, standard deviation 0.1": lambda rng, n: rng.normal(0.0, 0.1, n),
    "9 in 10 queries equal, the others ±0.3": lambda rng, n: np.where(
        rng.random(n) < 0.1, rng.choice([-0.3, 0.3], n), 0.0
    ),
    "skewed: exponential losses, standard deviation 0.1": lambda rng, n: 0.1 - rng.exponential(0.1, n),
}


def run() -> None:
    header("The release gate, margin 0.005, by simulation")
    rows = []
    for kind, draw in KINDS.items():
        for n in (100, 1_000, 5_000):
            equal = _rates(lambda rng, draw=draw, n=n: draw(rng, n))
            worse = _rates(lambda rng, draw=draw, n=n: draw(rng, n) - MARGIN)
            much = _rates(lambda rng, draw=draw, n=n: draw(rng, n) - 3.0 * MARGIN)
            rows.append((kind, f"{n:,}", *map(_percent, (worse[0], equal[0], much[1]))))
    for n in (100, 1_000, 5_000):
        rare = _rates(lambda rng, n=n: -1.0 * (rng.random(n) < MARGIN))
        rows.append(("1 query in 200 loses all", f"{n:,}", _percent(rare[0]), "", ""))
    columns = ["differences of queries", "queries", "worse by the margin: passes", "equal: passes"]
    show("gate-rates", [*columns, "worse by 3 margins: fails"], rows)


def _rates(draw: Callable[[np.random.Generator], NDArray]) -> tuple[float, float]:
    """How often a ranker passes, and how often it fails."""
    rng = np.random.default_rng(0)
    verdicts = [non_inferiority(draw(rng), MARGIN).verdict for _ in range(sized(2_000))]
    return tuple(float(np.mean([v is kind for v in verdicts])) for kind in (Verdict.NOT_WORSE, Verdict.WORSE))


def _percent(share: float) -> str:
    return f"{share:.1%}"
