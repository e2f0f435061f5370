"""Checks for individual parameters."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rankwise.errors import ParameterError, did_you_mean
from rankwise.files import as_path
from rankwise.types import Auto, Floats

Choice = TypeVar("Choice", bound=StrEnum)


def check_choice(name: str, value: object, choices: type[Choice]) -> Choice:
    """Return the enum member named by a string parameter."""
    try:
        return choices(value)  # type: ignore[arg-type]
    except ValueError:
        expected = ", ".join(repr(str(choice)) for choice in choices)
        meant = did_you_mean(value, choices)
        raise ParameterError(
            f"The '{name}' parameter must be one of {expected}; got {value!r}{meant}"
        ) from None


def check_number(
    name: str,
    value: object,
    *,
    minimum: float = -math.inf,
    maximum: float = math.inf,
    exclusive: bool = False,
) -> float:
    """Return a finite real number in [minimum, maximum] or, if `exclusive`, strictly between them."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan  # type: ignore[arg-type]
    except OverflowError:  # an integer too large for float64
        number = math.inf
    inside = minimum < number < maximum if exclusive else minimum <= number <= maximum
    if not (inside and math.isfinite(number)):
        bounds = [
            (minimum, "above" if exclusive else "of at least"),
            (maximum, "below" if exclusive else "at most"),
        ]
        bound = " and ".join(f"{word} {limit:g}" for limit, word in bounds if math.isfinite(limit))
        raise ParameterError(
            f"The '{name}' parameter must be a finite number{bound and ' ' + bound}; got {_shown(value)}."
        )
    return number


def check_count(name: str, value: object, *, minimum: int = 1) -> int:
    """Return an integer that is at least `minimum` and fits in 64 bits."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not minimum <= value < 2**63:
        raise ParameterError(
            f"The '{name}' parameter must be a whole number of at least {minimum}; got {_shown(value)}."
        )
    return int(value)


def _shown(value: object) -> str:
    """Format a value for a message; Python refuses to print integers with thousands of digits."""
    try:
        text = repr(value)
    except ValueError:
        return "a number with thousands of digits"
    return text if len(text) <= 100 else f"{text[:100]}..."


def check_kind(name: str, value: Any, kind: type, *, optional: bool = False) -> Any:
    """Return an instance of a class, such as a data set; or None, if that is allowed."""
    if not (isinstance(value, kind) or (optional and value is None)):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise ParameterError(
            f"The '{name}' parameter must be {article} {kind.__name__}{' or None' if optional else ''}; "
            f"got {type(value).__name__}."
        )
    return value


def check_flag(name: str, value: object) -> bool:
    """Return True or False; other truthy or falsy values are rejected."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"The '{name}' parameter must be True or False; got {value!r}.")
    return bool(value)


def check_flag_or_auto(name: str, value: object) -> bool | Auto:
    """Return True, False or "auto"; see `check_flag`."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"The '{name}' parameter must be True, False or 'auto'; got {value!r}.")
    return bool(value)


def check_callable(name: str, value: Any) -> Any:
    """Return a callable or None."""
    if value is not None and not callable(value):
        raise ParameterError(f"The '{name}' parameter must be None or callable; got {value!r}.")
    return value


def check_folder(name: str, value: object) -> Path:
    """Return the path of a folder, which need not exist yet."""
    folder = as_path(value, name)
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"The '{name}' parameter must be a folder; {folder} is a file.")
    return folder


def check_random_state(name: str, value: object) -> np.random.Generator:
    """Return a generator: the one given, or one seeded by an int, None or a `RandomState`."""
    if isinstance(value, np.random.Generator):
        return value
    if isinstance(value, np.random.RandomState):
        return np.random.default_rng(value.randint(2**31))
    is_seed = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0
    if value is not None and not is_seed:
        raise ParameterError(
            f"The '{name}' parameter must be None, a whole number of at least 0, a RandomState or a "
            f"Generator; got {value!r}."
        )
    return np.random.default_rng(value)  # type: ignore[arg-type]


def check_alphas(alphas: Any, *, positive: bool = False) -> Floats:
    """Return a non-empty, ascending grid of regularization parameters."""
    try:
        array = np.atleast_1d(np.asarray(alphas))
    except (ValueError, OverflowError):  # sequences of different lengths, integers too large for float64
        array = np.empty(0)
    if array.ndim != 1 or len(array) == 0 or array.dtype.kind not in "iuf":
        raise ParameterError(f"The 'alphas' parameter must be a sequence of numbers; got {_shown(alphas)}.")
    inside = np.isfinite(array) & (array > 0.0 if positive else array >= 0.0)
    if not inside.all():
        bound = "above 0" if positive else "of at least 0"
        raise ParameterError(
            f"The 'alphas' parameter must hold finite numbers {bound}; got {array[inside.argmin()]:g}."
        )
    return np.unique(array.astype(np.float64))
