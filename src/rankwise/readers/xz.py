"""Reading .xz files whose headers may lie: Python's own reader allocates whatever dictionary they claim."""

from __future__ import annotations

import io
import lzma
from typing import IO, Any

#: A header may claim 4 GB; ``xz -9`` needs 65 MB to decompress.
MAX_MEMORY = 1 << 28


def open_xz(file: Any, mode: str) -> Any:
    """Like `lzma.open`, but files to read must be .xz, and may take no more than `MAX_MEMORY` bytes."""
    return io.BufferedReader(_Decompressed(file)) if mode == "rb" else lzma.open(file, mode)


class _Decompressed(io.RawIOBase):
    """The content of streams that follow each other, perhaps with zeros between them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._decoder = file, _decoder()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with memoryview(buffer).cast("B") as view:
            block = self._decompress(len(view))
            view[: len(block)] = block
        return len(block)

    def _decompress(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        while True:
            compressed = b""
            if self._decoder.eof:
                compressed = self._next_stream()
                if not compressed:
                    return b""
                self._decoder = _decoder()
            elif self._decoder.needs_input:
                compressed = self._file.read(io.DEFAULT_BUFFER_SIZE)
                if not compressed:
                    raise EOFError("the file ends before its stream does")
            if block := self._decoder.decompress(compressed, size):
                return block

    def _next_stream(self) -> bytes:
        begun = self._decoder.unused_data.lstrip(b"\0")
        while not begun and (read := self._file.read(io.DEFAULT_BUFFER_SIZE)):
            begun = read.lstrip(b"\0")
        return begun


def _decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_MEMORY)
