"""Choices that an option has: listed in the help, and completed by the shell.

Each function returns arguments of `typer.Option`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def one_of(*words: str, listed: bool = True) -> dict[str, Any]:
    """One of these words; the help lists them in the place of a type, unless the text does."""
    return _completed(lambda: words) | ({"metavar": "|".join(words)} if listed else {})


def some_of(*words: str) -> dict[str, Any]:
    """One of these words, or several of them separated by commas."""
    return _completed(lambda: words, several=True) | {"metavar": "|".join(words)}


def some_or_other(*words: str) -> dict[str, Any]:
    """Some of these words, or others that cannot be listed."""
    return _completed(lambda: words, several=True)


def measure() -> dict[str, Any]:
    """The name of a measure."""
    return _completed(_measures) | {"metavar": "MEASURE"}


def measures() -> dict[str, Any]:
    """Names of measures."""
    return _completed(_measures, several=True) | {"metavar": "A,B,..."}


def _measures() -> Iterable[str]:
    from rankwise.metrics import KINDS  # which imports NumPy

    return KINDS


def _completed(words: Callable[[], Iterable[str]], several: bool = False) -> dict[str, Any]:
    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",") if several else ("", "", incomplete)
        known = before.split(",")
        return [f"{before}{comma}{word}" for word in words() if word.startswith(last) and word not in known]

    return {"autocompletion": complete}
