"""Plain ``.npy`` files, written and read in pieces."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from rankwise.mapped import check_not_cut, map_file
from rankwise.types import AnyArray

HEADER_BYTES = 128
PIECE_BYTES = 1 << 23


@dataclass(frozen=True)
class ArrayFile:
    """The manifest entry of one array of a store; the checksum is the CRC-32 of the elements."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    crc32: int


class ArrayWriter:
    """A ``.npy`` file that grows."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.path = path
        self.dtype = np.dtype(dtype)
        self.size = 0
        self._crc32 = 0
        self._file = path.open("wb")
        self._file.write(bytes(HEADER_BYTES))

    def append(self, array: AnyArray) -> None:
        """Append the elements of an array, row by row."""
        for piece in pieces(array):
            data = np.ascontiguousarray(piece, dtype=self.dtype).reshape(-1).view(np.uint8).data
            self._crc32 = zlib.crc32(data, self._crc32)
            self._file.write(data)
        self.size += array.size

    def finish(self, shape: tuple[int, ...] | None = None) -> ArrayFile:
        """Write the header, by default for a one-dimensional array, and close the file."""
        shape = (self.size,) if shape is None else shape
        self._file.seek(0)
        self._file.write(_header(self.dtype, shape))
        self.close()
        size = HEADER_BYTES + self.size * self.dtype.itemsize
        return ArrayFile(self.path.name, self.dtype.str, shape, size, self._crc32)

    def close(self) -> None:
        self._file.close()


def write_array(
    path: Path, dtype: DTypeLike, parts: Iterable[AnyArray], shape: tuple[int, ...] | None = None
) -> ArrayFile:
    """Write the parts of an array one after another."""
    writer = ArrayWriter(path, dtype)
    try:
        for part in parts:
            writer.append(part)
        return writer.finish(shape)
    finally:
        writer.close()


def pieces(array: AnyArray) -> Iterator[AnyArray]:
    """Consecutive rows of an array, about `PIECE_BYTES` at a time."""
    row_bytes = max(1, array.itemsize * int(np.prod(array.shape[1:], dtype=np.int64)))
    step = max(1, PIECE_BYTES // row_bytes)
    for start in range(0, len(array), step):
        check_not_cut([array])
        yield array[start : start + step]


def read_pieces(path: Path, dtype: DTypeLike, offset: int = 0) -> Iterator[AnyArray]:
    """The elements of a file from byte `offset` onwards, about `PIECE_BYTES` at a time."""
    with path.open("rb") as file:
        file.seek(offset)
        while len(piece := np.fromfile(file, dtype=dtype, count=PIECE_BYTES // np.dtype(dtype).itemsize)):
            yield piece


def map_array(path: Path, entry: ArrayFile) -> AnyArray:
    """Map an array into memory; raise ValueError if the header does not match the manifest entry."""
    with path.open("rb") as file:
        if file.read(HEADER_BYTES) != _header(np.dtype(entry.dtype), entry.shape):
            raise ValueError("the header of the array does not match the manifest")
    return map_file(path, dtype=entry.dtype, offset=HEADER_BYTES, shape=entry.shape)


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The header in format 1.0, padded to `HEADER_BYTES` so that it can be written last."""
    fields = repr({"descr": dtype.str, "fortran_order": False, "shape": shape})
    start = b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little")
    return start + fields.encode().ljust(HEADER_BYTES - 11) + b"\n"
