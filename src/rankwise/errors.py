"""What rankwise raises when the user, a file or the data is at fault, and how it warns.

Every message is one sentence: what was wrong, where, and what was expected.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path


class RankwiseError(Exception):
    """Base of every error that rankwise raises on purpose; the command line shows it without a traceback."""


class ParameterError(RankwiseError, ValueError):
    """A parameter has a value that the method cannot take."""


class DataError(RankwiseError, ValueError):
    """The data cannot be used: lengths that disagree, missing values, nothing to compare."""


class DataTypeError(DataError, TypeError):
    """Entries are no numbers at all; a TypeError too, as scikit-learn's conventions ask."""


class FileFormatError(DataError):
    """A file does not hold what its format promises."""

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        where = f"{path}, line {line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {message}")


class MissingExtraError(RankwiseError, ImportError):
    """An optional dependency is needed and not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the '{extra}' extra: pip install 'rankwise[{extra}]'.")


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line by which the user's code came into rankwise, however deep inside the reason lies."""
    frame, level, blamed = sys._getframe(), 1, 1
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == "rankwise":
            blamed = level + 1
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=blamed)
