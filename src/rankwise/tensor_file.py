"""Files of tensors and names: safetensors with a JSON header in the metadata entry ``rankwise``.

Model files and files of moments are such files. Reading checks the numbers and builds nothing, so a file may
be wrong but can never execute anything.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import FileFormatError
from rankwise.files import as_path, replacing_file
from rankwise.foreign_json import parse_json
from rankwise.types import AnyArray

# Version 2 renamed what RankSVM paths and searches measure, and put the alphas of paths in ascending order.
# Version 3 added how the columns of training rows are distributed, and the card.
SCHEMA = 3
_KEY = "rankwise"
# The safetensors names of the number types that files hold.
_TENSOR_TYPES = ("F64", "F32", "I64", "I32", "BOOL")


def write_tensors(
    path: str | os.PathLike[str], header: Mapping[str, Any], tensors: dict[str, AnyArray]
) -> None:
    """Write a file under a temporary name and move it into place."""
    from safetensors.numpy import save

    encoded = save(tensors, metadata={_KEY: json.dumps({"schema": SCHEMA, **header})})
    with replacing_file(path) as beside:
        beside.write_bytes(encoded)


def read_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The header of a file that `write_tensors` wrote, and its tensors; any other file is an error."""
    from safetensors import SafetensorError, safe_open

    path = as_path(path)
    if path.is_fifo() or path.is_char_device():
        raise FileFormatError(path, "is a pipe or a device; expected a regular file, which can be mapped.")
    path.open("rb").close()  # so that a missing or unreadable file is reported as such
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: _tensor(path, file, name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise FileFormatError(path, f"is not a model file or is damaged ({error}).") from None
    except OSError as error:
        if f"(os error {errno.ENOMEM})" in str(error):  # old versions of safetensors set no errno
            raise MemoryError(f"{path} cannot be mapped") from error
        raise
    try:
        header = parse_json(metadata[_KEY])
    except (KeyError, ValueError):
        raise FileFormatError(path, "is a safetensors file, but was not written by rankwise.") from None
    if not isinstance(header, dict) or type(header.get("schema")) is not int:
        raise FileFormatError(path, "is not a model file: its header has no schema version.")
    if header["schema"] > SCHEMA:
        raise FileFormatError(
            path,
            f"has schema {header['schema']}, written by {header.get('written_by')}, "
            f"but this version reads schemas up to {SCHEMA}; upgrade rankwise.",
        )
    return header, tensors


def _tensor(path: Path, file: Any, name: str) -> AnyArray:
    kind = file.get_slice(name).get_dtype()
    if kind not in _TENSOR_TYPES:
        raise FileFormatError(
            path, f"the tensor '{name}' holds numbers of type {kind}; expected {', '.join(_TENSOR_TYPES)}."
        )
    try:
        tensor: AnyArray = file.get_tensor(name)
    except ValueError as error:  # an empty tensor of more rows or columns than NumPy can count
        raise FileFormatError(path, f"the tensor '{name}' has an impossible shape ({error}).") from None
    return tensor


class RefusedError(Exception):
    """The reason a file's content cannot be the state of its class; the reader adds the file name."""


@dataclass
class Content:
    """The tensors and plain values of one model, as stored in a file."""

    tensors: dict[str, AnyArray] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def take_tensor(self, name: str, kinds: str, shape: str, *, nan: bool = False) -> AnyArray:
        """Check a tensor and remove it; anything left at the end was unexpected."""
        if name not in self.tensors:
            raise RefusedError(f"the tensor '{name}' is missing")
        tensor = self.tensors.pop(name)
        if tensor.dtype.kind not in kinds:
            expected = " or ".join(_KINDS[kind] for kind in kinds)
            raise RefusedError(f"the tensor '{name}' must hold {expected}, not {tensor.dtype}")
        self.match(name, tensor.shape, shape)
        if tensor.dtype.kind == "f" and not (np.isfinite(tensor) | (nan & np.isnan(tensor))).all():
            raise RefusedError(f"the tensor '{name}' holds a non-finite value")
        return tensor

    def match(self, name: str, shape: tuple[int, ...], pattern: str) -> None:
        """Check a shape against named dimensions, and record the sizes of new names."""
        names = pattern.split()
        required = [dimension for dimension in names if not dimension.endswith("?")]
        dimensions = required if len(shape) == len(required) else [d.rstrip("?") for d in names]
        sizes = dict(zip(dimensions, shape, strict=False))
        if len(dimensions) != len(shape) or any(self.sizes.get(d, n) != n for d, n in sizes.items()):
            wanted = ", ".join(f"{d}={self.sizes[d]}" if d in self.sizes else d for d in names)
            raise RefusedError(f"the tensor '{name}' must have shape ({wanted}), not {shape}")
        self.sizes |= sizes
        if any(sizes.get(dimension) == 0 for dimension in _NEVER_EMPTY):
            raise RefusedError(f"the tensor '{name}' is empty")


# A model without any of these could not score a row.
_NEVER_EMPTY = ("targets", "features", "basis", "breakpoints")
_KINDS = {"f": "floating-point numbers", "i": "integers", "b": "booleans"}
