"""Codes of single columns as plain values for files, and back, with nothing taken on trust."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from rankwise.columns.codes import AgeCode, CategoryCode, Code, FlagCode, RelativeCode
from rankwise.columns.number_codes import NumberCode, NumericCode, SplineCode
from rankwise.columns.specs import RELATIVE
from rankwise.tensor_file import RefusedError

_CODES: dict[str, type[Code]] = {
    "number": NumberCode,
    "spline": SplineCode,
    "age": AgeCode,
    "relative": RelativeCode,
    "flag": FlagCode,
    "category": CategoryCode,
}
_WORDS = {code: word for word, code in _CODES.items()}


def plain_code(code: Code) -> dict[str, Any]:
    """The code as numbers, names, lists and dictionaries."""
    values = {field.name: getattr(code, field.name) for field in fields(code)}
    return {"code": _WORDS[type(code)]} | {
        name: list(value) if isinstance(value, tuple) else plain_code(value) if name == "of" else value
        for name, value in values.items()
    }


def code_from(stored: Any, column: str) -> Code:
    """The code that plain values describe; anything else is refused, in words that name the column."""
    word = stored.pop("code", None) if isinstance(stored, dict) else None
    if not isinstance(word, str) or word not in _CODES:
        raise RefusedError(f"the code of column '{column}' is unknown to this version of rankwise")
    code = _CODES[word]
    names = [field.name for field in fields(code)]
    if stored.keys() != set(names):
        raise RefusedError(f"the code of column '{column}' must have {', '.join(names)}")
    kinds = get_type_hints(code)
    values = {name: _value_of(stored[name], kinds[name], column) for name in names}
    made: Code = code(**values)
    if not _CHECKS[code](made):
        raise RefusedError(f"the {word} code of column '{column}' holds impossible values")
    return made


def _value_of(stored: Any, kind: Any, column: str) -> Any:
    """A field of a code, whose annotation is `kind`."""
    if get_origin(kind) is tuple:
        if isinstance(stored, list):
            return tuple(_value_of(entry, get_args(kind)[0], column) for entry in stored)
    elif kind is float:
        if type(stored) in (int, float) and abs(stored) <= sys.float_info.max:
            return float(stored)
    elif kind in (bool, str):
        if type(stored) is kind:
            return stored
    else:
        return code_from(stored, column)
    raise RefusedError(f"the code of column '{column}' cannot hold {repr(stored)[:40]}")


def _is_age(code: Any) -> bool:
    return is_reference(code.reference) and isinstance(code.of, NumericCode)


def is_reference(text: str) -> bool:
    """Whether this is a date without a time zone that all read alike; 20200101 is a year to NumPy."""
    try:
        date = datetime.fromisoformat(text)
        return date.tzinfo is None and bool(np.datetime64(text) == np.datetime64(date))
    except ValueError:
        return False


_CHECKS: dict[type[Code], Callable[[Any], bool]] = {
    NumberCode: lambda code: code.scale > 0.0,
    SplineCode: lambda code: len(code.knots) > 0 and all(a < b for a, b in itertools.pairwise(code.knots)),
    AgeCode: _is_age,
    RelativeCode: lambda code: code.relation in RELATIVE and isinstance(code.of, NumericCode),
    FlagCode: lambda code: 0.0 <= code.fill <= 1.0,
    CategoryCode: lambda code: len(set(code.categories)) == len(code.categories),
}
