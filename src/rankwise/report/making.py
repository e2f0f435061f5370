"""How a report was made: command, versions, checksums of the files, seed and time."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import rankwise
from rankwise.readers.manifest import MANIFEST

PACKAGES = ("numpy", "scipy", "scikit-learn", "lightgbm", "xgboost", "xgboost-cpu")
_BLOCK = 1 << 20


def origin_facts(
    *, command: str | None, files: Iterable[Path], random_state: int, seconds: float
) -> dict[str, Any]:
    return {
        "command": command,
        "written": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "seconds": round(seconds, 2),
        "random_state": random_state,
        "versions": {"rankwise": rankwise.__version__, "python": platform.python_version(), **_installed()},
        "files": [_described(path) for path in files],
    }


def _installed() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _described(path: Path) -> dict[str, Any]:
    """The name, size and SHA-256 checksum of a file; of a store, those of its manifest of checksums."""
    place = path / MANIFEST if path.is_dir() else path
    if not place.is_file():
        return {"name": str(path), "bytes": None, "sha256": None}
    digest = hashlib.sha256()
    with place.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return {"name": str(path), "bytes": place.stat().st_size, "sha256": digest.hexdigest()}
