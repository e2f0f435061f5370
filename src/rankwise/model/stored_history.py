"""The history of a model as plain values for its file, and back, with nothing taken on trust."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, replace
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from rankwise.model.history import File, History, Result, Step, UsedRows
from rankwise.tensor_file import RefusedError

_PARTS = (Step, UsedRows, File, Result)


def plain_history(history: History) -> list[dict[str, Any]]:
    """The steps as dictionaries, lists, numbers and text; what is not known is left out."""
    return [
        _known({name: value for name, value in asdict(step).items() if name != "closed"}) for step in history
    ]


def _known(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _known(value) for name, value in content.items() if value not in (None, (), {})}
    return [_known(value) for value in content] if isinstance(content, tuple) else content


def history_of(stored: Any) -> History:
    """The steps that plain values describe; anything else is refused."""
    steps: History = _built(stored, tuple[Step, ...], "history")
    if not steps:
        raise RefusedError("the history of the model is empty")
    return tuple(replace(step, closed=True) for step in steps)


def _built(stored: Any, kind: Any, name: str) -> Any:
    """A value of an annotated type, made of plain values."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind in _PARTS and isinstance(stored, dict):
        kinds = get_type_hints(kind)
        needed = {
            one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING
        }
        if needed <= stored.keys() <= kinds.keys() - {"closed"}:
            return kind(**{key: _built(value, kinds[key], key) for key, value in stored.items()})
    elif origin is tuple and isinstance(stored, list):
        return tuple(_built(entry, parts[0], name) for entry in stored)
    elif origin is Mapping and isinstance(stored, dict):
        return {key: _built(entry, parts[1], name) for key, entry in stored.items()}
    elif origin is UnionType:
        (known,) = (part for part in parts if part is not NoneType)
        return _built(stored, known, name)
    elif (kind is str and isinstance(stored, str)) or (kind is int and _is_count(stored)):
        return stored
    elif kind is float and type(stored) in (int, float) and abs(stored) <= sys.float_info.max:
        return float(stored)
    raise RefusedError(f"the history of the model cannot have {stored!r:.40} as '{name}'")


def _is_count(stored: Any) -> bool:
    return type(stored) is int and 0 <= stored < 1 << 63
