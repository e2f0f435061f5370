"""Parts held by the workers of a Dask cluster, as futures of `distributed`.

A part is the result of a task, so the scheduler repeats the task elsewhere if its worker is lost. Work on
all parts is one task per worker, which returns a sum for each maximal subtree of the parts that lie there
(`parts.tree`). Nothing is kept on the cluster that the client does not hold a future of: when the client
goes, so do its tasks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any, Self, TypeVar

from distributed import Client, Future, KilledWorker, get_worker, wait

from rankwise.config import config_context
from rankwise.errors import RankwiseError
from rankwise.parts.base import Parts, of_part
from rankwise.parts.tree import Node, joined
from rankwise.threads import map_on_threads, one_blas_thread

T = TypeVar("T")

# How long a pass waits for a worker if there is none at all, and how often it looks, in seconds.
WITHOUT_WORKERS = 30.0
LOOK_AFTER = 1.0
# How often work is tried again after data that the scheduler cannot restore was lost.
TRIES = 5


class ClusterError(RankwiseError):
    """The cluster cannot finish the work: it has no workers, or lost them again and again."""


class Failure:
    """An error of the user's, as a result: distributed would log it with a traceback and retry."""

    def __init__(self, error: RankwiseError) -> None:
        self.error = error


class WorkerParts(Parts):
    """Parts on the workers of a cluster.

    Parameters
    ----------
    client : Client
    make : callable
        Submits the task of a part, given its number, and returns its future.
    n_parts : int
    """

    def __init__(self, client: Client, make: Callable[[int], Future], n_parts: int) -> None:
        self.client, self._make = client, make
        self.futures = [make(part) for part in range(n_parts)]
        self._held: list[list[int]] | None = None
        self._tasks: list[Future] = []

    @property
    def n_parts(self) -> int:
        return len(self.futures)

    def total(self, work: Callable[..., T], *shared: Any, own: Sequence[Any] | None = None) -> T:
        for _ in range(TRIES):
            try:
                self.restore()
                sums: dict[Node, T] = {}
                for found in self._finished(self._submit(work, shared, own)):
                    sums |= found
                (total,) = joined(sums, self.n_parts).values()
                return total
            except (CancelledError, OSError):
                # A part that came from this process is gone with its worker, and has to be sent again, or the
                # worker went while data was on its way.
                self._held = None
                time.sleep(LOOK_AFTER)
        raise ClusterError(f"The cluster lost workers in {TRIES} attempts to work on all parts of the data.")

    def derived(self, work: Callable[..., Any], *shared: Any, own: Sequence[Any] | None = None) -> Self:
        def make(part: int) -> Future:
            self.restore()
            return self.client.submit(
                attempt, work, self.futures[part], *of_part(own, part), *shared, pure=False
            )

        return type(self)(self.client, make, self.n_parts)

    def chosen(self, parts: Sequence[int]) -> Self:
        """Some of the parts."""
        if len(parts) == self.n_parts:
            return self
        return type(self)(self.client, lambda place: self.futures[parts[place]], len(parts))

    def restore(self) -> None:
        """Submit the parts again that the scheduler cannot make by itself."""
        for part, future in enumerate(self.futures):
            if future.status in ("cancelled", "lost"):
                self._held = None
                self.futures[part] = self._make(part)

    def _submit(
        self, work: Callable[..., Any], shared: tuple[Any, ...], own: Sequence[Any] | None
    ) -> list[Future]:
        held = self._placement()
        of_group = [[of_part(own, part) for part in parts] for parts in held]
        futures = [[self.futures[part] for part in parts] for parts in held]
        n, n_parts = len(held), self.n_parts
        # Only now are the tasks of the last pass released: a message that says so, sent just before, would
        # hold up this one, because the client waits 10 ms between two messages.
        self._tasks = self.client.map(
            subtree_sums, held, futures, of_group, [work] * n, [shared] * n, [n_parts] * n, pure=False
        )
        return self._tasks

    def _placement(self) -> list[list[int]]:
        """The parts that each worker holds."""
        if self._held is None:
            self.client.sync(self._wait, self.futures)
            holders = self.client.who_has(self.futures)
            held: dict[str, list[int]] = {}
            for part, future in enumerate(self.futures):
                if not holders[future.key]:
                    raise CancelledError  # its worker was lost since the wait ended
                held.setdefault(min(holders[future.key]), []).append(part)
            self._held = list(held.values())
        return self._held

    def _finished(self, tasks: list[Future]) -> list[dict[Node, Any]]:
        try:
            results = self.client.sync(self._gather, tasks)
        except KilledWorker as error:
            raise ClusterError(
                f"Several workers died while they worked on the same part of the data; {error.last_worker} "
                f"was the last. Do they have enough memory?"
            ) from None
        for result in results:
            if isinstance(result, Failure):
                # Where the error was raised says nothing to a user of this process.
                raise result.error.with_traceback(None) from None
        if len({address for address, _ in results}) < len(results):
            self._held = None  # a worker was lost, and others have its parts now
        return [sums for _, sums in results]

    async def _gather(self, tasks: list[Future]) -> Any:
        """The results, in one call from the main thread, because each takes a millisecond or two."""
        await self._wait(tasks)
        return await self.client.gather(tasks)

    async def _wait(self, futures: list[Future]) -> None:
        """Wait until tasks are finished, as long as there are workers."""
        with self.client.as_current():  # `wait` asks the current client, whatever the tasks belong to
            finished = asyncio.ensure_future(wait(futures))
        last_seen = time.monotonic()
        try:
            while not (await asyncio.wait({finished}, timeout=LOOK_AFTER))[0]:
                # Also parts: a task that was meant for a worker that is gone, and found no other at the time,
                # stays where it is when workers join.
                if any(future.status in ("cancelled", "lost") for future in [*futures, *self.futures]):
                    raise CancelledError
                if await self.client.nthreads():
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > WITHOUT_WORKERS:
                    raise _no_workers()
            finished.result()
        finally:
            finished.cancel()


