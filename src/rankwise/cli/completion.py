"""Choices that an option has: listed in the help, and completed by the shell.

Functions without another purpose return arguments of `typer.Option`.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

import typer

# Set by the scripts of --install-completion.
COMPLETION = "_RANKWISE_COMPLETE"
# Measures contain these, although bash takes each of them for a word.
_BREAKS = "@:"
# Cutoffs of measures that are suggested.
_CUTOFFS = (1, 3, 5, 10, 20, 50, 100)


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
    return _completed(_measures, parts=_cutoffs) | {"metavar": "MEASURE"}


def measures() -> dict[str, Any]:
    """Names of measures."""
    return _completed(_measures, several=True, parts=_cutoffs) | {"metavar": "A,B,..."}


def _measures() -> Iterable[str]:
    from rankwise.metrics import KINDS  # which imports NumPy

    return KINDS


def _cutoffs(word: str) -> Iterable[str]:
    """The measure that a word begins to name, with usual cutoffs."""
    from rankwise.metrics import KINDS

    name, at, _ = word.partition("@")
    takes_cutoff = at and name in KINDS and KINDS[name].cutoff != "none"
    return [f"{name}@{cutoff}" for cutoff in _CUTOFFS] if takes_cutoff else []


def _no_parts(word: str) -> Iterable[str]:
    return ()


def _completed(
    words: Callable[[], Iterable[str]],
    several: bool = False,
    parts: Callable[[str], Iterable[str]] = _no_parts,
) -> dict[str, Any]:
    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",") if several else ("", "", incomplete)
        known = before.split(",")
        return [
            f"{before}{comma}{word}"
            for word in (*words(), *parts(last))
            if word.startswith(last) and word not in known
        ]

    return {"autocompletion": complete}


@contextmanager
def answering_shell() -> Iterator[None]:
    """The environment and the output of a completion, in which bash sees words with "@" as others do."""
    if os.environ[COMPLETION] != "complete_bash":
        yield
        return
    pieces = os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
    words = _joined(pieces)
    os.environ |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    kept = words[-1] if _is_break(pieces[-1]) else words[-1].removesuffix(pieces[-1])
    kept = kept.removesuffix("@")  # with which readline lets names of hosts begin
    try:
        with redirect_stdout(io.StringIO()) as said:
            yield
    finally:
        for line in said.getvalue().splitlines():
            typer.echo(line.removeprefix(kept))  # bash replaces only what follows


def _joined(words: Sequence[str]) -> list[str]:
    """Words that bash took apart."""
    joined: list[str] = []
    after_break = False
    for word in words:
        if joined and word and (_is_break(word) or after_break):
            joined[-1] += word
        else:
            joined.append(word)
        after_break = _is_break(word)
    return joined


def _is_break(word: str) -> bool:
    return word != "" and not word.strip(_BREAKS)
