"""Errors caused by the user, a file or the data, and warnings.

Every message is one sentence: what was wrong, where, and what was expected.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

MAX_MESSAGE_LENGTH = 500


def did_you_mean(given: object, known: Iterable[object]) -> str:
    """The end of a sentence about an unknown name: the known one that was probably meant; nothing if none."""
    names = {str(name).lower(): str(name) for name in known}
    close = get_close_matches(str(given).lower(), names, n=1)
    return f"; did you mean {names[close[0]]!r}?" if close else "."


class RankwiseError(Exception):
    """Base class of all errors that rankwise raises itself; the command line omits their tracebacks.

    A subclass whose constructor takes more than the message passes all of its arguments on and builds the
    message in `__str__`: pickle and copy recreate an error from its `args`.

    See Also
    --------
    DataError : For data.
    ParameterError : For parameters.

    Examples
    --------
    >>> import rankwise
    >>> try:
    ...     rankwise.RankRLS().fit([[0.0], [1.0]], [0, 1], qid=["shoes"])
    ... except rankwise.RankwiseError as error:
    ...     print(error)
    qid must have one entry per row of X: expected 2, got 1.
    """


class ParameterError(RankwiseError, ValueError):
    """A parameter has an invalid value.

    See Also
    --------
    DataError : For data.
    RankwiseError : The base class of both.

    Examples
    --------
    >>> import rankwise
    >>> rankwise.RankRLS(alpha=-1.0).fit([[0.0], [1.0]], [0, 1], qid=["shoes", "shoes"])
    Traceback (most recent call last):
    rankwise.errors.ParameterError: The 'alpha' parameter must be a finite number of at least 0; got -1.0.
    """


class DataError(RankwiseError, ValueError):
    """The data cannot be used: mismatched lengths, missing values, nothing to compare.

    See Also
    --------
    ParameterError : For parameters.
    RankwiseError : The base class of both.

    Examples
    --------
    >>> import rankwise
    >>> rankwise.RankRLS().fit([[0.0], [1.0]], [0, 1], qid=["shoes"])
    Traceback (most recent call last):
    rankwise.errors.DataError: qid must have one entry per row of X: expected 2, got 1.
    """


class DataTypeError(DataError, TypeError):
    """Entries are not numbers; also a TypeError, as scikit-learn's conventions require."""


class FileFormatError(DataError):
    """A file does not conform to its format."""

    def __init__(self, path: str | Path, message: str, line: int | None = None) -> None:
        super().__init__(path, message, line)
        self.path = Path(path)
        self.line = line

    def __str__(self) -> str:
        path, message, line = self.args
        where = f"{path}, line {line}" if line is not None else f"{path}"
        return f"{where}: {_one_line(message)}"


@contextmanager
def blaming(path: Path) -> Iterator[None]:
    """Name a file in errors about the data that was read from it."""
    try:
        yield
    except FileFormatError:
        raise
    except DataError as error:
        raise FileFormatError(path, str(error)) from error


def _one_line(message: str) -> str:
    """A message on one line, because it may quote the file, or a library that does, at any length."""
    words = " ".join(message.split())
    line = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in words)
    return line if len(line) <= MAX_MESSAGE_LENGTH else f"{line[:MAX_MESSAGE_LENGTH]} ..."


class QueryWarning(UserWarning):
    """The queries are probably not those that the caller intended, for example because qid was forgotten.

    See Also
    --------
    DataError : For data that cannot be used.

    Examples
    --------
    >>> import warnings
    >>> import rankwise
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = rankwise.RankRLS().fit([[0.0], [1.0]], [0, 1])
    >>> print(str(caught[0].message).partition(".")[0])
    fit was given no qid, so all 2 rows form one ranking
    """


class GridWarning(UserWarning):
    """The best alpha ends the grid, so that one beyond it may be better."""


class ContextWarning(UserWarning):
    """Columns are constant within queries, so that alone they change no order."""


class MissingExtraError(RankwiseError, ImportError):
    """A required optional dependency is not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(purpose, extra)
        self.msg = str(self)  # set by ImportError only if there is one argument

    def __str__(self) -> str:
        purpose, extra = self.args
        return f"{purpose} needs the '{extra}' extra: pip install 'rankwise[{extra}]'."


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points at the user's call into rankwise, however deep inside the cause is."""
    frame, level, blamed = sys._getframe(), 1, 1
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == "rankwise":
            blamed = level + 1
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=blamed)
