"""Find files, and write files and folders under a temporary name, moved into place once complete.

Whatever goes wrong while writing (a full disk, an interrupt, an error in the caller), the previous content of
the path is left intact, and no half-written files remain next to it. Temporary files of killed processes are
removed by the next write into the same folder: a writer holds a lock on its temporary file, which the
operating system releases when the process ends.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rankwise.errors import DataError, ParameterError

if sys.platform != "win32":
    import fcntl

#: System errors for a full disk or quota or an oversized file; when a write fails, they name no path.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_TEMPORARY = re.compile(r"\.rankwise-[0-9a-f]{8}-.+")


def as_path(path: object, name: str = "path") -> Path:
    """The path of a file or folder, which need not exist; `name` is that of the parameter."""
    if isinstance(path, str | os.PathLike):
        with suppress(TypeError, UnicodeEncodeError):  # a path of bytes, or half of a surrogate pair
            if b"\0" not in os.fsencode(path):
                return Path(path)
    raise ParameterError(f"The '{name}' parameter must be the path of a file or folder; got {path!r:.100}.")


def as_paths(paths: object) -> list[Path]:
    """The paths of one file or several, at least one."""
    if not isinstance(paths, Iterable) or isinstance(paths, str | bytes | os.PathLike):
        return [as_path(paths)]
    several = [as_path(path) for path in paths]
    if not several:
        raise ParameterError("The 'path' parameter must name at least one file.")
    return several


def matching_files(path: Path) -> list[Path]:
    """The files that a pattern such as ``part-*.txt`` matches, sorted; a path without wildcards is itself."""
    if path.exists() or not re.search(r"[*?[]", str(path)):
        return [path]
    found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    if not found:
        raise ParameterError(f"{path}: no file matches this pattern.")
    return found


def resolved(place: Path) -> Path:
    """Where a path leads through all links; OSError if they lead round in a circle."""
    # Depending on its version, Python's own `resolve` goes on or raises a RuntimeError.
    with suppress(FileNotFoundError, NotADirectoryError):
        place.stat()
    return Path(os.path.realpath(place))


@contextmanager
def replacing_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write a file to; it replaces `path` once the block ends without an error.

    The yielded name ends like `path`, so writers that look at extensions see the same one. Anything but a
    regular file (a pipe, ``/dev/stdout``) cannot be replaced and is written to directly.
    """
    place = as_path(path)
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    if place.exists() and not place.is_file():
        with _blaming(place, instead_of=place):
            yield place
        return
    place = resolved(place)
    with _temporary(place, lambda beside: beside.touch(exist_ok=False)) as beside:
        yield beside
        if place.exists():
            shutil.copymode(place, beside)
        flush(beside)
        beside.replace(place)
        flush(place.parent)


@contextmanager
def replacing_folder(path: str | os.PathLike[str], *, check: Callable[[Path], object]) -> Iterator[Path]:
    """Yield an empty folder to fill; it replaces `path` once the block ends without an error.

    Where the system can exchange two folders (Linux, on most file systems), `path` is either the old or the
    new folder at every moment. Elsewhere there is a moment when it is missing: a process killed just then
    leaves the old folder as ``<name>.replaced-<digits>``.

    Parameters
    ----------
    path : path
    check : callable
        Called with an existing folder that is not empty; raises an error if it must not be replaced, so a
        mistyped path never destroys other files. Called before anything is written, and again at the end.
    """
    place = resolved(as_path(path))
    if place.exists() and not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))

    def check_place() -> None:
        if place.is_dir() and any(place.iterdir()):
            check(place)

    check_place()
    with _temporary(place, Path.mkdir) as beside:
        yield beside
        for file in beside.rglob("*"):
            flush(file)
        flush(beside)
        check_place()
        if place.exists() or not _moved(beside, place):
            check_place()  # another process may just have created the folder
            if not _exchange(beside, place):
                _rename_in_turn(beside, place)
        flush(place.parent)


@contextmanager
def created_folder(path: str | os.PathLike[str]) -> Iterator[None]:
    """Create a folder and its parents, where missing; after an error, remove those that were."""
    place = Path(path).absolute()
    missing = [folder for folder in (place, *place.parents) if not folder.exists()]
    try:
        place.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in missing:
            if folder == place:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                with suppress(OSError):  # another process has put something there
                    folder.rmdir()
        raise


def _moved(beside: Path, place: Path) -> bool:
    """Move a folder to a free place; return False if it is not free any more."""
    try:
        beside.rename(place)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders atomically; return False if the system cannot."""
    if sys.platform != "linux":
        return False
    import ctypes

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    here, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE
    if rename is None:
        return False
    if rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
        return False
    raise OSError(code, os.strerror(code), str(one), None, str(other))


def _rename_in_turn(beside: Path, place: Path) -> None:
    # A visible name, never removed as a leftover: after a kill it may hold the only copy.
    aside = place.with_name(f"{place.name}.replaced-{secrets.token_hex(4)}")
    place.rename(aside)
    try:
        beside.rename(place)
    except BaseException:
        aside.rename(place)
        raise
    shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _temporary(place: Path, create: Callable[[Path], object]) -> Iterator[Path]:
    """Yield a new hidden file or folder in the same folder, with the same ending; remove it at the end."""
    _remove_leftovers(place.parent)
    beside, lock = _created(place, create)
    try:
        with _blaming(place, instead_of=beside):
            yield beside
    finally:
        _remove(beside)
        if lock is not None:
            os.close(lock)


def _created(place: Path, create: Callable[[Path], object]) -> tuple[Path, int | None]:
    """Create a temporary file or folder and lock it; the lock is None if the system has none."""
    while True:
        beside = place.with_name(f".rankwise-{secrets.token_hex(4)}-{place.name}")
        with _blaming(place, instead_of=beside):
            create(beside)
        try:
            return beside, _lock(beside)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process removed it as a leftover before it was locked
        except OSError:
            return beside, None  # no other process can lock it either, so none removes it


def _lock(path: Path) -> int:
    """Return an open handle that locks a file or folder; raise OSError if it cannot be locked."""
    if sys.platform == "win32":
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK), str(path))
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.stat()  # the previous holder may have removed it
    except BaseException:
        os.close(handle)
        raise
    return handle


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary files and folders that killed processes left in a folder."""
    try:
        leftovers = [path for path in folder.iterdir() if _TEMPORARY.fullmatch(path.name)]
    except OSError:
        return  # writing to the folder will report the problem
    for path in leftovers:
        try:
            lock = _lock(path)
        except OSError:
            continue  # in use, or owned by another user
        try:
            _remove(path)
        except OSError:
            continue  # owned by another user
        finally:
            os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def encodable(place: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file for which a text, such as half of a surrogate pair, cannot be encoded."""
    try:
        yield
    except UnicodeEncodeError as error:
        near = error.object[max(0, error.start - 20) : error.end]
        raise DataError(f"{os.fspath(place)}: UTF-8 cannot encode the end of the text {near!r}.") from None


@contextmanager
def _blaming(place: Path, *, instead_of: Path) -> Iterator[None]:
    """Make system errors about the temporary name or a full disk refer to the path the user gave."""
    try:
        with encodable(place):
            yield
    except OSError as error:
        named = error.filename
        if named is None and error.errno in FULL:
            error.filename = str(place)
        elif isinstance(named, str | os.PathLike) and Path(named).is_relative_to(instead_of):
            error.filename = str(place / Path(named).relative_to(instead_of))
            del error.filename2  # None would be shown as a second name
        raise


def flush(path: Path) -> None:
    """Make a file or the entries of a folder survive a power failure, where the system supports it."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return  # Windows cannot flush folders
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
