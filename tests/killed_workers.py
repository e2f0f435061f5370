"""Kill the workers of a Dask cluster at random moments of a fit; ``make kills`` runs this file for long.

Every fit ends in time: with the very bits of one that was left alone, or with a sentence. The nannies of a
cluster start killed workers again, at other addresses.
"""

import argparse
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread

import distributed
import numpy as np
from distributed.core import Status

from cluster import forking
from killed import POLL_SECONDS, Tally, header, verdict
from rankwise import RankRLS, RankRLSCV, RankSVM, make_search_data, save_letor
from rankwise.dask import ClusterError, DistributedData, waiting

WORKERS, PARTS = 2, 6
# Seconds that a round may take, those that a fit waits for progress, and the most between two blows.
MOST_SECONDS = 90.0
WITHOUT_PROGRESS = 2.0
BETWEEN_BLOWS = 2.0
ENDINGS = ("recovered", "refused", "hung")

MODELS = {
    "closed form": RankRLS(solver="primal"),
    "CG": RankRLS(solver="cg", tol=1e-4),
    "leave out": RankRLSCV(),
    "hinge": RankSVM(0.1, tol=0.1),
    "squared hinge": RankSVM(0.1, loss="squared_hinge", tol=0.01),
}
# How many workers each blow kills.
BLOWS = ((1,), (2,), (1, 1), (2, 2), (1, 2, 1))


@dataclass(frozen=True)
class Work:
    """Something that workers do, and what it does alone: its result, and the seconds to read and to end."""

    read: Callable[[], DistributedData]
    model: object
    coef: np.ndarray
    reads: float
    ends: float

    @classmethod
    def of(cls, read, model):
        begun = time.monotonic()
        data = read()
        reads = time.monotonic() - begun
        return cls(read, model, model.fit(data).coef_, reads, time.monotonic() - begun)

    def do(self):
        return self.model.fit(self.read()).coef_


class Attempt(Thread):
    """Work in a thread of its own, because nothing can stop one that hangs."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self.work, self.coef, self.error = work, None, None

    def run(self):
        try:
            self.coef = self.work.do()
        except Exception as error:  # noqa: BLE001
            self.error = error


def strike(cluster, n_workers, dice):
    """Kill some workers, though none that is being started: its nanny would give up."""
    processes = [nanny.process for nanny in cluster.workers.values()]
    alive = [process.pid for process in processes if process and process.status is Status.running]
    chosen = dice.sample(alive, min(n_workers, len(alive)))
    for pid in chosen:
        with suppress(ProcessLookupError):  # gone, and not yet missed
            os.kill(pid, signal.SIGKILL)
    return len(chosen)


def play(work, cluster, dice):
    """Strike work until it ends; return how many workers each blow killed, and the attempt, which may hang.

    Half of the first blows come while the data is read, and others as soon as there is a worker again.
    """
    while True:
        first = dice.uniform(0.0, work.reads if dice.random() < 0.5 else work.ends)
        attempt, ends, dealt = Attempt(work), time.monotonic() + MOST_SECONDS, []
        attempt.start()
        for number, n_workers in enumerate(dice.choice(BLOWS)):
            attempt.join(dice.uniform(0.0, BETWEEN_BLOWS) if number else first)
            hits = 0
            while not hits and attempt.is_alive() and time.monotonic() < ends:
                hits = strike(cluster, n_workers, dice)
                time.sleep(POLL_SECONDS)
            dealt += [hits] * (hits > 0)
        attempt.join(max(0.0, ends - time.monotonic()))
        if dealt:  # otherwise it ended before the first blow
            return dealt, attempt


def judge(work, attempt, scheduler, tally):
    """How an attempt ended."""
    if attempt.is_alive():
        ending, said = "hung", states(scheduler)
        tally.check(False, said)
    elif attempt.error is not None:
        ending, said = "refused", f"{type(attempt.error).__name__}: {attempt.error}"
        tally.check(isinstance(attempt.error, ClusterError), said)
    else:
        ending, said = "recovered", ""
        tally.check(np.array_equal(attempt.coef, work.coef), "other bits")
    tally.hits[ending] += 1
    return f"{ending} {said}".rstrip()


def states(scheduler):
    """The tasks by their state, for whoever looks for the cause of a hang."""
    kinds = Counter()
    for task in list(scheduler.tasks.values()):
        lost = set(task.worker_restrictions or ()) - set(scheduler.workers)
        kinds[f"{task.prefix.name} {task.state}{', meant for a lost worker' if lost else ''}"] += 1
    return "; ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


@contextmanager
def started():
    settings = {
        "distributed.deploy.lost-worker-timeout": "1 hour",  # do not close a nanny in the middle of a restart
        "logging.distributed": "critical",
    }
    with (
        forking(**settings),
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as made,
        distributed.Client(made) as client,
    ):
        yield made, client


def works(folder, client):
    """Every model on files and on rows of the client."""
    rows = make_search_data(24, random_state=0)
    mixed = rows.select(np.random.default_rng(0).permutation(rows.n_rows))
    ends = np.linspace(0, rows.n_rows, PARTS + 1).astype(int)
    for part in range(PARTS):
        save_letor(mixed.select(slice(ends[part], ends[part + 1])), Path(folder, f"part-{part}.txt"))
    pattern = Path(folder, "part-*.txt")
    sources = {
        "files": partial(DistributedData.from_files, pattern, merge_queries=True, client=client),
        "memory": partial(DistributedData.from_data, mixed, PARTS, client=client),
    }
    for read in sources.values():
        read()  # workers import what they need
    return {
        (name, source): Work.of(read, model)
        for name, model in MODELS.items()
        for source, read in sources.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{options.rounds} rounds, seed {options.seed}", flush=True)
    waiting.WITHOUT_PROGRESS = WITHOUT_PROGRESS
    tallies = {name: Tally() for name in MODELS}
    with tempfile.TemporaryDirectory() as folder, started() as (cluster, client):
        known = works(folder, client)
        for number in range(options.rounds):
            dice = random.Random(f"{options.seed} {number}")
            name, source = list(known)[number % len(known)]
            client.wait_for_workers(WORKERS, timeout=MOST_SECONDS)
            begun = time.monotonic()
            dealt, attempt = play(known[name, source], cluster, dice)
            ending = judge(known[name, source], attempt, cluster.scheduler, tallies[name])
            blows = " then ".join(map(str, dealt))
            took = time.monotonic() - begun
            print(f"{number}: {name}, {source}, killed {blows}: {ending} ({took:.1f} s)", flush=True)
            if attempt.is_alive():
                verdict(tallies)
                os._exit(1)  # the cluster cannot be closed
    print(header("rounds", ENDINGS))
    for name, tally in tallies.items():
        print(tally.row(name, ENDINGS))
    return verdict(tallies)


if __name__ == "__main__":
    sys.exit(main())
