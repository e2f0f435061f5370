"""Where inputs are: those that `make test` replays, and those that fuzzing leaves."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "tests" / "corpus"
# What fuzzing leaves: a folder of inputs for each target, and findings beside them.
FOUND = ROOT / "build-sanitize" / "fuzz"


def inputs_of(target: str) -> list[Path]:
    return sorted((CORPUS / target).iterdir())
