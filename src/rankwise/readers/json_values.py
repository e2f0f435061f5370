"""JSON that engines log: a value per line, or one for the whole file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankwise.errors import FileFormatError
from rankwise.foreign_json import parse_json
from rankwise.readers.text import BLOCK_BYTES, open_text

MAX_LOG_BYTES = 1 << 30


def entry_at(value: Any, *keys: str) -> Any:
    """The entry of nested objects; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def json_values(path: Path, what: str) -> Iterator[tuple[int, Any]]:
    """The JSON values of a file, one per line or one for the whole file, with their lines.

    `what` says what they should be, for the message on an empty file.
    """
    content = bytearray()
    with open_text(path) as file:
        while block := file.read(BLOCK_BYTES):
            content += block
            if len(content) > MAX_LOG_BYTES:
                raise FileFormatError(path, f"the log is larger than {MAX_LOG_BYTES:,} bytes; split it.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].count(b"\n")
        raise FileFormatError(path, "the log is not UTF-8 text.", before + 1) from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise FileFormatError(path, f"the file is empty; expected {what} as JSON.")
    try:
        parse_json(lines[0][1])
    except ValueError:  # the first line is not a value by itself, so the file must be one
        lines = [(lines[0][0], text)]
    for number, line in lines:
        try:
            yield number, parse_json(line)
        except ValueError as error:
            at = getattr(error, "lineno", 1) - 1 if len(lines) == 1 else 0
            reason = getattr(error, "msg", str(error))
            raise FileFormatError(path, f"not valid JSON: {reason}.", number + at) from None
