"""What the comparisons share: sides timed in alternation, rows of the table, and which peers are missing.

Times are CPU seconds on one thread. On a shared machine, the wall time of a long run grows with the load of
others and that of a short run does not, which would make ratios meaningless; several threads would also wait
for each other, some of them by spinning.
"""

from __future__ import annotations

import importlib.util
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import timing
from benchmarks.tables import Table
from rankwise import config_context

# After this many seconds a comparison starts no further round; every side has run at least once.
SECONDS_PER_JOB = 5.0
MAX_ROUNDS = 5
# A side shorter than this is run several times per round: one short run says little on a busy machine.
SECONDS_PER_TURN = 0.2


def cpu_seconds() -> float:
    """The CPU time of this process and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@contextmanager
def one_thread() -> Iterator[None]:
    with threadpool_limits(1), config_context(n_threads=1):
        yield


@dataclass(frozen=True)
class Side:
    """One way to do a job: a name and a function that does it and returns the model."""

    name: str
    fit: Callable[[], Any]
    reached: bool = True  # whether the model is as good as required


@dataclass
class Best:
    """The shortest time of a side, and its model."""

    seconds: float = float("inf")
    model: Any = None


def alternate(sides: Sequence[Side]) -> list[Best]:
    """Run all sides in turn, several times if that is quick enough, and keep the shortest time of each."""
    results = [Best() for _ in sides]
    start = cpu_seconds()
    for number in range(1 if timing.quick else MAX_ROUNDS):
        if number and cpu_seconds() - start > SECONDS_PER_JOB:
            break
        for side, best in zip(sides, results, strict=True):
            take_turn(side, best)
    return results


def take_turn(side: Side, best: Best) -> None:
    turn = cpu_seconds()
    for _ in range(MAX_ROUNDS):
        start = cpu_seconds()
        best.model = side.fit()
        end = cpu_seconds()
        best.seconds = min(best.seconds, end - start)
        if end - turn > SECONDS_PER_TURN:
            return


def compare(table: Table, job: str, ours: Side, peers: Sequence[Side], quality: Callable[[Any], str]) -> None:
    """Add a row for each peer; `quality` judges the models outside the timed region."""
    sides = [ours, *peers]
    add_rows(table, job, sides, alternate(sides), quality)


def add_rows(
    table: Table, job: str, sides: Sequence[Side], results: Sequence[Best], quality: Callable[[Any], str]
) -> None:
    """Add a row for each side but the first, which is named once."""
    first = results[0]
    start = (job, f"{sides[0].name}, {seconds_of(first)}", quality(first.model))
    for peer, best in zip(sides[1:], results[1:], strict=True):
        table.add(*start, *peer_cells(peer, best, first, quality(best.model)))
        start = ("", "", "")


def peer_cells(peer: Side, best: Best, first: Best, quality: str) -> tuple[str, str, str]:
    """The time of a peer, its quality, and the ratio of the times: bold if the peer was faster."""
    ratio = best.seconds / first.seconds
    digits = f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"
    return (
        f"{peer.name}, {seconds_of(best)}",
        quality + ("" if peer.reached else " (not reached)"),
        ("" if peer.reached else "> ") + (f"**{digits}**" if ratio < 1 else digits),
    )


def seconds_of(best: Best) -> str:
    return f"{best.seconds:.2g} s" if best.seconds < 10 else f"{best.seconds:.0f} s"


def comparison(name: str, title: str) -> Table:
    """An empty table of comparisons."""
    timing.header(title)
    return Table(name, "job", "rankwise", "quality", "peer", "quality", "peer / rankwise")


def first_to_reach(
    settings: Iterable[Any], fit: Callable[[Any], Any], value: Callable[[Any], float], limit: float
) -> tuple[Any, bool]:
    """The first setting whose model has at most this value, or else the one with the least, and which it is.

    This is found before anything is timed, so that no side pays for a search or does more than required.
    """
    tried = []
    for setting in settings:
        tried.append((value(fit(setting)), setting))
        if tried[-1][0] <= limit:
            return setting, True
    return min(tried)[1], False


def is_installed(module: str, package: str) -> bool:
    """Whether a peer can be imported; prints how to install it if not."""
    if importlib.util.find_spec(module) is not None:
        return True
    print(f"{package} is not installed and not compared: pip install {package}, or '.[bench]' for all peers.")
    return False
