"""Arrays that this library memory-mapped, which may be larger than memory.

The pages of such an array are released after use. Releasing pages of any other memory destroys its content:
private maps (``np.load(mmap_mode="c")``) lose what was written to them, and heap memory reads as zeros.
Therefore the maps opened here are recorded, and all other arrays, mapped or not, are ordinary arrays.
"""

from __future__ import annotations

import errno
import mmap
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from rankwise import _native
from rankwise.errors import FileFormatError
from rankwise.types import AnyArray

# Bytes read at a time when a whole array must be scanned.
BLOCK_BYTES = 1 << 23
# Rows read at a time from places all over an array.
ROWS_AT_ONCE = 128

_opened: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


def map_file(path: Path, *, dtype: DTypeLike, offset: int, shape: tuple[int, ...]) -> AnyArray:
    """Map the array that starts at byte `offset` of a file, read-only."""
    try:
        array: AnyArray = np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape)
    except OSError as error:
        if error.errno == errno.ENOMEM:  # a limit on address space
            raise MemoryError(f"{path} cannot be mapped") from error
        raise
    owner = _owner(array)
    if owner is not None:
        _opened.add(owner)
    return array


def is_mapped(array: Any) -> bool:
    """Whether this is an array from `map_file` or a view of one."""
    owner = _owner(array) if isinstance(array, np.ndarray) else None
    return owner is not None and owner in _opened


def is_on_disk(X: Any) -> bool:
    """Whether a dense or CSR matrix is memory-mapped; of CSR, both values and indices must be."""
    return all(map(is_mapped, (X.data, X.indices))) if hasattr(X, "indptr") else is_mapped(X)


def mapped_parts(X: Any) -> list[AnyArray]:
    """The arrays of a dense or CSR matrix that are memory-mapped."""
    arrays = (X.data, X.indices, X.indptr) if hasattr(X, "indptr") else (X,)
    return [array for array in arrays if is_mapped(array)]


def check_not_cut(arrays: Iterable[AnyArray]) -> None:
    """Reject mapped arrays whose files were truncated: reading past the end would kill the process.

    Called before a pass over a matrix, where it costs nothing; truncation during the pass goes unnoticed.
    """
    for array in arrays:
        mapped = _owner(array)
        if mapped is None:
            continue
        try:
            is_cut = mapped.size() < len(mapped)
        except OSError:  # an anonymous map, without a file
            continue
        if is_cut:
            raise FileFormatError(_file_of(array), "the file was truncated while in use.")


def blocks_of(array: AnyArray) -> Iterator[AnyArray]:
    """Yield the entries of an array in blocks, releasing the pages of a memory-mapped one after use."""
    flat = array.reshape(-1)
    # The entries of a strided block are not the bytes that follow its first one.
    mapped = is_mapped(flat) and flat.flags.c_contiguous
    size = max(1, BLOCK_BYTES // array.itemsize)
    for start in range(0, flat.size, size):
        if mapped:
            check_not_cut([array])
        block = flat[start : start + size]
        yield block
        if mapped:
            _native.give_back_pages(block)


def rows_at(X: Any, index: AnyArray) -> Any:
    """Return a copy of some rows of a dense or CSR matrix, a few at a time if it is on disk.

    Around each row of a map, the system keeps further pages in memory; they are released in between.
    """
    if not is_on_disk(X):
        return X[index]
    mapped = [array for array in mapped_parts(X) if array.flags.c_contiguous]
    parts = []
    for start in range(0, max(1, len(index)), ROWS_AT_ONCE):
        check_not_cut(mapped)
        parts.append(X[index[start : start + ROWS_AT_ONCE]])
        for array in mapped:
            _native.give_back_pages(array)
    if isinstance(X, np.ndarray):
        return np.concatenate(parts)
    from scipy import sparse

    return sparse.vstack(parts, format="csr")


def _owner(array: Any) -> mmap.mmap | None:
    """Return the map that an array's memory belongs to, if any."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = getattr(array, "base", None)
    return array


def _file_of(array: Any) -> str:
    while array is not None and getattr(array, "filename", None) is None:
        array = getattr(array, "base", None)
    return "A memory-mapped file" if array is None else str(array.filename)
