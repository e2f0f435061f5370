"""Consistency checks of a store's arrays, so that no kernel reads out of bounds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from rankwise.errors import FileFormatError
from rankwise.preferences.queries import Queries
from rankwise.readers.manifest import MANIFEST, Manifest
from rankwise.types import AnyArray, Matrix
from rankwise.validation.csr import are_inside, ascends


def check_shapes(folder: Path, manifest: Manifest) -> None:
    """Check that every array is present with the right shape and type."""
    for name, shape, dtypes in _expected_arrays(manifest):
        entry = manifest.arrays.get(name)
        if entry is None or entry.shape != shape or (dtypes and entry.dtype not in dtypes):
            kind = f" and dtype {' or '.join(dtypes)}" if dtypes else ""
            raise FileFormatError(
                folder / MANIFEST, f"the store must have an array {name!r} of shape {shape}{kind}."
            )
    names = manifest.feature_names
    if names is not None and len(names) != manifest.n_features:
        message = f"the store has {len(names)} feature names but {manifest.n_features} features."
        raise FileFormatError(folder / MANIFEST, message)


def _expected_arrays(manifest: Manifest) -> Iterator[tuple[str, tuple[int, ...], tuple[str, ...]]]:
    """Name, shape and allowed types (empty: any) of the arrays."""
    m, n, q = manifest.n_rows, manifest.n_features, manifest.n_queries
    yield "y", (m,), ("<f8",)
    yield "offsets", (q + 1,), ("<i8",)
    if "order" in manifest.arrays:
        yield "order", (m,), ("<i8",)
    if "sample_weight" in manifest.arrays:
        yield "sample_weight", (m,), ("<f8",)
    for name, length in (("query_labels", q), ("qid", m), ("docs", m)):
        if name in manifest.arrays:
            yield name, (length,), ()
    if "X" in manifest.arrays:
        yield "X", (m, n), ("<f8", "<f4")
        return
    entries = manifest.arrays["data"].shape[:1] if "data" in manifest.arrays else (0,)
    yield "data", entries, ("<f8", "<f4")
    index_types: tuple[str, ...] = ("<i4", "<i8")
    if "indptr" in manifest.arrays and manifest.arrays["indptr"].dtype in index_types:
        index_types = (manifest.arrays["indptr"].dtype,)  # SciPy requires the same type for both
    yield "indices", entries, index_types
    yield "indptr", (m + 1,), index_types


def check_structure(folder: Path, X: Matrix, queries: Queries, *, deep: bool) -> None:
    """Check all arrays that address rows, in O(rows), and, if `deep`, the column of every entry.

    Otherwise `validation` checks the columns when they are used.
    """

    def check(is_right: bool, name: str) -> None:
        if not is_right:
            raise FileFormatError(folder / f"{name}.npy", "the array does not match the others.")

    offsets, order = queries.offsets, queries.order
    check(_spans(offsets, X.shape[0]) and ascends(offsets, strictly=True), "offsets")
    check(order is None or _is_permutation(order), "order")
    if not isinstance(X, np.ndarray):
        check(_spans(X.indptr, len(X.data)) and ascends(X.indptr), "indptr")
        check(not deep or are_inside(X.indices, X.shape[1]), "indices")


def check_text(folder: Path, arrays: Mapping[str, AnyArray]) -> None:
    """Check that labels consist of characters, in O(bytes of text); Python can read nothing else as text."""
    for name, array in arrays.items():
        if array.dtype.kind == "U" and array.dtype.itemsize > 0:
            codes = array.view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
            if not are_inside(codes, sys.maxunicode + 1):
                message = "the array is corrupt: it contains invalid characters."
                raise FileFormatError(folder / f"{name}.npy", message)


def _spans(offsets: AnyArray, end: int) -> bool:
    return bool(offsets[0] == 0 and offsets[-1] == end)


def _is_permutation(order: AnyArray) -> bool:
    if not are_inside(order, len(order)):
        return False
    seen = np.zeros(len(order), dtype=bool)
    seen[order] = True
    return bool(seen.all())
