"""Add to the corpus what fuzzing found: the shortest inputs that reach a line or block that no other does.

``make corpus``, or ``make corpus TARGET=letor`` for one target.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from functools import partial
from pathlib import Path

from fuzz.corpus import CORPUS, FOUND, inputs_of
from fuzz.coverage import reached
from fuzz.targets import run


def minimize(target: str, folder: Path) -> None:
    known = set()
    for path in inputs_of(target):
        known |= reached(partial(run, target, path.read_bytes(), folder))
    for path in sorted((FOUND / target).iterdir(), key=lambda path: (path.stat().st_size, path.name)):
        content = path.read_bytes()
        # Run twice, because what a process does only once would count for the first input.
        new = reached(partial(run, target, content, folder)) - known
        new &= reached(partial(run, target, content, folder))
        if new:
            (CORPUS / target / f"kept-{hashlib.sha256(content).hexdigest()[:12]}").write_bytes(content)
            known |= new


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for name in sys.argv[1:]:
            minimize(name, Path(place))
