"""Sources of another place or time than those that are installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def checkout(folder: Path, revision: str | None = None) -> Path:
    """A copy of the sources, as they are or of a revision, with the native module of this interpreter."""
    if revision is None:
        shutil.copytree(ROOT / "src", folder / "src")
    else:
        folder.mkdir()
        archive = subprocess.run(
            ["git", "archive", revision, "src"], cwd=ROOT, check=True, stdout=subprocess.PIPE
        )
        subprocess.run(["tar", "--extract"], cwd=folder, input=archive.stdout, check=True)
    import rankwise._native

    shutil.copy(rankwise._native.__file__, folder / "src" / "rankwise")
    return folder


def import_from(root: Path) -> None:
    """Have this process import the rankwise of a copy, whatever an editable install says."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    sys.path.insert(0, str(root.resolve() / "src"))
