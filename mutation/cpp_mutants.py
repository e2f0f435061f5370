"""Mutants of a C++ file. The house format puts spaces around binary operators, and only around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mutation.mutant import Mutant, mutant

# What is not code that runs, or whose change would not compile.
SKIPPED = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | ^[ \t]*\#[^\n]* | ^[ \t]*template\b[^\n]* | \bstatic_assert\b[^;]*; | \b0x[0-9a-fA-F]+""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
BINARY = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "%": ("/",),
    "&&": ("||",),
    "||": ("&&",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*=": ("/=",),
    "/=": ("*=",),
    "<<": (">>",),
    ">>": ("<<",),
}
WORDS = {
    "true": "false",
    "false": "true",
    "min": "max",
    "max": "min",
    "break": "continue",
    "continue": "break",
}
OPERATOR = re.compile(
    r"(?<= )(?:" + "|".join(map(re.escape, sorted(BINARY, key=len, reverse=True))) + r")(?=\s)"
)
NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(e[+-]?\d+)?(?![\w.])")
WORD = re.compile(r"\b(?:true|false|break|continue)\b|(?<=std::)(?:min|max)(?=\()")
NOT = re.compile(r"!(?=[\w(])")
CONDITION = re.compile(r"\b(?:if|while) \(")


def cpp_mutants(path: str, source: str) -> list[Mutant]:
    """All mutants of a file, in its order."""
    return sorted({mutant(path, source, *change) for change in _changes(source)})


def _changes(source: str) -> Iterator[tuple[int, int, str]]:
    code = SKIPPED.sub(lambda skipped: re.sub(r"[^\n]", " ", skipped[0]), source)
    for found in OPERATOR.finditer(code):
        for other in BINARY[found[0]]:
            yield *found.span(), other
    for found in NUMBER.finditer(code):
        for step in (1, -1):
            number = float(found[1]) + step if "." in found[1] else int(found[1]) + step
            if number >= 0:
                yield *found.span(), f"{number}{found[2] or ''}"
    for found in WORD.finditer(code):
        yield *found.span(), WORDS[found[0]]
    for found in NOT.finditer(code):
        yield *found.span(), ""
    for found in CONDITION.finditer(code):
        end = _closing(code, found.end())
        if not re.search(r"[<>=]=? | [<>]", code[found.end() : end]):
            yield found.end(), end, f"!({source[found.end() : end]})"


def _closing(code: str, start: int) -> int:
    """Where the bracket that was opened just before `start` closes."""
    depth = 1
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    raise ValueError("A bracket is not closed.")
