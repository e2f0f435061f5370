"""Numbers in text, read alike everywhere: in ASCII digits.

Python's `float` and `int` also read ``1_000`` and the digits of other scripts, which other programs refuse.
"""

from __future__ import annotations


def read_float(text: str | bytes) -> float:
    """The number that a text holds; ValueError if it holds none. NaN and infinity are numbers here."""
    return float(_plain(text))


def read_whole(text: str | bytes) -> int:
    """The whole number that a text holds; ValueError if it holds none."""
    return int(_plain(text))


def is_number(text: str | bytes) -> bool:
    """Whether `read_float` reads it."""
    try:
        read_float(text)
    except ValueError:
        return False
    return True


def is_whole(text: str) -> bool:
    """Whether this is digits and nothing else, without a sign."""
    return text.isascii() and text.isdecimal()


def _plain(text: str | bytes) -> str | bytes:
    if not text.isascii() or ("_" if isinstance(text, str) else b"_") in text:  # type: ignore[operator]
        raise ValueError(f"not a number in ASCII digits: {text[:40]!r}")
    return text
