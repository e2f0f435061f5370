"""The manifest of a store: what the store contains, and whether the files still match."""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import DataError, FileFormatError
from rankwise.foreign_json import parse_json
from rankwise.readers.npy import HEADER_BYTES, ArrayFile, map_array, read_pieces
from rankwise.types import AnyArray

MANIFEST = "manifest.json"
VERSION = 2
_FORMAT = "rankwise store"
_FILE_NAME = re.compile(r"[A-Za-z0-9_]{1,100}\.npy")
#: The kinds of dtypes that labels may have: numbers, fixed-width text and dates.
LABEL_KINDS = "biufUM"
_DTYPE = re.compile(rf"[<>|][{LABEL_KINDS}]\d{{1,9}}(\[\w+\])?")


@dataclass(frozen=True)
class Manifest:
    """The contents of ``manifest.json``; docs/data-files.md lists the array names."""

    n_rows: int
    n_features: int
    n_queries: int
    feature_names: tuple[str, ...] | None
    scaled_per_query: bool
    arrays: dict[str, ArrayFile]
    numbered_from: int | None = None

    @property
    def bytes(self) -> int:
        """The total size of the arrays on disk."""
        return sum(entry.bytes for entry in self.arrays.values())


def write_manifest(folder: Path, manifest: Manifest) -> None:
    text = json.dumps({"format": _FORMAT, "version": VERSION, **asdict(manifest)}, indent=1)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a store and check everything that does not require reading arrays."""
    manifest = _read(folder)
    for name, entry in manifest.arrays.items():
        _check_file(folder, name, entry)
    return manifest


def check_is_store(folder: Path) -> None:
    """Raise an error unless a folder is a store, possibly with damaged arrays, and contains nothing else."""
    try:
        ours = {MANIFEST, *(entry.file for entry in _read(folder).arrays.values())}
    except FileFormatError as error:
        raise DataError(f"{folder} is not a rankwise store; refusing to overwrite it.") from error
    for path in sorted(folder.iterdir()):
        if path.name not in ours or path.is_dir():
            raise DataError(
                f"{folder} contains {path.name!r}, which is not part of the store; refusing to overwrite it."
            )


def which_store(folder: Path) -> tuple[int, int, int] | None:
    """Identify the store that is currently in a folder; None if there is none."""
    try:
        status = (folder / MANIFEST).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns


def _read(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if folder.exists() and not path.is_file():
        raise FileFormatError(folder, f"this is not a store: it has no {MANIFEST}.")
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileFormatError(path, f"the manifest is not valid JSON: {error}.") from error
    if not isinstance(content, dict) or content.pop("format", None) != _FORMAT:
        raise FileFormatError(path, f"this is not the manifest of a {_FORMAT}.")
    version = content.pop("version", None)
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        advice = "it was written by a newer rankwise, so upgrade" if newer else "convert the data again"
        raise FileFormatError(
            path, f"the store has version {version!r}, but this rankwise reads version {VERSION}; {advice}."
        )
    return _parse(path, content)


def _parse(path: Path, content: dict[str, Any]) -> Manifest:
    """Build the manifest, or raise an error that names the first field of the wrong type."""

    def check(is_right: bool, what: str) -> None:
        if not is_right:
            raise FileFormatError(path, f"the manifest is corrupt: {what}.")

    expected = {field.name for field in fields(Manifest)}
    numbered_from = content.setdefault("numbered_from", None)  # unknown to stores written before
    check(content.keys() == expected, f"it must have exactly the fields {', '.join(sorted(expected))}")
    for name in ("n_rows", "n_features", "n_queries"):
        check(_is_count(content[name]), f"{name} must be a non-negative integer, got {content[name]!r}")
    scaled = content["scaled_per_query"]
    check(isinstance(scaled, bool), f"scaled_per_query must be true or false, got {scaled!r}")
    is_first = type(numbered_from) is int and numbered_from in (0, 1)
    check(numbered_from is None or is_first, f"numbered_from must be null, 0 or 1, got {numbered_from!r}")
    names = content["feature_names"]
    is_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
    check(names is None or is_names, "feature_names must be null or a list of names")
    check(isinstance(content["arrays"], dict), "arrays must be an object")
    arrays = {}
    for name, entry in content["arrays"].items():
        check(
            isinstance(entry, dict)
            and entry.keys() == {field.name for field in fields(ArrayFile)}
            and isinstance(entry["file"], str)
            and _is_dtype(entry["dtype"])
            and isinstance(entry["shape"], list)
            and all(_is_count(length) for length in (*entry["shape"], entry["bytes"], entry["crc32"])),
            f"the entry of the array {name!r} is invalid",
        )
        arrays[name] = ArrayFile(**{**entry, "shape": tuple(entry["shape"])})
    return Manifest(
        n_rows=content["n_rows"],
        n_features=content["n_features"],
        n_queries=content["n_queries"],
        feature_names=None if names is None else tuple(names),
        scaled_per_query=scaled,
        arrays=arrays,
        numbered_from=numbered_from,
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_dtype(value: object) -> bool:
    """Whether a value names a dtype of numbers, dates or fixed-width text; never objects."""
    if not (isinstance(value, str) and _DTYPE.fullmatch(value)):
        return False  # NumPy evaluates other text as lists of types
    try:
        return np.dtype(value).str == value
    except (TypeError, ValueError):
        return False


def _check_file(folder: Path, name: str, entry: ArrayFile) -> None:
    path = folder / entry.file
    if not _FILE_NAME.fullmatch(entry.file) or path.resolve().parent != folder.resolve():
        raise FileFormatError(
            folder / MANIFEST, f"the file {entry.file[:60]!r} of the array {name!r} is outside the store."
        )
    if not path.is_file():
        raise FileFormatError(path, f"the file is missing, but the manifest lists it for the array {name!r}.")
    n_elements = 1
    for length in entry.shape:
        n_elements *= length
    expected = HEADER_BYTES + n_elements * np.dtype(entry.dtype).itemsize
    if entry.bytes != expected:
        raise FileFormatError(
            folder / MANIFEST, f"the size of the array {name!r} does not match its shape and dtype."
        )
    size = path.stat().st_size
    if size != expected:
        raise FileFormatError(
            path, f"the file has {size:,} bytes instead of {expected:,}; it was truncated or modified."
        )


def open_array(folder: Path, entry: ArrayFile) -> AnyArray:
    """Map one array into memory."""
    path = folder / entry.file
    try:
        return map_array(path, entry)
    except ValueError as error:
        raise FileFormatError(path, f"{error}.") from error


def verify_checksums(folder: Path, manifest: Manifest) -> None:
    """Read every array and compare its checksum, in O(bytes) time and bounded memory."""
    for entry in manifest.arrays.values():
        crc32 = 0
        for piece in read_pieces(folder / entry.file, np.uint8, HEADER_BYTES):
            crc32 = zlib.crc32(piece.data, crc32)
        if crc32 != entry.crc32:
            raise FileFormatError(
                folder / entry.file, "the checksum does not match; the file was modified or is corrupt."
            )
