"""Encodings as plain values for files, and back, with nothing taken on trust."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from rankwise.columns.codes import AgeCode, CategoryCode, Code, FlagCode, RelativeCode
from rankwise.columns.encoding import Encoding
from rankwise.columns.interaction_codes import (
    AxisBasis,
    AxisCode,
    FoundInteraction,
    InteractionCode,
    InteractionSearch,
)
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


def plain_encoding(encoding: Encoding) -> dict[str, Any]:
    """The encoding as numbers, names, lists and dictionaries."""
    codes = [{"column": column, **plain_code(code)} for column, code in encoding.codes.items()]
    stored = {"codes": codes, "labels": None if encoding.labels is None else list(encoding.labels)}
    if encoding.interactions or encoding.search is not None:
        stored |= plain_interactions(encoding)
    return stored


def encoding_of(stored: Any) -> Encoding:
    """The encoding that plain values describe; anything else is refused."""
    keys = set(stored) if isinstance(stored, dict) else set()
    if keys - {"interactions", "search"} != {"codes", "labels"}:
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
    by_column = {column: code_from(code, column) for column, code in zip(columns, codes, strict=True)}
    encoding = Encoding(by_column, None if labels is None else tuple(labels))
    encoding = with_stored_interactions(encoding, stored)
    if encoding.n_features == 0:
        raise RefusedError("the encoded columns have no features")
    return encoding


def _check_names(what: str, names: Any) -> None:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise RefusedError(f"the {what} must be a list of names")
    if len(set(names)) < len(names):
        raise RefusedError(f"the {what} must be distinct")


def plain_interactions(encoding: Encoding) -> dict[str, Any]:
    """The interactions as numbers, names, lists and dictionaries, and how they were found."""
    stored = [
        {
            "columns": list(code.columns),
            "axes": [_plain_axis(axis) for axis in code.axes],
            "kept": None if code.kept is None else list(code.kept),
        }
        for code in encoding.interactions
    ]
    return {"interactions": stored, "search": None if encoding.search is None else asdict(encoding.search)}


def _plain_axis(axis: AxisCode) -> dict[str, Any]:
    return {"of": plain_code(axis.of), "means": list(axis.means), "reference": axis.reference}


def with_stored_interactions(encoding: Encoding, stored: dict[str, Any]) -> Encoding:
    """The encoding with the interactions that plain values describe; files without any have no entry."""
    codes = stored.get("interactions", [])
    if not isinstance(codes, list):
        raise RefusedError("the interactions of columns must be a list")
    interactions = tuple(_interaction(code, encoding) for code in codes)
    pairs = {frozenset(code.columns) for code in interactions}
    if len(pairs) < len(interactions):
        raise RefusedError("the interactions of columns must be distinct")
    search = stored.get("search")
    return replace(encoding, interactions=interactions, search=None if search is None else _search(search))


def _interaction(stored: Any, encoding: Encoding) -> InteractionCode:
    if not isinstance(stored, dict) or stored.keys() != {"columns", "axes", "kept"}:
        raise RefusedError("an interaction must have columns, axes and kept")
    columns = _two_columns(stored["columns"])
    if not set(columns) <= set(encoding.codes):
        raise RefusedError(f"the interaction of {columns[0]!r:.40} and {columns[1]!r:.40} lacks a column")
    axes = stored["axes"]
    if not isinstance(axes, list) or len(axes) != 2:
        raise RefusedError("an interaction must have two axes")
    first, second = (_axis(axis, column) for axis, column in zip(axes, columns, strict=True))
    for axis, column in zip((first, second), columns, strict=True):
        if axis.reading is not encoding.codes[column].reading:
            raise RefusedError(f"the axis of column '{column}' reads it in another way than its code")
    kept = stored["kept"]
    if kept is not None:
        n = first.width * second.width
        are_places = isinstance(kept, list) and all(type(place) is int and 0 <= place < n for place in kept)
        if not are_places or any(a >= b for a, b in itertools.pairwise(kept)):
            raise RefusedError(f"the products kept of an interaction must be ascending, from 0 to {n - 1}")
        kept = tuple(kept)
    return InteractionCode(columns, (first, second), kept)


def _axis(stored: Any, column: str) -> AxisCode:
    if not isinstance(stored, dict) or stored.keys() != {"of", "means", "reference"}:
        raise RefusedError(f"the axis of column '{column}' must have a code, means and a reference")
    of, means, reference = code_from(stored["of"], column), stored["means"], stored["reference"]
    if not isinstance(of, AxisBasis) or of.width == 0 or getattr(of, "marks_missing", False):
        raise RefusedError(f"the code of the axis of column '{column}' makes no functions")
    if not isinstance(means, list) or len(means) != of.width or not all(map(_is_finite, means)):
        raise RefusedError(f"the axis of column '{column}' must have a mean for each of its functions")
    if reference is not None and not (isinstance(reference, str) and is_reference(reference)):
        raise RefusedError(f"the axis of column '{column}' must count ages from a date")
    return AxisCode(of, tuple(map(float, means)), reference)


def _search(stored: Any) -> InteractionSearch:
    fault = RefusedError("the record of the search for interactions is damaged")
    if not isinstance(stored, dict) or stored.keys() != {"found", "tried", "alphas"}:
        raise fault
    found, tried, alphas = stored["found"], stored["tried"], stored["alphas"]
    if not (isinstance(found, list | tuple) and isinstance(alphas, list | tuple) and type(tried) is int):
        raise fault
    names = {"columns", "gain", "z", "stage"}
    for one in found:
        if not isinstance(one, dict) or one.keys() != names or type(one["stage"]) is not int:
            raise fault
        if not (_is_finite(one["gain"]) and _is_finite(one["z"])):
            raise fault
    if not all(map(_is_finite, alphas)):
        raise fault
    of_found = (
        FoundInteraction(_two_columns(one["columns"]), float(one["gain"]), float(one["z"]), one["stage"])
        for one in found
    )
    return InteractionSearch(tuple(of_found), tried, tuple(map(float, alphas)))


def _two_columns(stored: Any) -> tuple[str, str]:
    are_names = isinstance(stored, list | tuple) and len(stored) == 2
    if not are_names or not all(isinstance(name, str) for name in stored) or stored[0] == stored[1]:
        raise RefusedError("an interaction must name two columns")
    return stored[0], stored[1]


def _is_finite(number: Any) -> bool:
    is_number = type(number) in (int, float)
    return is_number and abs(number) <= sys.float_info.max and math.isfinite(number)
