"""Checkpoints: the state of long conjugate gradient runs, saved to disk.

Each run has one checkpoint file, written under a temporary name and moved into place, so a process killed at
any moment leaves the last complete one. An interrupted run resumes from it with bit-identical results.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
import zipfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import DataError, FileFormatError, warn_caller
from rankwise.files import replacing_file
from rankwise.solvers.cg_result import ShiftedCGResult
from rankwise.solvers.shifted_cg import ShiftedCGState
from rankwise.types import AnyArray

NAME = "conjugate-gradient"
FILE = f"{NAME}.npz"
_NAMES = tuple(field.name for field in dataclasses.fields(ShiftedCGState))


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

    def part(self, name: str) -> Checkpoint:
        """Return a checkpoint for part of the work: another file in the same folder."""
        return replace(self, name=f"{self.name}-{name}")

    @property
    def file(self) -> Path:
        return self.folder / f"{self.name}.npz"

    def __call__(self, run: partial[ShiftedCGResult]) -> ShiftedCGResult:
        """Call `shifted_cg`, passed with all of its arguments except `state` and `on_iteration`."""
        _, _, alphas = run.args
        plain = {name: value for name, value in run.keywords.items() if name not in ("held_out", "scores")}
        options = f"{list(alphas)} {plain}"
        saved = _read(self.file)
        saver = _Saver(self.file, self.seconds, options)
        if saved is None:
            return run(on_iteration=saver)
        state, fingerprint = saved
        if _fingerprint_of(run, options) != fingerprint:
            raise DataError(
                f"{self.file} is the checkpoint of a run with other data or options; "
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
            with replacing_file(self.path) as beside, beside.open("wb") as file:
                arrays = {name: getattr(state, name) for name in _NAMES}
                np.savez(file, fingerprint=np.array(self.fingerprint), **arrays)
        except OSError as error:
            warn_caller(
                f"The checkpoint of iteration {state.iteration} could not be written ({error}); "
                f"training continues."
            )


def _read(path: Path) -> tuple[ShiftedCGState, str] | None:
    """Return the saved state and the fingerprint of its run, or None if nothing was saved."""
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            fields: dict[str, Any] = {name: _plain(file[name]) for name in _NAMES}
            return ShiftedCGState(**fields), str(file["fingerprint"])
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise FileFormatError(path, f"is not a rankwise checkpoint ({error}).") from error


def _plain(array: AnyArray) -> Any:
    return array if array.ndim else array.item()


def _fingerprint_of(run: partial[ShiftedCGResult], options: str) -> str:
    found = []

    def first(state: ShiftedCGState) -> None:
        found.append(_fingerprint(state, options))
        raise _FirstIteration

    try:
        run(on_iteration=first)
    except _FirstIteration:
        return found[0]
    return ""


def _fingerprint(state: ShiftedCGState, options: str) -> str:
    digest = hashlib.sha256(options.encode())
    for name in _NAMES:
        digest.update(np.ascontiguousarray(getattr(state, name)).tobytes())
    return digest.hexdigest()
