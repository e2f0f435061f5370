"""The folds of a benchmark, as LETOR lays them out: folders with files for training, validation and test."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rankwise.errors import DataError
from rankwise.readers.group_files import is_beside

_FOLD = re.compile(r"fold[ _-]?([0-9]{1,9})", flags=re.IGNORECASE)
# What the name of a part begins with: train.txt and trainingset.txt, vali.txt, validationset.txt and dev.txt.
_BEGINS = {"training": ("train",), "validation": ("vali", "dev"), "test": ("test",)}


@dataclass(frozen=True)
class FoldFiles:
    """The files (or stores) of one fold."""

    name: str
    training: Path
    validation: Path
    test: Path


def find_folds(folder: Path) -> list[FoldFiles]:
    """Find the folds below a folder, in the order of their numbers.

    They are called ``Fold1``, ``fold_2`` and the like. A folder with the three files in it is one fold.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: expected a folder with the folds Fold1, Fold2, ...")
    numbered = [
        (int(found[1]), entry)
        for entry in folder.iterdir()
        if entry.is_dir() and (found := _FOLD.fullmatch(entry.name))
    ]
    if numbered:
        return [_files_of(entry) for _, entry in sorted(numbered)]
    if not _candidates(folder, "training"):
        raise DataError(
            f"{folder}: found neither folds (folders called Fold1, Fold2, ...) nor files for training, "
            "validation and test."
        )
    return [_files_of(folder)]


def _files_of(folder: Path) -> FoldFiles:
    return FoldFiles(folder.name, *(_the_only(folder, part) for part in _BEGINS))


def _the_only(folder: Path, part: str) -> Path:
    found = _candidates(folder, part)
    if not found:
        names = " or ".join(f"'{begin}'" for begin in _BEGINS[part])
        others = ", ".join(sorted(entry.name for entry in folder.iterdir())[:5]) or "nothing"
        raise DataError(
            f"{folder}: there is no {part} data; expected a file whose name begins with {names}, "
            f"found {others}."
        )
    if len(found) > 1:
        raise DataError(f"{folder}: the {part} data is ambiguous: {found[0].name} or {found[1].name}.")
    return found[0]


def _candidates(folder: Path, part: str) -> list[Path]:
    return sorted(
        entry
        for entry in folder.iterdir()
        if entry.name.lower().startswith(_BEGINS[part]) and not is_beside(entry)
    )
