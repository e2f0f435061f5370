"""Settings for the whole process (`set_config`) or for a block of code (`config_context`).

`set_config` applies to every thread. The settings of a block are kept in a context variable: they apply to
the thread or asyncio task that runs the block, so two of them can differ at the same time. Our own threads
inherit the settings of the thread that started them (`rankwise.threads.map_on_threads`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from rankwise.errors import ParameterError
from rankwise.numerals import is_whole

MAX_THREADS = 1 << 16


@dataclass(frozen=True)
class Settings:
    """The available settings; the default of each means that it is not set.

    Attributes
    ----------
    n_threads : int or None
        Number of threads that the kernels use.
    one_ranking : bool
        Whether `fit` without a qid is meant: all rows form one ranking. Otherwise it warns.
    on_interrupt : {"raise", "keep"}
        What Ctrl-C does to a fit that can already keep a model: raise KeyboardInterrupt after keeping it, or
        only keep it.
    progress : bool or None
        Whether what takes longer than two seconds shows a progress bar: None in notebooks only, True on
        terminals as well, False nowhere.
    """

    n_threads: int | None = None
    one_ranking: bool = False
    on_interrupt: str = "raise"
    progress: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.one_ranking, bool):
            raise ParameterError(
                f"The 'one_ranking' parameter must be True or False; got {self.one_ranking!r}."
            )
        if not isinstance(self.on_interrupt, str) or self.on_interrupt not in ("raise", "keep"):
            raise ParameterError(
                f"The 'on_interrupt' parameter must be 'raise' or 'keep'; got {self.on_interrupt!r}."
            )
        if not isinstance(self.progress, bool | None):
            raise ParameterError(
                f"The 'progress' parameter must be None, True or False; got {self.progress!r}."
            )
        if self.n_threads is not None:
            _check_n_threads(self.n_threads)


_of_process: dict[str, Any] = {}
_of_block: ContextVar[Mapping[str, Any]] = ContextVar("rankwise_settings", default=MappingProxyType({}))


def get_config() -> Settings:
    """Return the current settings.

    Returns
    -------
    Settings
        Frozen, with one attribute per setting.

    Examples
    --------
    >>> import rankwise
    >>> rankwise.get_config()
    Settings(n_threads=None, one_ranking=False, on_interrupt='raise', progress=None)
    """
    return Settings(**{**_of_process, **_of_block.get()})


def resolve_threads() -> int:
    """Return the number of threads that the kernels use.

    That is the setting of `config_context` or `set_config`, then ``RANKWISE_NUM_THREADS``, and otherwise
    every core available to this process.
    """
    # Without `get_config`, because predicting one row asks for it as well.
    configured: int | None = _of_block.get().get("n_threads", _of_process.get("n_threads"))
    if configured is not None:
        return configured
    setting = os.environ.get("RANKWISE_NUM_THREADS")
    if setting is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not (is_whole(setting) and len(setting) < 10 and 1 <= int(setting) <= MAX_THREADS):
        raise ParameterError(
            f"RANKWISE_NUM_THREADS must be a whole number from 1 to {MAX_THREADS:,}; got {setting[:40]!r}."
        )
    return int(setting)


def set_config(**settings: Any) -> None:
    """Change settings for the whole process, in every thread; `config_context` takes precedence.

    Parameters
    ----------
    **settings
        ``n_threads``, int or None: number of threads that the kernels use. None, the default, uses the
        environment variable ``RANKWISE_NUM_THREADS`` if it is set, and every core otherwise. It affects only
        the run time; results are bit-identical. BLAS in NumPy and SciPy has its own threads, which
        ``threadpoolctl`` can limit; their number may change the last digits of closed forms, kernel models
        and paths.

        ``one_ranking``, bool: True means that `fit` without a qid is intended, and does not warn.

        ``on_interrupt``, "raise" or "keep": what a fit does on Ctrl-C after keeping the best model so far. By
        default, it raises KeyboardInterrupt; with "keep", it warns and returns.

        ``progress``, bool or None: whether fits and other work that takes longer than two seconds show a
        progress bar. None, the default, means only in notebooks; True also on a terminal, on standard error;
        False nowhere.

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
    """Change settings within a block or, as a decorator, within a function.

    Blocks can be nested; settings that an inner block does not name stay as they are. A block does not affect
    threads that the caller starts within it, or other processes.

    Parameters
    ----------
    **settings
        As in `set_config`; ``n_threads=None`` undoes an outer setting within the block.

    Examples
    --------
    >>> import rankwise
    >>> data = rankwise.make_search_data(20, random_state=0)
    >>> with rankwise.config_context(n_threads=1):
    ...     model = rankwise.RankSVM().fit(data)
    """
    token = _of_block.set({**_of_block.get(), **_checked(settings)})
    try:
        yield
    finally:
        _of_block.reset(token)


def let_interrupt_through() -> None:
    """Raise the interrupt that a solver caught to keep its best model, unless the settings say to keep it.

    Called at the end of `fit`, when the model is in place.
    """
    if get_config().on_interrupt == "raise":
        raise KeyboardInterrupt


def _check_n_threads(n_threads: object) -> None:
    """Reject anything but a number of threads from 1 to `MAX_THREADS`."""
    if isinstance(n_threads, bool) or not isinstance(n_threads, int) or n_threads < 1:
        raise ParameterError(f"The 'n_threads' parameter must be None or a positive int; got {n_threads!r}.")
    if n_threads > MAX_THREADS:
        raise ParameterError(f"The 'n_threads' parameter must be at most {MAX_THREADS:,}.")


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    known = [field.name for field in fields(Settings)]
    for name in settings:
        if name not in known:
            raise ParameterError(f"Unknown setting {name!r}; expected one of: {', '.join(known)}.")
    Settings(**settings)
    return settings
