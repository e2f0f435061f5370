"""One small change of a source file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Mutant:
    """The source of `path` with the characters from `start` to `end` replaced."""

    path: str
    start: int
    end: int
    replacement: str
    line: int
    before: str
    after: str

    def applied_to(self, source: str) -> str:
        return source[: self.start] + self.replacement + source[self.end :]

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the change even after lines around it have moved."""
        return self.path, self.before, self.after

    def __str__(self) -> str:
        return f"{self.path}:{self.line}\n  - {self.before}\n  + {self.after}"


def mutant(path: str, source: str, start: int, end: int, replacement: str) -> Mutant:
    """The change, with the lines it affects as one line of text, before and after."""
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", end)
    last = len(source) if last < 0 else last
    before = " ".join(source[first:last].split())
    after = " ".join((source[first:start] + replacement + source[end:last]).split())
    return Mutant(path, start, end, replacement, source.count("\n", 0, start) + 1, before, after)
