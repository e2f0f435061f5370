"""Long tasks, with a progress bar where somebody waits for them: on a terminal or in a notebook.

Code that may take long opens a `task`, and code inside it reports each `step`. Whether there is a bar is up
to the front end, by the setting `progress` of `rankwise.set_config`; otherwise, both do nothing. A task
inside another one has no bar of its own, but adds to the text of that bar.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from html import escape
from typing import Any, TypeAlias

from rankwise.config import get_config
from rankwise.rendering import printable

# A bar appears after so many seconds; from then on, it is drawn at this interval.
PATIENCE_SECONDS, INTERVAL_SECONDS = 2.0, 0.1
BAR_WIDTH = 40

# Takes the text, the fraction done (None if unknown) and the time taken.
Draw: TypeAlias = Callable[[str, float | None, str], object]
# Yields a function that draws, and removes the bar at the end.
Screen: TypeAlias = Callable[[], AbstractContextManager[Draw]]


@contextmanager
def task(title: str) -> Iterator[None]:
    """Show a progress bar while the block runs, if a front end wants one and the block takes long."""
    outer = _current.get()
    if outer is not None:
        with _Task(outer.bar, (*outer.titles, title)).entered():
            yield
        return
    screen = _screen()
    if screen is None:
        yield
        return
    bar = _Bar()
    with _Task(bar, (title,)).entered(), bar.on(screen):
        yield


def step(detail: str = "", *, done: float | None = None) -> None:
    """Report what the current task is doing, and the fraction of it that is done.

    If a task and one inside it both report fractions, the bar shows that of the outer one.
    """
    current = _current.get()
    if current is not None:
        current.report(detail, done)


@dataclass(frozen=True)
class _Task:
    """A task, below the tasks that it is a part of."""

    bar: _Bar
    titles: tuple[str, ...]

    @contextmanager
    def entered(self) -> Iterator[None]:
        token = _current.set(self)
        self.report()
        try:
            yield
        finally:
            _current.reset(token)
            self.bar.forget(len(self.titles))

    def report(self, detail: str = "", done: float | None = None) -> None:
        parts = (*self.titles, detail) if detail else self.titles
        self.bar.show(": ".join(parts), len(self.titles), done)


_current: ContextVar[_Task | None] = ContextVar("rankwise_task", default=None)


@dataclass
class _Bar:
    """The state of a bar, which a thread draws.

    Attributes
    ----------
    level : int
        How deep the task is whose fraction is shown: 1 for the outermost.
    """

    text: str = ""
    done: float | None = None
    level: int = sys.maxsize
    started: float = field(default_factory=time.monotonic)
    ended: threading.Event = field(default_factory=threading.Event)

    def show(self, text: str, level: int, done: float | None) -> None:
        self.text = text
        if done is not None and level <= self.level:
            self.done, self.level = done, level

    def forget(self, level: int) -> None:
        """Drop the fraction of a task that has ended."""
        if self.level == level:
            self.done, self.level = None, sys.maxsize

    @contextmanager
    def on(self, screen: Screen) -> Iterator[None]:
        # In a copy of the context, by which notebooks know the cell.
        thread = threading.Thread(target=copy_context().run, args=(self._draw, screen), daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no thread can be started, so there is no bar
            yield
            return
        try:
            yield
        finally:
            self.ended.set()
            thread.join()

    def _draw(self, screen: Screen) -> None:
        if self.ended.wait(PATIENCE_SECONDS):
            return
        with suppress(OSError), screen() as draw:  # a terminal may be closed
            while True:
                draw(self.text, self.done, _clock(time.monotonic() - self.started))
                if self.ended.wait(INTERVAL_SECONDS):
                    return


def _screen() -> Screen | None:
    """Where a bar can be drawn; None if nowhere, or if nobody wants one."""
    wanted = get_config().progress
    if wanted is False:
        return None
    if _in_notebook():
        return _notebook
    return _terminal if wanted and sys.stderr is not None and sys.stderr.isatty() else None


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, rather than IPython on a terminal."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get_ipython is not None and hasattr(get_ipython(), "kernel")


@contextmanager
def _terminal() -> Iterator[Draw]:
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:

        def draw(text: str, done: float | None, passed: str) -> None:
            total, share = (None, "") if done is None else (1.0, f"{done:.0%}")
            bar = ProgressBar(total=total, completed=done or 0.0, width=BAR_WIDTH)
            row = Table.grid(padding=(0, 1))
            row.add_row(Text(printable(text), no_wrap=True, overflow="ellipsis"), bar, share, passed)
            live.update(row, refresh=True)

        yield draw


@contextmanager
def _notebook() -> Iterator[Draw]:
    from IPython.display import display

    def shown(text: str, done: float | None, passed: str) -> dict[str, str]:
        value, share = ("", "") if done is None else (f' value="{done:.3f}"', f"{done:.0%} ")
        said = f"{printable(text)} {share}{passed}"
        return {"text/plain": said, "text/html": f"<progress{value}></progress> {escape(said)}"}

    handle: Any = display(  # type: ignore[no-untyped-call]
        {"text/plain": ""}, raw=True, display_id=True
    )
    try:
        yield lambda *state: handle.update(shown(*state), raw=True)
    finally:
        handle.update({"text/plain": ""}, raw=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
