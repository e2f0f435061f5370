"""A file to which judgments are appended, each on the disk before it is acknowledged."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import Self

from rankwise.errors import DataError, FileFormatError
from rankwise.files import as_path, flush
from rankwise.judging.entries import LONGEST_LINE, Entry

if sys.platform != "win32":
    import fcntl

CLOSED = -1


class Journal:
    """Entries in a file, one JSON object per line, which only grows.

    An entry is written with one call, and flushed to the disk, before `append` returns. A process killed in
    between leaves at most one line without an end, which nobody was told of: the next session removes it.
    Where the disk is full, the part of a line that fitted is removed as well, and the error passed on.

    Only one session at a time can have a journal open.

    Attributes
    ----------
    path : Path
    entries : list of Entry
        All of them, those that were undone included.
    """

    def __init__(self, path: Path, handle: int, entries: list[Entry], size: int) -> None:
        self.path, self.entries = path, entries
        self._handle, self._size = handle, size

    @classmethod
    def resume(cls, path: str | os.PathLike[str]) -> Self:
        """Open a journal to go on with, or begin one."""
        place = as_path(path)
        is_new = not place.exists()
        handle = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        try:
            _check_is_file(handle, place)
            _lock(handle, place)
            entries, size = _read(handle, place)
            os.ftruncate(handle, size)
            os.lseek(handle, size, os.SEEK_SET)
            if is_new:
                flush(place.resolve().parent)
        except BaseException as error:
            os.close(handle)
            if isinstance(error, OSError):
                error.filename = str(place)  # a device or a pipe
            raise
        return cls(place, handle, entries, size)

    def append(self, entry: Entry) -> None:
        """Write an entry; it is on the disk once this returns, and not in the journal if this raises."""
        if self._handle == CLOSED:
            raise DataError("The session has ended and accepts no more judgments.")
        line = entry.line()
        if entry.number != len(self.entries) + 1:
            raise ValueError(f"expected entry {len(self.entries) + 1}; got {entry.number}")
        if len(line) > LONGEST_LINE:
            raise DataError(f"A judgment has at most {LONGEST_LINE} bytes; this one has {len(line)}.")
        try:
            written = os.write(self._handle, line)
            if written < len(line):  # what a disk that is full does with the last bytes
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            os.fsync(self._handle)
        except OSError as error:
            self._take_back()
            error.filename = str(self.path)
            raise
        self._size += len(line)
        self.entries.append(entry)

    def _take_back(self) -> None:
        """Remove what was written of an entry; where that fails as well, nothing may follow it."""
        try:
            os.ftruncate(self._handle, self._size)
            os.lseek(self._handle, self._size, os.SEEK_SET)
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the file; what is appended afterwards is refused."""
        handle, self._handle = self._handle, CLOSED
        if handle != CLOSED:
            os.close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journal(path: str | os.PathLike[str]) -> list[Entry]:
    """The entries of a journal, without opening it for more."""
    place = as_path(path)
    handle = os.open(place, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        _check_is_file(handle, place)
        return _read(handle, place)[0]
    finally:
        os.close(handle)


def _check_is_file(handle: int, path: Path) -> None:
    """Refuse devices and pipes, which may have no end, and keep nothing."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise DataError(f"{path}: a journal must be an ordinary file.")


def _lock(handle: int, path: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataError(f"{path}: another session has this journal open.") from None


def _read(handle: int, path: Path) -> tuple[list[Entry], int]:
    """The entries of complete lines, and how many bytes these take."""
    entries: list[Entry] = []
    size = 0
    with os.fdopen(os.dup(handle), "rb") as file:
        while line := file.readline(LONGEST_LINE + 1):
            if not line.endswith(b"\n"):
                _check_is_torn(line, len(entries) + 1, path)
                break
            try:
                entry = Entry.of_line(line)
                if entry.number != len(entries) + 1:
                    raise DataError(f"expected entry {len(entries) + 1}; found {entry.number}")
            except DataError as error:
                raise FileFormatError(path, f"{error}.", line=len(entries) + 1) from None
            entries.append(entry)
            size += len(line)
    return entries, size


def _check_is_torn(line: bytes, number: int, path: Path) -> None:
    """Refuse a last line that is not the beginning of this entry: the file is not ours to shorten."""
    begins = f'{{"number": {number}, "time": '.encode()
    # Where power failed, a file may have grown before its bytes arrived.
    may_be_torn = line.startswith(begins[: len(line)]) or not line.strip(b"\0")
    if len(line) > LONGEST_LINE or not may_be_torn:
        raise FileFormatError(path, "the line is not an entry of a journal.", line=number)
