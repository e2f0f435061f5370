"""What the sources show without being run: statements, long files, names that stand for two things."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LONG_FILE = 300


def read_sources(root: Path) -> dict[Path, str]:
    """The Python files of the package, by path below the package."""
    package = root / "src" / "rankwise"
    return {
        path.relative_to(package): path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))
    }


def size_of(root: Path) -> dict[str, int]:
    """Counts over all sources, by what they count."""
    sources = read_sources(root)
    trees = [ast.parse(text) for text in sources.values()]
    classes = Counter(
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    names = Counter(path.name for path in sources if path.name != "__init__.py")
    lengths = [text.count("\n") for text in sources.values()]
    return {
        "files": len(sources),
        "lines": sum(lengths),
        "statements": sum(1 for tree in trees for _ in statements(tree)),
        f"files over {LONG_FILE} lines": sum(length > LONG_FILE for length in lengths),
        "lines of the longest file": max(lengths),
        "class names used twice": sum(count > 1 for count in classes.values()),
        "file names used twice": sum(count > 1 for count in names.values()),
    }


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements but docstrings and other bare constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            yield node
