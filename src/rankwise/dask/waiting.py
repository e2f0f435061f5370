"""Waiting for the work of a cluster, which always ends.

The scheduler repeats the tasks of lost workers, except for one case: a task that is meant for a worker, and
found neither that one nor any other, is put aside (state "no-worker") and not looked at again when workers
join at other addresses. So whoever waits here looks after the tasks. As long as a worker has one, all is
well, however long it takes. If no worker has had any for `WITHOUT_PROGRESS` seconds, they are cancelled and
submitted again, to workers that are there; after `TRIES` attempts, that is an error.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from distributed import Client, Future

from rankwise.errors import RankwiseError

T = TypeVar("T")

# Seconds without any worker after which waiting ends with an error.
WITHOUT_WORKERS = 30.0
# Seconds in which there are workers, but none has a task that is waited for; then it is submitted again.
WITHOUT_PROGRESS = 10.0
# Seconds without an answer of the scheduler after which it counts as lost; Dask grants its workers as many.
WITHOUT_ANSWER = 300.0
# Seconds between two looks at the cluster, and before another attempt.
LOOK_AFTER = 1.0
# How often work that gets lost is tried.
TRIES = 5
# How many workers or parts a message names.
MOST_LISTED = 4


class ClusterError(RankwiseError):
    """The cluster cannot finish the work: it has no workers, keeps losing them, or does not respond.

    See Also
    --------
    DistributedData : Rows on the workers of a cluster.

    Examples
    --------
    >>> from rankwise import RankwiseError
    >>> from rankwise.dask import ClusterError
    >>> issubclass(ClusterError, RankwiseError)
    True
    """


class LostWorkError(Exception):
    """Work has to be submitted again."""

    def __init__(self, why: str = "workers were lost during the work") -> None:
        super().__init__(why)


def insisted(client: Client, do: Callable[[], T]) -> T:
    """The result of something that is done again if its work is lost."""
    why = LostWorkError()
    for _ in range(TRIES):
        if client.status == "closed":  # as Dask leaves it when the scheduler does not come back
            raise ClusterError("The connection to the cluster's scheduler was lost; connect again.")
        try:
            return do()
        except LostWorkError as error:
            why = error
        except (CancelledError, OSError):
            # A part that came from this process is gone with its worker, or the worker went while data was on
            # its way.
            why = LostWorkError()
        time.sleep(LOOK_AFTER)
    present, events = living_workers(client), [event for _, event in client.get_events("all")]
    # Users may log whatever they like beside the events of Dask.
    told = [event for event in events if isinstance(event, dict) and event.get("action") == "remove-worker"]
    lost = sorted({event["worker"] for event in told})
    raise ClusterError(
        f"In {TRIES} attempts, {why}. The workers of the cluster are {listed(present)}; it has lost "
        f"{listed(lost) or 'none'}. Start others, or restart those that lack memory, and try again."
    )


async def watched(
    client: Client,
    work: Coroutine[Any, Any, T],
    unfinished: Callable[[], Sequence[Future]],
    behind: Callable[[], str],
) -> T:
    """The result of waiting for tasks.

    Parameters
    ----------
    client : Client
    work : coroutine
        What waits.
    unfinished : callable
        Returns the tasks that are still to be done; raises `LostWorkError` if one is gone.
    behind : callable
        Names what they are to bring.

    Raises
    ------
    LostWorkError
        No worker had any of the tasks for `WITHOUT_PROGRESS` seconds, and they have been cancelled.
    """
    with client.as_current():  # `wait` asks the current client, whatever the tasks belong to
        waiting = asyncio.ensure_future(work)
    last_progress = time.monotonic()
    try:
        while not (await asyncio.wait({waiting}, timeout=LOOK_AFTER))[0]:
            try:
                workers, idle = await asyncio.wait_for(_look(client, unfinished()), WITHOUT_ANSWER)
            except TimeoutError:
                raise ClusterError(
                    f"The scheduler of the cluster has not answered for {WITHOUT_ANSWER:g} s."
                ) from None
            if workers and not idle:
                last_progress = time.monotonic()
            without = time.monotonic() - last_progress
            if not workers and without > WITHOUT_WORKERS:
                raise _no_workers()
            if workers and without > WITHOUT_PROGRESS:
                stopped = LostWorkError(f"no worker took up {behind()} within {WITHOUT_PROGRESS:g} s")
                await client.cancel(idle)
                raise stopped
        if waiting.cancelled():  # by Dask, with the worker; `client.sync` would lose such an exception
            raise LostWorkError()
        return waiting.result()
    finally:
        waiting.cancel()


async def _look(client: Client, tasks: Sequence[Future]) -> tuple[list[str], list[Future]]:
    """The workers, and the tasks that none of them has, unless these can be expected to go on."""
    workers = list(await client.nthreads())
    states = await client.scheduler.get_task_status(keys=[task.key for task in tasks])
    # A task that the scheduler does not know is on its way to it: what it is to work on may be large.
    idle = [task for task in tasks if states[task.key] not in ("processing", None)]
    if "no-worker" in states.values():
        return workers, idle
    # A task may wait for one of the user's, as for a piece of a dask DataFrame, or for other people's to end.
    if len(idle) < len(tasks) or any((await client.processing()).values()):
        return workers, []
    return workers, idle


def living_workers(client: Client) -> list[str]:
    """The addresses of the workers of a cluster, in a fixed order."""
    deadline = time.monotonic() + WITHOUT_WORKERS
    while not (found := client.nthreads()):
        if time.monotonic() > deadline:
            raise _no_workers()
        time.sleep(LOOK_AFTER / 10)
    return sorted(found)


def _no_workers() -> ClusterError:
    return ClusterError(
        f"The cluster has had no workers for {WITHOUT_WORKERS:g} s; start some and try again."
    )


def listed(names: Sequence[str]) -> str:
    """Names in a message, which stays short."""
    more = [f"{len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else []
    return ", ".join([*names[:MOST_LISTED], *more])
