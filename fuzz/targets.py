"""What must hold for any bytes in place of a file: one function per kind of file.

Every function writes the bytes to a file and reads it. Either the reader refuses with a sentence, or the
result is valid: it can be used, and reading it again after writing gives the same. A violated claim raises
something other than a `RankwiseError`. Most functions take the first byte as a choice of options.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from fuzz.data_targets import journals, judgments, letor, lines, logs, pairs, scores, stores, tables, trec
from fuzz.model_targets import checkpoints, models, moments, settings, svmrank

Target = Callable[[bytes, Path], None]

DATA: tuple[Target, ...] = (lines, letor, pairs, judgments, journals, tables, stores, scores, trec, logs)
MODELS: tuple[Target, ...] = (models, moments, checkpoints, svmrank, settings)
TARGETS = {target.__name__: target for target in (*DATA, *MODELS)}


def _leave_unflushed(handle: int) -> None:
    """Instead of `os.fsync`: files need not survive the run."""


def run(name: str, content: bytes, folder: Path) -> None:
    """Try one input; warnings, as of numbers that overflow, are not findings."""
    with warnings.catch_warnings(), mock.patch("os.fsync", new=_leave_unflushed):
        warnings.simplefilter("ignore")
        TARGETS[name](content, folder)
