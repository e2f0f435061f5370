"""How many threads the kernels use, and BLAS beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from rankwise.errors import ParameterError


def resolve_threads(n_threads: int | None = None) -> int:
    """Return the number of threads to use.

    Parameters
    ----------
    n_threads : int or None
        None takes ``RANKWISE_NUM_THREADS`` when it is set, and otherwise every core this process may run on.
    """
    if n_threads is None:
        setting = os.environ.get("RANKWISE_NUM_THREADS")
        if setting is None:
            return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if not setting.isdecimal() or int(setting) < 1:
            raise ParameterError(f"RANKWISE_NUM_THREADS must be a positive whole number; got {setting!r}.")
        return int(setting)
    if isinstance(n_threads, bool) or not isinstance(n_threads, int) or n_threads < 1:
        raise ParameterError(f"The 'n_threads' parameter must be None or a positive int; got {n_threads!r}.")
    return n_threads


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep NumPy's products on one thread, in a block or (as a decorator) a function.

    For many short products between kernels or threads of our own: waking and joining BLAS threads for each
    costs more than it saves, and tenfold on a busy machine.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=1, user_api="blas"):
        yield
