"""Rejecting outputs that cannot be written, or would replace something else, before hours of work."""

from __future__ import annotations

from pathlib import Path

from rankwise.errors import ParameterError
from rankwise.numerals import is_number


def check_destination(path: Path) -> None:
    """Reject an output in a folder that does not exist."""
    if not path.absolute().parent.is_dir():
        raise ParameterError(f"{path}: the folder {path.parent} does not exist.")


def check_file(path: Path) -> None:
    """Reject a folder, and a file in a folder that does not exist."""
    if path.is_dir():
        raise ParameterError(f"{path} is a folder; expected the name of a file to write.")
    check_destination(path)


def check_folder(path: Path) -> None:
    """Reject a file where a folder will be created or filled."""
    if path.exists() and not path.is_dir():
        raise ParameterError(f"{path} is not a folder; expected the name of a folder to write.")


def check_model(path: Path) -> None:
    """Refuse to overwrite anything but a model, such as a data file named by mistake."""
    from rankwise.cli.reading import is_model

    check_file(path)
    if _holds_something(path) and not is_model(path):
        raise ParameterError(f"{path} is not a model file; refusing to overwrite it.")


def check_page(path: Path) -> None:
    """Refuse to overwrite anything but a page."""
    check_file(path)
    if _holds_something(path):
        with path.open("rb") as file:
            if not file.read(15).lower().startswith(b"<!doctype html>"):
                raise ParameterError(f"{path} is not a page; refusing to overwrite it.")


def check_scores(path: Path) -> None:
    """Refuse to overwrite anything but scores or a run."""
    check_file(path)
    if not _holds_something(path):
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        words = file.readline(1000).split()
    is_run = len(words) == 6 and words[1] == "Q0"
    if not (is_run or (len(words) == 1 and is_number(words[0]))):
        raise ParameterError(f"{path} holds neither scores nor a run; refusing to overwrite it.")


def _holds_something(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0
