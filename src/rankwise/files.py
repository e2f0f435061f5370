"""Writing files and folders beside their place and moving them in when they are whole.

Whatever goes wrong while writing (a full disk, an interrupt, an error in the caller), what stood at the path
before still stands there, and nothing half-written is left beside it.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankwise.errors import DataError

#: What a system says of a disk, a quota or a file that takes no more; of a write it does not say where.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write a file to; it takes the place of `path` once the block ends without an error.

    The yielded name ends like `path`, so that writers that look at extensions see the same one. What is not a
    regular file (a pipe, ``/dev/stdout``) cannot be replaced and is written to directly.
    """
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    if place.exists() and not place.is_file():
        with _blaming(place, instead_of=place):
            yield place
        return
    place = place.resolve()
    beside = _beside(place)
    try:
        with _blaming(place, instead_of=beside):
            beside.touch(exist_ok=False)
            yield beside
            if place.exists():
                shutil.copymode(place, beside)
            _flush(beside)
            beside.replace(place)
            _flush(place.parent)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


@contextmanager
def replacing_folder(path: str | os.PathLike[str], *, marker: str) -> Iterator[Path]:
    """Yield an empty folder to fill; it takes the place of `path` once the block ends without an error.

    An existing folder is only replaced if it is empty or holds a file named `marker`, so that a mistyped path
    never costs anyone their files.
    """
    place = Path(path).resolve()
    if place.exists() and not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
    if place.is_dir() and any(place.iterdir()) and not (place / marker).is_file():
        raise DataError(f"{place} exists and holds no {marker}, so it is left alone; choose another name.")
    beside, aside = _beside(place), _beside(place)
    try:
        with _blaming(place, instead_of=beside):
            beside.mkdir()
            yield beside
            for file in beside.rglob("*"):
                _flush(file)
            _flush(beside)
            if place.exists():
                place.rename(aside)
            beside.rename(place)
            _flush(place.parent)
    except BaseException:
        if aside.exists() and not place.exists():
            aside.rename(place)
        shutil.rmtree(beside, ignore_errors=True)
        raise
    finally:
        if place.exists():
            shutil.rmtree(aside, ignore_errors=True)


def _beside(place: Path) -> Path:
    """A new name in the same folder, hidden, with the same ending."""
    return place.with_name(f".{secrets.token_hex(4)}-{place.name}")


@contextmanager
def _blaming(place: Path, *, instead_of: Path) -> Iterator[None]:
    """Let system errors about the temporary name, or about a full disk, speak of the name the user gave."""
    try:
        yield
    except OSError as error:
        named = error.filename
        if named is None and error.errno in FULL:
            error.filename = str(place)
        elif isinstance(named, str | os.PathLike) and Path(named).is_relative_to(instead_of):
            error.filename = str(place / Path(named).relative_to(instead_of))
            del error.filename2  # None would be shown as a second name
        raise


def _flush(path: Path) -> None:
    """Make a file or the entries of a folder survive a power cut, where the system can do that."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return  # Windows flushes no folders
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
