"""Checkpoints: the state of long conjugate gradient runs, saved to disk.

Each run has one checkpoint file, written under a temporary name and moved into place, so a process killed at
any moment leaves the last complete one. An interrupted run resumes from it with bit-identical results.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from rankwise.errors import DataError, warn_caller
from rankwise.ridge.cg_result import ShiftedCGResult
from rankwise.ridge.checkpoint_files import read_state, write_state
from rankwise.ridge.shifted_cg import ShiftedCGState

NAME = "conjugate-gradient"
FILE = f"{NAME}.npz"


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
        saver = _Saver(self.file, self.seconds, options)
        if not self.file.exists():
            return run(on_iteration=saver)
        first, fingerprint = _first_iteration(run, options)
        state = read_state(self.file, first, fingerprint)
        if state is None:
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
