"""What commands read and write: declared beside each option, checked before the command starts.

An output may be neither an input of the command nor another output, whatever links lead there. A command with
a path that is declared as neither does not start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from itertools import combinations
from pathlib import Path
from typing import Any, get_args, get_type_hints

from rankwise.cli.outputs import check_file
from rankwise.errors import ParameterError
from rankwise.files import resolved


def _itself(value: Any) -> list[Path]:
    return [Path(value)]


@dataclass(frozen=True)
class Input:
    """A value that names what a command reads.

    Attributes
    ----------
    files : callable
        The files and stores that a value names.
    replaced_by : str or None
        The parameter of the one output that may be written over it.
    """

    files: Callable[[Any], Iterable[Path]] = _itself
    replaced_by: str | None = None


@dataclass(frozen=True)
class Output:
    """A value that names what a command writes.

    Attributes
    ----------
    check : callable
        Raises an error if it cannot be written, or must not be written over what is there.
    files : callable
        The files that a value stands for: itself, or some in a folder of that name.
    """

    check: Callable[[Path], None] = check_file
    files: Callable[[Any], Iterable[Path]] = _itself


def checking_paths(run: Callable[..., None]) -> Callable[..., None]:
    """A command that checks what it would read and write before it runs."""
    declared = declared_paths(run)

    @wraps(run)
    def checked(**values: Any) -> None:
        check_paths(declared, {name: value for name, value in values.items() if value is not None})
        run(**values)

    return checked


def declared_paths(run: Callable[..., None]) -> dict[str, Input | Output]:
    """The inputs and outputs among the parameters of a command."""
    declared: dict[str, Input | Output] = {}
    for name, hint in get_type_hints(run, include_extras=True).items():
        found = [entry for entry in getattr(hint, "__metadata__", ()) if isinstance(entry, Input | Output)]
        if found:
            declared[name] = found[0]
        elif _holds_path(hint):
            raise TypeError(f"{run.__module__}: declare '{name}' as an Input or an Output.")
    return declared


def _holds_path(hint: Any) -> bool:
    return hint is Path or any(_holds_path(part) for part in get_args(hint))


def check_paths(declared: Mapping[str, Input | Output], values: Mapping[str, Any]) -> None:
    """Reject outputs that are inputs, that are the same, or that cannot be written."""
    outputs = {name: kind for name, kind in declared.items() if isinstance(kind, Output) and name in values}
    written = [(name, path) for name, kind in outputs.items() for path in _replaced(kind, values[name])]
    for _, path in written:
        resolved(path)  # links that lead round in a circle are an error before any work
    threatened = [
        (path, read)
        for output, path in written
        for name, kind in declared.items()
        if isinstance(kind, Input) and name in values and kind.replaced_by != output
        for read in kind.files(values[name])
        if read.exists()
    ]
    for path, read in threatened:
        if _leads_into(path, read):
            raise ParameterError(f"{path} is an input of this command; refusing to overwrite it.")
    for (_, one), (_, other) in combinations(written, 2):
        if _leads_into(one, other) or _leads_into(other, one):
            raise ParameterError(f"{other} would be written twice; expected two different files.")
    for name, output in outputs.items():
        output.check(values[name])
    for path, read in threatened:
        if _leads_into(read, path):
            raise ParameterError(f"{path} holds {read}, an input of this command; refusing to replace it.")


def _replaced(kind: Output, value: Any) -> Iterator[Path]:
    """What an output would replace: files and folders, but not devices or pipes such as ``/dev/stdout``."""
    return (path for path in kind.files(value) if path.is_file() or path.is_dir() or not path.exists())


def _leads_into(path: Path, other: Path) -> bool:
    """Whether a path leads to the same file or folder as another, or into that folder."""
    if path.exists() and other.exists() and path.samefile(other):  # also a hard link
        return True
    return resolved(path).is_relative_to(resolved(other))
