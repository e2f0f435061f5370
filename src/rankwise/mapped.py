"""Memory-mapped arrays, which may be larger than memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwise import _native
from rankwise.types import AnyArray

# Bytes read at a time when a whole array must be scanned.
BLOCK_BYTES = 1 << 23


def is_mapped(array: Any) -> bool:
    """Whether this is an array backed by a read-only memory map of a file."""
    if not isinstance(array, np.ndarray) or array.flags.writeable:
        return False
    owner: Any = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    return owner is not None


def is_on_disk(X: Any) -> bool:
    """Whether a dense or CSR matrix is memory-mapped."""
    return is_mapped(X.data if hasattr(X, "indptr") else X)


def blocks_of(array: AnyArray) -> Iterator[AnyArray]:
    """Yield the entries of an array in blocks, releasing the pages of a memory-mapped one after use."""
    flat, mapped = array.reshape(-1), is_mapped(array)
    size = max(1, BLOCK_BYTES // array.itemsize)
    for start in range(0, flat.size, size):
        block = flat[start : start + size]
        yield block
        if mapped:
            _native.give_back_pages(block)
