"""Kill work at random moments and check what it leaves; ``make kills`` runs this file for long.

After every kill, the work's place holds one version, complete: the old or the new. Started again, which may
mean resuming from a checkpoint, the work writes the very bytes of a run that was never killed, and no
temporary file remains.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field

from works import WORKS, prepare

# Kills in a row before the work may finish; a checkpoint may be of a run that was itself resumed.
MOST_IN_A_ROW = 3
POLL_SECONDS = 0.0005
HITS = ("before", "while", "after")


@dataclass
class Tally:
    """The kills of one kind of work, by what they hit, and whatever broke a promise."""

    hits: Counter = field(default_factory=Counter)
    violations: list = field(default_factory=list)

    @property
    def kills(self):
        return self.hits.total()

    def check(self, kept, promise):
        if not kept:
            self.violations.append(promise)

    def row(self, name, hits):
        counts = "".join(f"{self.hits[hit]:10}" for hit in hits)
        return f"{name:14}{self.kills:8}{counts}{len(self.violations):12}"


def header(kills, hits):
    return f"{'':14}{kills:>8}{''.join(f'{hit:>10}' for hit in hits)}{'violations':>12}"


def verdict(tallies):
    """Say what broke a promise; return the exit code."""
    for name, tally in tallies.items():
        for violation in tally.violations:
            print(f"{name}: {violation}", file=sys.stderr)
    return int(any(tally.violations for tally in tallies.values()))


def in_child(do, *arguments):
    """Start a function in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            do(*arguments)
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(1)
    return child


def exit_code(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@dataclass(frozen=True)
class Moments:
    """The seconds that the work takes, and those from its first temporary file on, without a kill."""

    writes: float
    ends: float

    @classmethod
    def of(cls, work):
        work.restore_old()
        start = time.monotonic()
        child = in_child(work.do, "new")
        begun = None
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            time.sleep(POLL_SECONDS)
            if begun is None and work.temporaries():
                begun = time.monotonic()
        ended = time.monotonic()
        return cls(ended - (begun or start), ended - start)


def kill_once(work, moments, dice, tally):
    """Kill the work; return whether the kill came before its end.

    Half of the moments are spread over the whole run. Writing is short, so the other half are counted from
    the first temporary file.
    """
    from_writing = dice.random() < 0.5
    child, ended = in_child(work.do, "new"), False
    while from_writing and not ended and not work.temporaries():
        time.sleep(POLL_SECONDS)
        ended = os.waitpid(child, os.WNOHANG)[0] != 0
    deadline = time.monotonic() + dice.uniform(0.0, moments.writes if from_writing else moments.ends)
    while not ended and (left := deadline - time.monotonic()) > 0.0:
        if work.read is None:
            time.sleep(left)
        else:
            tally.check((seen := work.read()) in ("old", "new"), f"a reader saw {seen}")
    if ended:
        return False
    os.kill(child, signal.SIGKILL)  # it was not waited for, so its number is still its own
    return exit_code(child) == -signal.SIGKILL


def kill_often(work, n_kills, dice):
    """Kill the work so many times, up to `MOST_IN_A_ROW` times before it may finish."""
    tally, moments = Tally(), Moments.of(work)
    while tally.kills < n_kills:
        work.restore_old()
        for _ in range(dice.randint(1, min(MOST_IN_A_ROW, n_kills - tally.kills))):
            killed, left = kill_once(work, moments, dice, tally), work.now()
            if killed:
                hit = "while" if work.temporaries() else "before" if left == "old" else "after"
                tally.hits[hit] += 1
            tally.check(left in ("old", "new"), f"a kill left {left}")
        tally.check(exit_code(in_child(work.do, "new")) == 0, "started again, it failed")
        tally.check(work.now() == "new", f"started again, it left {work.now()}")
        tally.check(not work.temporaries(), f"{work.temporaries()} remained")
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=300, help="in total, over all kinds of work")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tallies = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare(WORKS)
        print(header("kills", HITS))
        for number, (name, work) in enumerate(WORKS.items(), start=1):
            share = options.kills * number // len(WORKS) - options.kills * (number - 1) // len(WORKS)
            tallies[name] = tally = kill_often(work, share, random.Random(f"{options.seed} {name}"))
            print(tally.row(name, HITS), flush=True)
    return verdict(tallies)


if __name__ == "__main__":
    sys.exit(main())
