"""Parts held by the workers of a Dask cluster, as futures of `distributed`.

A part is the result of a task, so the scheduler repeats the task elsewhere if its worker is lost. Work on
all parts is one task per worker, which returns a sum for each maximal subtree of the parts that lie there
(`parts.tree`). Nothing is kept on the cluster that the client does not hold a future of: when the client
goes, so do its tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Self, TypeVar

from distributed import Client, Future, KilledWorker, get_worker, wait

from rankwise.cluster.engine import Node, Parts, joined, of_part
from rankwise.config import config_context
from rankwise.dask.waiting import LOOK_AFTER, ClusterError, LostWorkError, insisted, listed, watched
from rankwise.errors import RankwiseError
from rankwise.threads import map_on_threads, one_blas_thread

T = TypeVar("T")

# Tasks that the scheduler cannot finish by itself.
GONE = ("cancelled", "lost")


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
    names : sequence of str
        What to call each part in messages.
    source : WorkerParts, optional
        What they are made of.
    """

    def __init__(
        self,
        client: Client,
        make: Callable[[int], Future],
        names: Sequence[str],
        source: WorkerParts | None = None,
    ) -> None:
        self.client, self.names = client, names
        self._make, self._source = make, source
        self.futures = [insisted(client, partial(make, part)) for part in range(len(names))]
        self._held: list[list[int]] | None = None
        self._tasks: list[Future] = []

    @property
    def n_parts(self) -> int:
        return len(self.names)

    def total(self, work: Callable[..., T], *shared: Any, own: Sequence[Any] | None = None) -> T:
        return insisted(self.client, partial(self._total, work, shared, own))

    def derived(self, work: Callable[..., Any], *shared: Any, own: Sequence[Any] | None = None) -> Self:
        def make(part: int) -> Future:
            self.restore()
            return self.client.submit(
                attempt, work, self.futures[part], *of_part(own, part), *shared, pure=False
            )

        return type(self)(self.client, make, self.names, self)

    def chosen(self, parts: Sequence[int]) -> Self:
        """Some of the parts."""
        if len(parts) == self.n_parts:
            return self

        def make(place: int) -> Future:
            self.restore()
            return self.futures[parts[place]]

        return type(self)(self.client, make, [self.names[part] for part in parts], self)

    def restore(self) -> None:
        """Submit the parts again that the scheduler cannot make by itself."""
        for part, future in enumerate(self.futures):
            if future.status in GONE:
                self._held = None
                self.futures[part] = insisted(self.client, partial(self._make, part))

    def count(self, progress: Callable[[int, int], object]) -> None:
        """Wait for all parts, and call with the number of those that are there whenever it has grown."""
        known = 0
        while known < self.n_parts:
            known = insisted(self.client, partial(self._more_than, known))
            progress(known, self.n_parts)

    def _more_than(self, known: int) -> int:
        async def counted() -> int:
            while (done := sum(one.status in ("finished", "error") for one in self.futures)) <= known:
                await asyncio.sleep(LOOK_AFTER / 10)
            return done

        self.restore()
        found: int = self._wait(counted())
        return found

    def _total(self, work: Callable[..., T], shared: tuple[Any, ...], own: Sequence[Any] | None) -> T:
        self.restore()
        # Who holds which part is known for the next pass only if this one shows it.
        held, self._held = self._held or self._placement(), None
        results = self._results(self._submit(held, work, shared, own))
        if len({address for address, _ in results}) == len(results):
            self._held = held
        sums: dict[Node, T] = {}
        for _, found in results:
            sums |= found
        (total,) = joined(sums, self.n_parts).values()
        return total

    def _submit(
        self,
        held: Sequence[Sequence[int]],
        work: Callable[..., Any],
        shared: tuple[Any, ...],
        own: Sequence[Any] | None,
    ) -> list[Future]:
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

        async def placed() -> Any:
            await wait(self.futures)
            for future in self.futures:
                if future.status == "error":
                    await future
            return await self.client.who_has(self.futures)

        holders = self._wait(placed())
        held: dict[str, list[int]] = {}
        for part, future in enumerate(self.futures):
            if not holders[future.key]:
                raise LostWorkError()  # since the wait ended
            held.setdefault(min(holders[future.key]), []).append(part)
        return list(held.values())

    def _results(self, tasks: list[Future]) -> list[tuple[str, dict[Node, Any]]]:
        async def gathered() -> Any:
            await wait(tasks)
            return await self.client.gather(tasks)

        results: list[Any] = self._wait(gathered(), tasks)
        for result in results:
            if isinstance(result, Failure):
                # Where the error was raised says nothing to a user of this process.
                raise result.error.with_traceback(None) from None
        return results

    def _wait(self, work: Coroutine[Any, Any, Any], tasks: Sequence[Future] = ()) -> Any:
        """Wait in one call from the main thread, because each takes a millisecond or two."""
        try:
            return self.client.sync(
                watched, self.client, work, partial(self._unfinished, tasks), self._behind
            )
        except KilledWorker as error:
            raise ClusterError(
                f"Several workers died while working on the same part of the data; {error.last_worker} "
                f"was the last. Do they have enough memory?"
            ) from None

    def _unfinished(self, tasks: Sequence[Future]) -> list[Future]:
        """The tasks that are still to be done for these, back to what the parts are made of."""
        found = [future for future in (*tasks, *self.futures) if future.status != "finished"]
        if any(future.status in GONE for future in found):
            raise LostWorkError()
        source = self._source
        while found and source is not None:
            found += [future for future in source.futures if future.status != "finished"]
            source = source._source
        return found

    def _behind(self) -> str:
        """The names of the parts that are not there."""
        parts = zip(self.names, self.futures, strict=True)
        return listed([name for name, future in parts if future.status != "finished"]) or "the parts"


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
