"""Ctrl-C during a command: what could be kept is written first, then the process ends by the signal.

A shell goes on with the next command of a loop after any exit code, even 130; only a process that a signal
has ended stops the loop as well.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

EXIT_CODE = 128 + signal.SIGINT


class _Pending:
    interrupt = False


@contextmanager
def keeping_what_was_fitted(ranker: Any) -> Iterator[None]:
    """Go on after an interrupt if the ranker has kept a model; `end_if_interrupted` ends the process."""
    try:
        yield
    except KeyboardInterrupt:
        if not ranker.__sklearn_is_fitted__():
            raise
        _Pending.interrupt = True
        typer.echo("rankwise: interrupted; continuing with the best model so far.", err=True)


def stop_if_interrupted() -> None:
    """Raise an interrupt that was held back, where there is more to do than to write what was kept."""
    if _Pending.interrupt:
        _Pending.interrupt = False
        raise KeyboardInterrupt


def end_if_interrupted(code: int) -> int:
    """The exit code of a command, unless an interrupt was held back during it."""
    return end_by_interrupt() if _Pending.interrupt else code


def end_by_interrupt() -> int:
    """End the process as Ctrl-C does by default."""
    _Pending.interrupt = False
    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    return EXIT_CODE  # only where the signal does not end a process
