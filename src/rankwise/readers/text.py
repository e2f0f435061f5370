"""Text files, plain or compressed, as blocks of whole lines in bounded memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any

from rankwise.errors import FileFormatError
from rankwise.readers.xz import open_xz

#: Called repeatedly by a long job with the number of input bytes read so far and in total.
OnBytesRead = Callable[[int, int], None]

BLOCK_BYTES = 1 << 22
MAX_LINE_BYTES = 1 << 30
MAX_SHORT_LINE_BYTES = 1 << 20

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Supported compression by file extension, which is case-insensitive.
COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": open_xz, ".bz2": bz2.open}


@dataclass(frozen=True)
class TextBlock:
    """Whole lines. The text always ends with a newline; `complete` is False if the file did not."""

    text: memoryview
    complete: bool = True


class LineTooLongError(Exception):
    """The line after the last block is longer than `MAX_LINE_BYTES`."""


def decoded(text: bytes) -> str:
    """Decode UTF-8 text; invalid bytes are shown as ``\\xe9``."""
    return text.decode("utf-8", errors="backslashreplace")


def create_text(path: Path) -> Any:
    """Open a binary file for writing, compressed according to its extension."""
    create = _compression(path)
    return create(path, "wb") if create is not None else path.open("wb")


@contextmanager
def open_text(path: Path) -> Iterator[Any]:
    """Open a binary file for reading, decompressed according to its extension."""
    decompress = _compression(path)
    with path.open("rb") as raw, _damage_named(path):
        yield raw if decompress is None else decompress(raw, "rb")


def numbered_lines(file: IO[bytes], path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of an open file with their numbers; an overlong line is rejected without being read."""
    for number in count(1):
        line = file.readline(MAX_SHORT_LINE_BYTES + 1)
        if not line:
            return
        if len(line) > MAX_SHORT_LINE_BYTES:
            raise FileFormatError(path, f"the line is longer than {MAX_SHORT_LINE_BYTES:,} bytes.", number)
        yield number, line


def line_blocks(path: str | os.PathLike[str], progress: OnBytesRead | None = None) -> Iterator[TextBlock]:
    """Yield the text of a file in blocks of whole lines, decompressed according to its extension.

    A byte order mark is skipped, and a missing final newline is added. A block is valid until the next one is
    requested; blocks are larger than `BLOCK_BYTES` only if a single line is.
    """
    path = Path(path)
    with path.open("rb", buffering=0) as raw, _damage_named(path):
        total = os.fstat(raw.fileno()).st_size
        decompress = _compression(path)
        for block in _whole_lines(raw if decompress is None else decompress(raw, "rb")):
            yield block
            if progress is not None and raw.seekable():
                progress(raw.tell(), total)


def _compression(path: Path) -> Callable[..., Any] | None:
    return COMPRESSED.get(path.suffix.lower())


def _whole_lines(source: Any) -> Iterator[TextBlock]:
    buffer = bytearray(BLOCK_BYTES)
    filled = _fill(source, buffer, 0)
    start = len(BYTE_ORDER_MARK) if buffer.startswith(BYTE_ORDER_MARK) else 0
    while filled == len(buffer):
        end = buffer.rfind(b"\n") + 1
        if end > start:
            yield TextBlock(memoryview(buffer)[start:end])
            buffer[: filled - end] = buffer[end:filled]
            filled, start = filled - end, 0
        elif len(buffer) < MAX_LINE_BYTES:
            buffer = buffer + bytes(len(buffer))
        else:
            raise LineTooLongError
        filled = _fill(source, buffer, filled)
    complete = buffer[:filled].endswith(b"\n")
    if not complete:
        buffer[filled] = ord("\n")
        filled += 1
    yield TextBlock(memoryview(buffer)[start:filled], complete)


def _fill(source: Any, buffer: bytearray, filled: int) -> int:
    """Read until the buffer is full or the source ends; return the number of bytes in the buffer."""
    with memoryview(buffer) as view:
        while filled < len(buffer) and (count := source.readinto(view[filled:])):
            filled += count
    return filled


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    """Turn errors in compressed data into one sentence, and add the file name to system errors."""
    try:
        yield
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = str(path)
            raise
        raise FileFormatError(path, f"the compressed data is corrupt or truncated: {error}.") from error
