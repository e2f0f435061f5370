"""Write files and folders under a temporary name and move them into place once complete.

Whatever goes wrong while writing (a full disk, an interrupt, an error in the caller), the previous content of
the path is left intact, and no half-written files remain next to it.
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

#: System errors for a full disk or quota or an oversized file; when a write fails, they name no path.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write a file to; it replaces `path` once the block ends without an error.

    The yielded name ends like `path`, so writers that look at extensions see the same one. Anything but a
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
    """Yield an empty folder to fill; it replaces `path` once the block ends without an error.

    An existing folder is replaced only if it is empty or contains a file named `marker`, so a mistyped path
    never destroys other files.
    """
    place = Path(path).resolve()
    if place.exists() and not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
    if place.is_dir() and any(place.iterdir()) and not (place / marker).is_file():
        raise DataError(f"{place} is not empty and contains no {marker}; refusing to overwrite it.")
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
    """Return a new hidden name in the same folder, with the same ending."""
    return place.with_name(f".{secrets.token_hex(4)}-{place.name}")


@contextmanager
def _blaming(place: Path, *, instead_of: Path) -> Iterator[None]:
    """Make system errors about the temporary name or a full disk refer to the path the user gave."""
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
    """Make a file or the entries of a folder survive a power failure, where the system supports it."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return  # Windows cannot flush folders
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
