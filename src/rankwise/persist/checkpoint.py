"""Long runs that survive: the state of conjugate gradient on disk.

A checkpoint is one file a run, written beside and moved into place, so that a process killed at any moment
leaves the last whole one. A run that is taken up again goes on to the same bits.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import DataError, FileFormatError, warn_caller
from rankwise.files import replacing_file
from rankwise.solvers.shifted_cg import ShiftedCGState
from rankwise.solvers.surface import ShiftedCGResult
from rankwise.types import AnyArray

FILE = "conjugate-gradient.npz"
_NAMES = tuple(field.name for field in dataclasses.fields(ShiftedCGState))


class _FirstIteration(Exception):  # noqa: N818 (not an error: it ends the probe)
    pass


@dataclass(frozen=True)
class Checkpoint:
    """Calls `shifted_cg`, saving its state on the way and taking up what an earlier run saved.

    Attributes
    ----------
    folder : Path
        Made when there is something to save. A checkpoint of other data or options in it is refused.
    seconds : float
        The least time between two saves.

    Notes
    -----
    What the run is about is recognised by its first iteration, into which X, labels, weights, pairs, alphas
    and validation data all enter: taking a run up costs one product to compare it.
    """

    folder: Path
    seconds: float = 60.0

    def __call__(self, run: partial[ShiftedCGResult]) -> ShiftedCGResult:
        """Call `shifted_cg`, which is given with all of its arguments but the state and what watches it."""
        _, _, alphas = run.args
        plain = {name: value for name, value in run.keywords.items() if name != "validation"}
        options = f"{list(alphas)} {plain}"
        saved = _read(self.folder / FILE)
        saver = _Saver(self.folder / FILE, self.seconds, options)
        if saved is None:
            return run(on_iteration=saver)
        state, fingerprint = saved
        if _fingerprint_of(run, options) != fingerprint:
            raise DataError(
                f"{self.folder} holds the checkpoint of a run on other data or with other options; "
                f"remove it, or choose another folder."
            )
        saver.fingerprint = fingerprint
        return run(on_iteration=saver, state=state)


@dataclass
class _Saver:
    """The callback that saves the state when it is time."""

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
        """Write the state; a disk that is full must not end the training."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with replacing_file(self.path) as beside, beside.open("wb") as file:
                arrays = {name: getattr(state, name) for name in _NAMES}
                np.savez(file, fingerprint=np.array(self.fingerprint), **arrays)
        except OSError as error:
            warn_caller(
                f"The checkpoint of iteration {state.iteration} could not be written ({error}); "
                f"training goes on."
            )


def _read(path: Path) -> tuple[ShiftedCGState, str] | None:
    """The saved state and the fingerprint of its run; None if nothing was saved."""
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            fields: dict[str, Any] = {name: _plain(file[name]) for name in _NAMES}
            return ShiftedCGState(**fields), str(file["fingerprint"])
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise FileFormatError(path, f"this is not a checkpoint of rankwise ({error}).") from error


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
