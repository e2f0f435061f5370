"""Work on several threads, our own or those of BLAS."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from ctypes import CDLL, c_void_p
from functools import cache
from threading import RLock, get_ident
from typing import Any, TypeVar

from rankwise.config import resolve_threads

# What OpenBLAS allocates for each thread that calls it. A new thread takes that in NumPy's copy of it and in
# SciPy's, and address space of the C library: its stack, and an arena for what it allocates.
_BUFFER_BYTES = 33 << 20
_THREAD_BYTES = 2 * _BUFFER_BYTES + (136 << 20)

# Matrices up to this size are factorized on one thread: with two threads, a matrix of 300 rows took as long
# at best, and ten times as long on a busy machine.
SMALL = 500
# A Cholesky factorization is a tenth of that work: of 2,000 rows, it takes 0.09 s on one thread. On
# two threads of a busy machine, it took 1.3 to 7 s.
SMALL_TO_FACTOR = 2_000

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_on_threads(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the result of `work` for each item, in order, on threads that inherit this thread's settings.

    If no thread can be started, or BLAS could not allocate its buffers in it, everything runs in the calling
    thread; `work` may then see some items twice.
    """
    context, items = copy_context(), list(items)
    n_threads = _how_many_fit(min(resolve_threads(), len(items)), _THREAD_BYTES)
    if n_threads == 0:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        try:
            # A context can run in only one thread at a time, so each item gets a copy.
            futures = [pool.submit(context.copy().run, work, item) for item in items]
        except RuntimeError:  # "can't start new thread"; errors of `work` itself come from `result`
            yield from map(work, items)
        else:
            yield from (future.result() for future in futures)
    finally:
        pool.shutdown(cancel_futures=True)  # on an interrupt, do not wait for queued items


@contextmanager
def one_blas_thread(wanted: bool = True) -> Iterator[None]:
    """Keep NumPy's and SciPy's products on one thread within a block or, as a decorator, a function.

    For many short products between our own kernels or threads, and for small matrices: waking and joining
    BLAS threads each time costs more than it saves, and ten times as much on a busy machine. Unless `wanted`,
    it only makes sure, as it always does, that BLAS has its buffers.
    """
    _blas()
    with _limit if wanted else nullcontext():
        yield


def _how_many_fit(number: int, n_bytes: int) -> int:
    """Return how many times, up to `number`, so many bytes of address space are left.

    OpenBLAS does not report that its buffers cannot be allocated: it ends the process, or tries for ever.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):
        return number  # Windows does not limit address space
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    while number > 0:
        try:
            # Pages that cannot be written count as address space, but not as memory in use.
            mmap.mmap(-1, number * n_bytes, flags=flags, prot=mmap.PROT_READ).close()
        except OSError:
            number //= 2
        else:
            break
    return number


class _Limit:
    """Limit BLAS, which has one process-wide setting, to one thread while any of our threads is inside.

    A fork takes the lock first: a child that inherited it locked by a thread it does not have would deadlock.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self._inside: list[int] = []
        self._usual: list[int] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._acquire, after_in_parent=self._release, after_in_child=self._start_anew
            )

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._usual = [library.num_threads for library in _blas()]
                _set_blas_threads([1] * len(self._usual))
            self._inside.append(get_ident())

    def __exit__(self, *_: object) -> None:
        with self._lock:
            # A generator may be closed by a thread other than the one it ran in.
            me = get_ident()
            self._inside.remove(me if me in self._inside else self._inside[0])
            if not self._inside:
                _set_blas_threads(self._usual)

    def _acquire(self) -> None:
        self._lock.acquire()

    def _release(self) -> None:
        self._lock.release()

    def _start_anew(self) -> None:
        """Reset in a forked child, where only the forking thread lives on."""
        self._lock = RLock()
        was_limited = bool(self._inside)
        self._inside = [thread for thread in self._inside if thread == get_ident()]
        if was_limited and not self._inside:
            _set_blas_threads(self._usual)


_limit = _Limit()


def _set_blas_threads(numbers: list[int]) -> None:
    """Set the number of threads of each library.

    `threadpoolctl` ignores all threads but the one that was the first to set it; ours count those that are
    inside, and must be obeyed.
    """
    for library, number in zip(_blas(), numbers, strict=True):
        getattr(library, "_real_set_num_threads", library.set_num_threads)(number)


@cache
def _blas() -> tuple[Any, ...]:
    """Return the BLAS libraries of NumPy and SciPy, one each, with their buffers; takes milliseconds."""
    import numpy as np
    from scipy.linalg.blas import dgemm
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    libraries = tuple(ThreadpoolController().select(user_api="blas").lib_controllers)
    if _how_many_fit(len(libraries), _BUFFER_BYTES) < len(libraries):
        raise MemoryError(f"BLAS needs {len(libraries) * _BUFFER_BYTES >> 20} MB")
    if not all(_take_buffer(library.filepath) for library in libraries):
        matrix = np.ones((256, 256))
        dgemm(1.0, matrix @ matrix, matrix)
    return libraries


def _take_buffer(path: str) -> bool:
    """Have OpenBLAS allocate the buffer of the calling thread, which later calls use again.

    Its own allocator hands out a buffer that is free, or a new one. Whether a product takes one depends on
    the processor: with AVX-512, those of up to 100³ multiplications take none. Returns False if the library
    does not let its allocator be called.
    """
    library = CDLL(path)
    try:
        allocate, release = library.blas_memory_alloc, library.blas_memory_free
    except AttributeError:  # not OpenBLAS, or built to export only documented functions
        return False
    allocate.restype, release.argtypes = c_void_p, [c_void_p]
    release(allocate(0))
    return True
