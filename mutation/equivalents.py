"""The list of changes that no test can notice, each with the reason."""

from __future__ import annotations

from pathlib import Path

LIST = Path(__file__).parent / "equivalent.txt"


def known_equivalents() -> dict[tuple[str, str, str], str]:
    """The reasons by path, line before and line after. Blocks of four lines are separated by empty ones."""
    reasons = {}
    for block in LIST.read_text(encoding="utf-8").split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if lines:
            path, before, after, reason = lines
            reasons[path, before.removeprefix("- "), after.removeprefix("+ ")] = reason
    return reasons
