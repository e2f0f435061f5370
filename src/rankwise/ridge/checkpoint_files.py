"""Checkpoint files: an ``.npz`` with the arrays of a state and the fingerprint of its run.

Kernels trust the shapes of these arrays, so every array must have the type and shape that the current run
would write: the file determines neither how much memory is allocated nor where a kernel writes.
"""

from __future__ import annotations

import dataclasses
import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import FileFormatError
from rankwise.files import replacing_file
from rankwise.ridge.shifted_cg import ShiftedCGState
from rankwise.types import AnyArray

_NAMES = tuple(field.name for field in dataclasses.fields(ShiftedCGState))
# Measured values, which may be NaN.
_MEASURED = ("surface", "best_value")


def write_state(path: Path, state: ShiftedCGState, fingerprint: str) -> None:
    """Save a state and the fingerprint of its run."""
    with replacing_file(path) as beside, beside.open("wb") as file:
        arrays = {name: getattr(state, name) for name in _NAMES}
        np.savez(file, fingerprint=np.array(fingerprint), **arrays)


def read_state(path: Path, like: ShiftedCGState | None, fingerprint: str) -> ShiftedCGState | None:
    """Read the saved state of a run; return None if the run had another fingerprint.

    Parameters
    ----------
    path : Path
    like : ShiftedCGState or None
        Any state of the current run; None if it makes no iteration.
    fingerprint : str
        The fingerprint of the current run.

    Raises
    ------
    FileFormatError
        If the file is not a checkpoint, or not one that the current run can have written.
    """
    if not path.is_file():  # a device may have no end
        raise FileFormatError(path, "is not a rankwise checkpoint (it is not a regular file).")
    try:
        with zipfile.ZipFile(path) as archive:
            saved = str(_read_array(archive, "fingerprint", np.array("0" * 64)))
            if like is None or saved != fingerprint:
                return None
            arrays = {name: _read_array(archive, name, np.asarray(getattr(like, name))) for name in _NAMES}
    # `zipfile` raises NotImplementedError for compressions and versions that it does not know.
    except (ValueError, EOFError, OSError, struct.error, zipfile.BadZipFile, NotImplementedError) as error:
        raise FileFormatError(path, f"is not a rankwise checkpoint ({error}).") from error
    fields: dict[str, Any] = {name: array if array.ndim else array.item() for name, array in arrays.items()}
    state = ShiftedCGState(**fields)
    fault = _fault(state)
    if fault is not None:
        raise FileFormatError(path, f"the checkpoint is damaged: {fault}; delete it.")
    return state


def _read_array(archive: zipfile.ZipFile, name: str, like: AnyArray) -> AnyArray:
    """Read one array; raise ValueError unless it has the type and shape of `like`."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(like))
    expected = header.getvalue()
    try:
        entry = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise ValueError(f"it has no {name!r}") from None
    if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
        raise ValueError(f"{name!r} is compressed or encrypted")
    with archive.open(entry) as file:
        if file.read(len(expected)) != expected:
            raise ValueError(f"{name!r} should have the shape {like.shape} and the dtype {like.dtype}")
        content = file.read(like.nbytes)
        if len(content) != like.nbytes or file.read(1):
            raise ValueError(f"{name!r} should have {like.nbytes:,} bytes")
    return np.frombuffer(bytearray(content), dtype=like.dtype).reshape(like.shape)


def _fault(state: ShiftedCGState) -> str | None:
    """Describe the first value that no run can have saved, if any."""
    max_iter = state.surface.shape[1]
    if not 1 <= state.iteration <= max_iter:
        return f"the iteration {state.iteration} is not between 1 and {max_iter}"
    for name in ("n_iter", "best_iter"):
        counts = getattr(state, name)
        if ((counts < 0) | (counts > state.iteration)).any():
            return f"{name!r} is not between 0 and {state.iteration}"
    if (state.active.view(np.uint8) > 1).any():
        return "'active' contains values other than true and false"
    for name in _NAMES:
        if name not in _MEASURED and not np.isfinite(getattr(state, name)).all():
            return f"{name!r} is not finite"
    if state.step <= 0.0 or (state.active.any() and state.residual_square <= 0.0):
        return "its step or residual is not positive"
    return None
