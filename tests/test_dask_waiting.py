"""Waiting for a cluster ends: what nobody works on is submitted again, and then there is a sentence."""

import asyncio
import logging
import os
import random
import signal
import time
from functools import partial
from threading import Thread

import numpy as np
import pytest

import killed
from cluster import client, cluster, data, files, fitted, forked_workers, processes
from rankwise import RankRLS

distributed = pytest.importorskip("distributed")

import killed_workers  # noqa: E402
from rankwise.dask import ClusterError, DistributedData, waiting  # noqa: E402
from rankwise.dask.workers import WorkerParts, attempt  # noqa: E402

__all__ = ["client", "cluster", "data", "files", "forked_workers"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

NOBODY = "tcp://127.0.0.1:1"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(waiting, "WITHOUT_PROGRESS", 0.2)
    monkeypatch.setattr(waiting, "LOOK_AFTER", 0.05)


@pytest.fixture
def small():
    """The client of a cluster in this process, which has no worker until it is told to."""
    with (
        distributed.LocalCluster(
            n_workers=0,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client


def start_worker(client):
    client.cluster.scale(1)
    client.wait_for_workers(1)
    return next(iter(client.nthreads()))


def within(seconds, do):
    """The result of a call that must end; the thread of one that hangs is left behind."""
    ended = []
    thread = Thread(target=lambda: ended.append(do()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert ended, f"It has not ended within {seconds} s."
    return ended[0]


def until(is_so):
    deadline = time.monotonic() + 60.0
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def states(scheduler):
    return [task.state for task in list(scheduler.tasks.values())]


def doubled(part):
    return 2 * part


RUNS = []


def slowly_doubled(part):
    RUNS.append(part)
    time.sleep(0.5)
    return 2 * part


def test_workers_killed_while_they_read_are_replaced_by_those_that_join(cluster, client, files):
    expected = fitted(DistributedData.from_files(files, merge_queries=True)).coef_
    both, calls = list(processes(client).values()), []
    for process in both:
        os.kill(process, signal.SIGSTOP)  # no part is read before the kill

    def fit():
        read = DistributedData.from_files(files, merge_queries=True, progress=lambda *of: calls.append(of))
        return fitted(read).coef_

    def kill():
        until(lambda: states(cluster.scheduler).count("processing") == 6)
        for process in both:
            os.kill(process, signal.SIGKILL)

    killing = Thread(target=kill)
    killing.start()
    np.testing.assert_array_equal(within(60.0, fit), expected)
    killing.join()
    assert calls == sorted(calls)
    assert calls[-1] == (6, 6)


@pytest.fixture
def put_aside(small):
    """Parts that are meant for a worker that is gone, submitted before one joins that would do."""
    near = iter([NOBODY, NOBODY])

    def make(part):
        wanted = {"workers": [address], "allow_other_workers": True} if (address := next(near, None)) else {}
        return small.submit(attempt, int, part, pure=False, **wanted)

    parts = WorkerParts(small, make, ["a", "b"])
    until(lambda: states(small.cluster.scheduler) == ["no-worker"] * 2)
    start_worker(small)
    return parts


def test_tasks_meant_for_a_lost_worker_are_submitted_again(put_aside):
    assert within(30.0, lambda: put_aside.each(doubled)) == [0, 2]


def test_so_are_those_from_which_parts_are_derived(put_aside):
    derived = put_aside.chosen([1]).derived(doubled)
    assert within(30.0, lambda: derived.each(doubled)) == [4]


def test_work_that_nobody_takes_is_a_sentence_that_names_parts_and_workers(small):
    address = start_worker(small)

    def make(part):
        return small.submit(attempt, int, part, pure=False, workers=[NOBODY] if part else None)

    parts = WorkerParts(small, make, ["a.txt", "b.txt"])
    small.log_event("all", "a text of the user's")

    def refusal():
        with pytest.raises(ClusterError) as raised:
            parts.each(doubled)
        return str(raised.value)

    assert within(30.0, refusal) == (
        f"In 5 attempts, no worker took up b.txt within 0.2 s. The workers of the cluster are {address}; it "
        f"has lost none. Start others, or restart those that lack memory, and try again."
    )


def test_work_that_dask_cancels_is_done_again(small):
    left = [True, False]

    async def cancelled_once():
        if left.pop(0):
            raise asyncio.CancelledError
        return "done"

    def wait():
        return small.sync(waiting.watched, small, cancelled_once(), list, str)

    assert waiting.insisted(small, wait) == "done"


def test_slow_work_is_left_alone_also_that_of_the_user(small):
    start_worker(small)
    RUNS.clear()
    given = small.submit(slowly_doubled, 1, pure=False)
    parts = WorkerParts(small, lambda part: small.submit(attempt, slowly_doubled, given, pure=False), ["a"])
    assert within(30.0, lambda: parts.each(slowly_doubled)) == [8]
    assert RUNS == [1, 2, 4]


def test_rows_are_sent_again_if_the_worker_went_before_they_came(small, data, monkeypatch):
    address = start_worker(small)
    known = iter([[NOBODY], [address]])
    monkeypatch.setattr("rankwise.dask.data.living_workers", lambda client: next(known))
    assert DistributedData.from_data(data, 1, client=small).n_rows == data.n_rows


def test_workers_that_die_of_a_part_are_named(cluster, client, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    parts = WorkerParts(client, lambda part: client.submit(os._exit, 1, pure=False), ["a"])
    with pytest.raises(ClusterError, match=r"Several workers died .* on the same part of the data; .*tcp://"):
        parts.each(doubled)


def test_a_scheduler_that_does_not_answer_is_a_sentence(small, monkeypatch):
    start_worker(small)
    monkeypatch.setattr(waiting, "WITHOUT_ANSWER", 0.1)
    parts = WorkerParts(small, lambda part: small.submit(int, part, pure=False), ["a"])
    assert parts.each(doubled) == [0]
    monkeypatch.setattr(small, "nthreads", lambda: asyncio.sleep(60.0))
    with pytest.raises(ClusterError, match=r"has not answered for 0\.1 s"):
        parts.each(slowly_doubled)


def test_a_scheduler_that_is_lost_is_a_sentence(small):
    start_worker(small)
    parts = WorkerParts(small, lambda part: small.submit(int, part, pure=False), ["a"])
    small.close()  # as Dask does
    with pytest.raises(ClusterError, match="connection to the cluster's scheduler was lost"):
        parts.each(doubled)


def test_a_round_of_kills_ends_with_the_same_bits(cluster, client, files):
    work = killed_workers.Work.of(
        partial(DistributedData.from_files, files, merge_queries=True, client=client),
        RankRLS(solver="cg", tol=1e-2),
    )
    dealt, attempt = killed_workers.play(work, cluster, random.Random(1))
    tally = killed.Tally()
    assert killed_workers.judge(work, attempt, cluster.scheduler, tally) == "recovered"
    assert dealt
    assert not tally.violations
