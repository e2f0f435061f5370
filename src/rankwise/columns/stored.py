"""Encodings as plain values for files, and back, with nothing taken on trust."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from rankwise.columns.codes import AgeCode, CategoryCode, Code, FlagCode, NumberCode, NumericCode, SplineCode
from rankwise.columns.encoding import Encoding
from rankwise.tensor_file import RefusedError

_CODES: dict[str, type[Code]] = {
    "number": NumberCode,
    "spline": SplineCode,
    "age": AgeCode,
    "flag": FlagCode,
    "category": CategoryCode,
}
_WORDS = {code: word for word, code in _CODES.items()}


def plain_encoding(encoding: Encoding) -> dict[str, Any]:
    """The encoding as numbers, names, lists and dictionaries."""
    codes = [{"column": column, **_plain_code(code)} for column, code in encoding.codes.items()]
    return {"codes": codes, "labels": None if encoding.labels is None else list(encoding.labels)}


def _plain_code(code: Code) -> dict[str, Any]:
    values = {field.name: getattr(code, field.name) for field in fields(code)}
    return {"code": _WORDS[type(code)]} | {
        name: list(value) if isinstance(value, tuple) else _plain_code(value) if name == "of" else value
        for name, value in values.items()
    }


def encoding_of(stored: Any) -> Encoding:
    """The encoding that plain values describe; anything else is refused."""
    if not isinstance(stored, dict) or stored.keys() != {"codes", "labels"}:
        raise RefusedError("the encoding of columns must have codes and labels")
    codes, labels = stored["codes"], stored["labels"]
    if not isinstance(codes, list) or not all(isinstance(code, dict) for code in codes):
        raise RefusedError("the codes of columns must be a list of dictionaries")
    columns = [code.pop("column", None) for code in codes]
    _check_names("columns", columns)
    if labels is not None:
        _check_names("labels", labels)
        if not set(columns) <= set(labels):
            raise RefusedError("the labels of columns lack one that is encoded")
    encoding = Encoding(
        {column: _code_of(code, column) for column, code in zip(columns, codes, strict=True)},
        None if labels is None else tuple(labels),
    )
    if encoding.n_features == 0:
        raise RefusedError("the encoded columns have no features")
    return encoding


def _check_names(what: str, names: Any) -> None:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise RefusedError(f"the {what} must be a list of names")
    if len(set(names)) < len(names):
        raise RefusedError(f"the {what} must be distinct")


def _code_of(stored: Any, column: str) -> Code:
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
        return _code_of(stored, column)
    raise RefusedError(f"the code of column '{column}' cannot hold {repr(stored)[:40]}")


def _is_age(code: Any) -> bool:
    return _is_reference(code.reference) and isinstance(code.of, NumericCode)


def _is_reference(text: str) -> bool:
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
    FlagCode: lambda code: 0.0 <= code.fill <= 1.0,
    CategoryCode: lambda code: len(set(code.categories)) == len(code.categories),
}
