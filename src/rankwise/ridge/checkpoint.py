"""Checkpoints: the state of long conjugate gradient runs, saved to disk.

Each run has one checkpoint file, written under a temporary name and moved into place, so a process killed at
any moment leaves the last complete one. An interrupted run resumes from it with bit-identical results.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import struct
import time
import zipfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import DataError, FileFormatError, warn_caller
from rankwise.files import replacing_file
from rankwise.ridge.cg_result import ShiftedCGResult
from rankwise.ridge.shifted_cg import ShiftedCGState
from rankwise.types import AnyArray

NAME = "conjugate-gradient"
FILE = f"{NAME}.npz"
_NAMES = tuple(field.name for field in dataclasses.fields(ShiftedCGState))
# Measured values, which may be NaN.
_MEASURED = ("surface", "best_value")


class _FirstIteration(Exception):  # noqa: N818 (not an error: it ends the probe)
    pass


@dataclass(frozen=True)
class Checkpoint:
    """Call `shifted_cg`, saving its state along the way and resuming from what an earlier run saved.

    Attributes
    ----------
    folder : Path
        Created on the first save. If it contains a checkpoint for other data or options, an error is raised.
    seconds : float
        Minimum time between saves.
    name : str
        Name of this run's file in the folder, without extension.

    Notes
    -----
    A run is identified by its first iteration, which depends on X, labels, weights, pairs, alphas and
    held-out rows; comparing it on resuming costs one product.
    """

    folder: Path
    seconds: float = 60.0
    name: str = NAME

    def for_run(self, name: str) -> Checkpoint:
        """Return the checkpoint of one run of several: another file in the same folder."""
        return replace(self, name=f"{self.name}-{name}")

    @property
    def file(self) -> Path:
        return self.folder / f"{self.name}.npz"

    def __call__(self, run: partial[ShiftedCGResult]) -> ShiftedCGResult:
        """Call `shifted_cg`, passed with all of its arguments except `state` and `on_iteration`."""
        _, _, alphas = run.args
        plain = {name: value for name, value in run.keywords.items() if name not in ("held_out", "scores")}
        options = f"{list(alphas)} {plain}"
        saver = _Saver(self.file, self.seconds, options)
        if not self.file.exists():
            return run(on_iteration=saver)
        first, fingerprint = _first_iteration(run, options)
        state = read_state(self.file, first, fingerprint)
        if state is None:
            raise DataError(
                f"{self.file} belongs to a run with other data or options; "
                f"delete it or choose another folder."
            )
        saver.fingerprint = fingerprint
        return run(on_iteration=saver, state=state)


@dataclass
class _Saver:
    """Callback that saves the state at intervals."""

    path: Path
    seconds: float
    options: str
    fingerprint: str = ""
    saved_at: float = dataclasses.field(default_factory=time.monotonic)

    def __call__(self, state: ShiftedCGState) -> None:
        if not self.fingerprint:
            self.fingerprint = _fingerprint(state, self.options)
        if time.monotonic() - self.saved_at >= self.seconds:
            self._save(state)
            self.saved_at = time.monotonic()

    def _save(self, state: ShiftedCGState) -> None:
        """Write the state; a full disk must not stop training."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_state(self.path, state, self.fingerprint)
        except OSError as error:
            warn_caller(
                f"The checkpoint of iteration {state.iteration} could not be written ({error}); "
                f"training continues."
            )


def _first_iteration(run: partial[ShiftedCGResult], options: str) -> tuple[ShiftedCGState | None, str]:
    """Return the state after a run's first iteration and its fingerprint; None and "" if it makes none."""
    found: list[ShiftedCGState] = []

    def end(state: ShiftedCGState) -> None:
        found.append(state)
        raise _FirstIteration

    try:
        run(on_iteration=end)
    except _FirstIteration:
        return found[0], _fingerprint(found[0], options)
    return None, ""


def _fingerprint(state: ShiftedCGState, options: str) -> str:
    digest = hashlib.sha256(options.encode())
    for field in dataclasses.fields(state):
        digest.update(np.ascontiguousarray(getattr(state, field.name)).tobytes())
    return digest.hexdigest()


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
