"""Digests of queries and rows: 64-bit numbers that depend on nothing but labels and values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.types import AnyArray, Ints, Matrix, is_sparse

# Values that are looked at together.
_AT_ONCE = 1 << 16


def label_digests(labels: Sequence[Any]) -> Ints:
    """Digests that do not depend on the process.

    1, 1.0 and "1" are the same label, because text files cannot tell them apart, unless several of them
    occur together.
    """
    texts = [label_text(label) for label in labels]
    if len(set(texts)) < len(texts):
        texts = [repr(label) for label in labels]
    return np.array([_digest(text) for text in texts], dtype=np.int64)


def label_text(label: Any) -> str:
    """A label as files show it: 1.0 is 1."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _digest(text: str) -> int:
    hashed = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(hashed, "little", signed=True)


def row_digests(*blocks: Matrix, places: Ints | None = None) -> Any:
    """Digests of the rows that these matrices have side by side, as uint64; storage plays no part.

    `places` are the numbers of all columns, if they are not in order: a column of zeros that comes later, but
    has a number after all others, changes no digest.
    """
    factors = np.random.PCG64(2026).random_raw(sum(X.shape[1] for X in blocks)) | np.uint64(1)
    factors = factors if places is None else factors[places]
    sums, start = np.zeros(blocks[0].shape[0], dtype=np.uint64), 0
    for X in blocks:
        sums += _row_sums(X, factors[start : start + X.shape[1]])
        start += X.shape[1]
    return mixed(sums)


def repeated(digests: AnyArray) -> AnyArray:
    """Those that occur more than once."""
    ordered = np.sort(digests)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def mixed(numbers: Any) -> Any:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014).

    Sums of its results are not sums of the numbers.
    """
    result = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    result = (result ^ (result >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return result ^ (result >> np.uint64(31))


def _row_sums(X: Matrix, factors: Any) -> Any:
    """``Σ_j bits(x_ij) k_j`` modulo 2⁶⁴; entries that are 0 contribute nothing, stored or not."""
    if is_sparse(X):
        from scipy import sparse

        stored: Any = X
        return sparse.csr_array((_bits(X.data), stored.indices, stored.indptr), shape=X.shape) @ factors
    sums = np.empty(X.shape[0], dtype=np.uint64)
    rows = max(1, _AT_ONCE // max(1, X.shape[1]))
    for first in range(0, X.shape[0], rows):
        place = slice(first, first + rows)
        sums[place] = np.einsum("ij,j->i", _bits(X[place]), factors)
    return sums


def _bits(values: Any) -> Any:
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)  # −0.0 + 0.0 is 0.0
