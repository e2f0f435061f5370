"""Mutants of a Python file: the operators, conditions, numbers and bounds that its functions compute with."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from mutation.mutant import Mutant, mutant

# Every change is a plausible slip; one that no run could survive, such as adding two tables instead of
# multiplying them, would only flatter the tests.
COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
OPPOSITES = {
    "min": "max",
    "argmin": "argmax",
    "minimum": "maximum",
    "any": "all",
    "floor": "ceil",
    "zeros": "ones",
    "zeros_like": "ones_like",
    "isfinite": "isnan",
}
OPPOSITES |= {opposite: name for name, opposite in OPPOSITES.items()}
SHOWN = {"__repr__", "_repr_html_", "__sklearn_tags__"}


def python_mutants(path: str, source: str) -> list[Mutant]:
    """All mutants of a file, in its order. Text, annotations, decorators and messages stay as they are."""
    return sorted(set(_Mutators(path, source).mutants(ast.parse(source))))


def lines_of_functions(source: str) -> list[tuple[range, range]]:
    """The lines of every function's head, which run on import, and of its body, which run in a call."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            body = node.body if isinstance(node.body, list) else [node.body]
            first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
            lines.append((range(node.lineno, first), range(first, last + 1)))
    return lines


class _Mutators:
    def __init__(self, path: str, source: str) -> None:
        self._path, self._source = path, source
        self._line_bytes = [line.encode() for line in source.splitlines(keepends=True)]
        lengths = [len(line.decode()) for line in self._line_bytes]
        self._line_starts = [sum(lengths[:n]) for n in range(len(lengths))]

    def mutants(self, node: ast.AST) -> Iterator[Mutant]:
        """Of a node and of everything in it that a run computes."""
        for start, end, replacement in self._changes(node):
            yield mutant(self._path, self._source, start, end, replacement)
        for child in _computed(node):
            yield from self.mutants(child)

    def _changes(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Compare():
                for left, operator, right in zip(
                    [node.left, *node.comparators], node.ops, node.comparators, strict=False
                ):
                    text, others = COMPARISONS[type(operator)]
                    for other in others:
                        yield *self._operator(left, right, text), other
            case ast.BinOp() if type(node.op) in ARITHMETIC:
                text, other = ARITHMETIC[type(node.op)]
                yield *self._operator(node.left, node.right, text), other
            case ast.AugAssign() if type(node.op) in ARITHMETIC:
                text, other = ARITHMETIC[type(node.op)]
                yield *self._operator(node.target, node.value, text + "="), other + "="
            case ast.BoolOp():
                text, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield *self._operator(left, right, text), other
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                sign = "not " if isinstance(node.op, ast.Not) else "-"
                yield self._start(node), self._start(node) + len(sign), ""
            case ast.Constant(value=bool() as value):
                yield *self._span(node), str(not value)
            case ast.Constant(value=int() | float() as value):
                yield *self._span(node), repr(value + 1)
                if value >= 1:
                    yield *self._span(node), repr(value - 1)
            case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.Compare):
                start, end = self._span(node.test)
                yield start, end, f"(not ({self._source[start:end]}))"
            case ast.Slice():
                for bound in (node.lower, node.upper):
                    if bound is not None and not isinstance(bound, ast.Constant):
                        start, end = self._span(bound)
                        yield start, end, f"{self._source[start:end]} + 1"
            case ast.Call(func=ast.Name(id=name)) if name in OPPOSITES:
                yield *self._span(node.func), OPPOSITES[name]
            case ast.Call(func=ast.Attribute(attr=name)) if name in OPPOSITES:
                end = self._end(node.func)
                yield end - len(name), end, OPPOSITES[name]
            case ast.Break():
                yield *self._span(node), "continue"
            case ast.Continue():
                yield *self._span(node), "break"

    def _operator(self, left: ast.expr, right: ast.expr, text: str) -> tuple[int, int]:
        """Where the operator between two operands is; parentheses and comments may stand around it."""
        gap = self._source[self._end(left) : self._start(right)]
        code = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), gap)
        start = self._end(left) + code.index(text)
        return start, start + len(text)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return self._start(node), self._end(node)

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._at(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._at(node.end_lineno, node.end_col_offset)

    def _at(self, line: int, column: int) -> int:
        """Python counts columns in bytes."""
        return self._line_starts[line - 1] + len(self._line_bytes[line - 1][:column].decode())


def _computed(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are computed, and not shown or declared."""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return
        case ast.FunctionDef() | ast.ClassDef() if node.name in SHOWN:
            return
        case ast.FunctionDef():
            yield from (default for default in node.args.defaults + node.args.kw_defaults if default)
            yield from node.body
        case ast.ClassDef():
            yield from node.body
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return
        case ast.AnnAssign():
            yield from [node.value] if node.value else []
        case ast.Call(func=ast.Name(id="cast" | "isinstance" | "field" | "dataclass")):
            return
        case ast.Call(func=ast.Attribute(attr="warn")):
            return
        case ast.keyword(arg="strict"):
            return  # `zip` only checks what is true anyway
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            yield from node.orelse
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.BitOr())) if name[0].isupper():
            return  # the union of types
        case _:
            yield from ast.iter_child_nodes(node)
