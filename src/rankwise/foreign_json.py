"""JSON that others wrote: bounded in length and depth, and refused with the reason."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rankwise.errors import FileFormatError
from rankwise.files import as_path

#: Twice as deep as anything that rankwise writes.
MAX_JSON_DEPTH = 20
MAX_JSON_BYTES = 1 << 26


def parse_json(text: str, *, unique_keys: bool = False) -> Any:
    """Parse JSON; ValueError if it is invalid, or nested too deeply to be processed safely.

    With `unique_keys`, also if an object has a key twice, of which Python keeps the last; that takes longer.
    """
    too_deep = ValueError("it is nested too deeply")
    try:
        content = json.loads(text, object_pairs_hook=unique if unique_keys else None)
    except RecursionError:
        raise too_deep from None
    level, depth = [content], 0
    while level := [entry for outer in level for entry in _entries(outer)]:
        depth += 1
        if depth > MAX_JSON_DEPTH:
            raise too_deep
    return content


def read_json_object(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """Read a file that holds one JSON object; `what` says what it should hold, for the message."""
    path = as_path(path)
    encoded = _read_bounded(path)
    try:
        content = parse_json(encoded.decode("utf-8"), unique_keys=True)
    except ValueError as error:  # UnicodeDecodeError is one
        raise FileFormatError(path, f"expected a JSON object with {what}: {error}.") from None
    if not isinstance(content, dict):
        raise FileFormatError(path, f"expected a JSON object with {what}; got {type(content).__name__}.")
    return content


def _read_bounded(path: Path) -> bytes:
    """The content of a file; a device or pipe may have no end."""
    with path.open("rb") as file:
        content = file.read(MAX_JSON_BYTES + 1)
    if len(content) > MAX_JSON_BYTES:
        raise FileFormatError(path, f"is longer than {MAX_JSON_BYTES:,} bytes, the limit for a JSON object.")
    return content


def unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary of keys and values; ValueError if a key occurs twice."""
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"{key[:40]!r} is given twice")
        values[key] = value
    return values


def _entries(outer: Any) -> Any:
    return outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