def living_workers(client: Client) -> list[str]:
    """The addresses of the workers of a cluster, in a fixed order."""
    try:
        client.wait_for_workers(1, timeout=WITHOUT_WORKERS)
    except TimeoutError:
        raise _no_workers() from None
    return sorted(client.nthreads())


def _no_workers() -> ClusterError:
    return ClusterError(
        f"The cluster has had no workers for {WITHOUT_WORKERS:g} s; start some and try again."
    )


def attempt(work: Callable[..., Any], *arguments: Any, share: int = 1) -> Any:
    """The result of some work on this share of a worker's threads, or its failure."""
    failed = next((argument for argument in arguments if isinstance(argument, Failure)), None)
    if failed is not None:
        return failed
    try:
        # One BLAS thread, because their number may change the last digits.
        with config_context(n_threads=max(1, _n_threads() // share)), one_blas_thread():
            return work(*arguments)
    except RankwiseError as error:
        return Failure(error)


def subtree_sums(
    parts: Sequence[int],
    objects: Sequence[Any],
    own: Sequence[tuple[Any, ...]],
    work: Callable[..., Any],
    shared: tuple[Any, ...],
    n_parts: int,
) -> tuple[str, dict[Node, Any]] | Failure:
    """The address of this worker, and the sums of all maximal subtrees of the parts that it holds."""

    def result_of(place: int) -> Any:
        return attempt(work, objects[place], *own[place], *shared, share=len(parts))

    with config_context(n_threads=_n_threads()):
        results = list(map_on_threads(result_of, range(len(parts))))
    failed = next((result for result in results if isinstance(result, Failure)), None)
    if failed is not None:
        return failed
    leaves = {(0, part): result for part, result in zip(parts, results, strict=True)}
    return get_worker().address, joined(leaves, n_parts)


def _n_threads() -> int:
    return int(get_worker().state.nthreads)
