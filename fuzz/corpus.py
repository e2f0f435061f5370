"""The saved inputs of each target, which `make test` replays."""

from __future__ import annotations

from pathlib import Path

CORPUS = Path(__file__).parent.parent / "tests" / "corpus"


def inputs_of(target: str) -> list[Path]:
    return sorted((CORPUS / target).iterdir())
