"""Settings of the whole process (`set_config`) and of a block of code (`config_context`).

What `set_config` sets holds in every thread. What a block sets is kept in a context variable: it holds in the
thread, or the asyncio task, that runs the block, so that two of them can differ at the same time. Threads of
our own see what holds where they were started (`rankwise.threads.map_on_threads`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from rankwise.errors import ParameterError


@dataclass(frozen=True)
class Settings:
    """What can be set; the default of every setting means that it is not.

    Attributes
    ----------
    n_threads : int or None
        How many threads the kernels use.
    """

    n_threads: int | None = None

    def __post_init__(self) -> None:
        if self.n_threads is not None:
            check_n_threads(self.n_threads)


_of_process: dict[str, Any] = {}
_of_block: ContextVar[Mapping[str, Any]] = ContextVar("rankwise_settings", default=MappingProxyType({}))


def get_config() -> Settings:
    """Return the settings that hold here.

    Returns
    -------
    Settings
        Frozen, with one attribute per setting.

    Examples
    --------
    >>> import rankwise
    >>> rankwise.get_config()
    Settings(n_threads=None)
    """
    return Settings(**{**_of_process, **_of_block.get()})


def set_config(**settings: Any) -> None:
    """Change settings for the whole process, in every thread; a `config_context` comes before them.

    Parameters
    ----------
    **settings : int or None
        ``n_threads``: how many threads the kernels use wherever no `n_threads` is given. None, the default,
        takes the environment variable ``RANKWISE_NUM_THREADS`` if it is set, and otherwise every core. It
        changes the time and never the bits. NumPy's and SciPy's BLAS has threads of its own, which
        ``threadpoolctl`` limits.

    Examples
    --------
    >>> import rankwise
    >>> rankwise.set_config(n_threads=2)
    >>> rankwise.get_config().n_threads
    2
    >>> rankwise.set_config(n_threads=None)
    """
    _of_process.update(_checked(settings))


@contextmanager
def config_context(**settings: Any) -> Iterator[None]:
    """Change settings inside a block or, as a decorator, inside a function.

    Blocks can be nested; a setting that the inner one does not name stays as it is. A block does not reach
    into threads that the caller starts inside it, nor into other processes.

    Parameters
    ----------
    **settings : int or None
        As in `set_config`; None undoes, inside the block, what was set outside.

    Examples
    --------
    >>> import rankwise
    >>> data = rankwise.make_search_data(20, random_state=0)
    >>> with rankwise.config_context(n_threads=1):
    ...     model = rankwise.RankSVM().fit(data.X, data.y, data.qid)
    """
    token = _of_block.set({**_of_block.get(), **_checked(settings)})
    try:
        yield
    finally:
        _of_block.reset(token)


def check_n_threads(n_threads: object) -> int:
    """A number of threads, at least 1."""
    if isinstance(n_threads, bool) or not isinstance(n_threads, int) or n_threads < 1:
        raise ParameterError(f"The 'n_threads' parameter must be None or a positive int; got {n_threads!r}.")
    return n_threads


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    known = [field.name for field in fields(Settings)]
    for name in settings:
        if name not in known:
            raise ParameterError(f"There is no setting {name!r}; there are: {', '.join(known)}.")
    Settings(**settings)
    return settings
