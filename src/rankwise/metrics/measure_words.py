"""Words in the names of measures, as ir_measures writes them: ``AP(rel=2)@100``, ``RBP(p=0.9)``."""

from __future__ import annotations

from typing import Any

from rankwise.errors import ParameterError
from rankwise.numerals import read_float

# What words mean among the fields of `Conventions`.
_NUMBERS = {"rel": "relevant", "p": "persistence"}
_GAINS = {"log2": "linear", "exp-log2": "exponential"}


def conventions_of_words(kind: str, text: str, allowed: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """The conventions that words such as ``rel=2`` stand for, and the words as the name shows them."""
    found: dict[str, Any] = {}
    shown = []
    for part in text.split(","):
        word, equals, value = (piece.strip() for piece in part.partition("="))
        if word not in allowed or not equals:
            takes = f"takes {' and '.join(map(repr, allowed))}" if allowed else "takes no words"
            raise ParameterError(f"The measure '{kind}' {takes} in parentheses; got {part.strip()!r}.")
        if word == "dcg":
            name, known = "gain", _GAINS.get(value.strip("'\""))
            if known is None:
                raise ParameterError(f"dcg in '{kind}' must be 'log2' or 'exp-log2'; got {value}.")
            found[name], value = known, value.strip("'\"")
        else:
            found[_NUMBERS[word]] = _number(kind, word, value)
            value = f"{found[_NUMBERS[word]]:g}"
        shown.append(f"{word}={value}")
    return found, f"({','.join(shown)})"


def _number(kind: str, word: str, value: str) -> float:
    try:
        return read_float(value)
    except ValueError:
        raise ParameterError(f"{word} in '{kind}' must be a number; got {value!r}.") from None
