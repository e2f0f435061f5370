"""The number of threads used by the kernels and by BLAS."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from rankwise.config import check_n_threads, get_config
from rankwise.errors import ParameterError

Item = TypeVar("Item")
Result = TypeVar("Result")


def resolve_threads(n_threads: int | None = None) -> int:
    """Return the number of threads to use.

    Parameters
    ----------
    n_threads : int or None
        None uses the setting of `rankwise.config_context` or `rankwise.set_config`, then
        ``RANKWISE_NUM_THREADS``, and otherwise every core available to this process.
    """
    if n_threads is not None:
        return check_n_threads(n_threads)
    configured = get_config().n_threads
    if configured is not None:
        return configured
    setting = os.environ.get("RANKWISE_NUM_THREADS")
    if setting is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not setting.isdecimal() or int(setting) < 1:
        raise ParameterError(f"RANKWISE_NUM_THREADS must be a positive whole number; got {setting!r}.")
    return int(setting)


def map_on_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the result of `work` for each item, in order, on threads that inherit this thread's settings."""
    context = copy_context()
    pool = ThreadPoolExecutor(resolve_threads())
    try:
        # A context can run in only one thread at a time, so each item gets a copy.
        yield from pool.map(lambda item: context.copy().run(work, item), items)
    finally:
        pool.shutdown(cancel_futures=True)  # on an interrupt, do not wait for queued items


@contextmanager
def one_blas_thread(wanted: bool = True) -> Iterator[None]:
    """Keep NumPy's and SciPy's products on one thread within a block or, as a decorator, a function.

    For many short products between our own kernels or threads, and for small matrices: waking and joining
    BLAS threads each time costs more than it saves, and ten times as much on a busy machine. Does nothing
    unless `wanted`.
    """
    with _limit if wanted else nullcontext():
        yield


class _Limit:
    """Limit BLAS, which has one process-wide setting, to one thread while any of our threads is inside."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limiter = _blas().limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limiter.restore_original_limits()


_limit = _Limit()


@cache
def _blas() -> Any:
    """Return the BLAS libraries of NumPy and SciPy, one each; finding them takes a millisecond."""
    import scipy.linalg  # noqa: F401  loads both
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController().select(user_api="blas")
