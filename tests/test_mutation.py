"""The mutation tester changes what it claims to change, and nothing else."""

import ast
from pathlib import Path

import pytest
from mutation.cpp_mutants import cpp_mutants
from mutation.equivalents import known_equivalents
from mutation.python_mutants import python_mutants

ROOT = Path(__file__).parent.parent


def python_changes(source):
    return {mutant.applied_to(source) for mutant in python_mutants("a.py", source)}


def cpp_changes(source):
    return {mutant.applied_to(source) for mutant in cpp_mutants("a.cpp", source)}


@pytest.mark.parametrize(
    "source, changed",
    [
        ("a < b", {"a <= b", "a >= b"}),
        ("a <= b < c", {"a < b < c", "a > b < c", "a <= b <= c", "a <= b >= c"}),
        ("a is not b", {"a is b"}),
        ("α + (b) - c", {"α - (b) - c", "α + (b) + c"}),
        ("a += b", {"a -= b"}),
        ("a and b and c", {"a or b and c", "a and b or c"}),
        ("not (a)", {"(a)"}),
        ("curve[-1]", {"curve[1]", "curve[-2]", "curve[-0]"}),
        ("a[:n]", {"a[:n + 1]"}),
        ("f(True, 0)", {"f(False, 0)", "f(True, 1)"}),
        ("x = 1.5", {"x = 2.5", "x = 0.5"}),
        ("max(a, b).any()", {"min(a, b).any()", "max(a, b).all()"}),
        ("a if b else c", {"a if (not (b)) else c"}),
    ],
)
def test_python_operators_numbers_bounds_and_conditions_change(source, changed):
    assert python_changes(source) == changed


@pytest.mark.parametrize(
    "source",
    [
        '"""1 < 2"""',
        "def f(a: int | None) -> int | None: ...",
        "class A:\n    def __repr__(self):\n        return 1 + 2",
        'raise ValueError(f"{a + 1} < {b}")',
        "Matrix = Dense | Sparse",
        "x = 'a + b'  # 1 + 2",
    ],
)
def test_python_text_types_and_messages_stay(source):
    assert python_changes(source) == set()


@pytest.mark.parametrize(
    "source, changed",
    [
        ("a < b;", {"a <= b;", "a >= b;"}),
        ("a += b * c;", {"a -= b * c;", "a += b / c;"}),
        ("if (!done) break;", {"if (done) break;", "if (!done) continue;", "if (!(!done)) break;"}),
        ("x = 1.5e-3;", {"x = 2.5e-3;", "x = 0.5e-3;"}),
        ("std::min(a, b) && c", {"std::max(a, b) && c", "std::min(a, b) || c"}),
    ],
)
def test_cpp_operators_numbers_and_conditions_change(source, changed):
    assert cpp_changes(source) == changed


@pytest.mark.parametrize(
    "source",
    [
        "// 1 + 2",
        "#include <a>",
        "template <int k = 3>",
        "std::vector<std::array<T, n>> x;",
        'const char* const name = "1 + 2";',
        "T&& x; 0x0f0f; std::int64_t y;",
    ],
)
def test_cpp_comments_types_and_text_stay(source):
    assert cpp_changes(source) == set()


def test_every_mutant_of_the_sources_is_python():
    for path in sorted((ROOT / "src" / "rankwise" / "model").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        for mutant in python_mutants(path.name, source):
            ast.parse(mutant.applied_to(source))
            assert mutant.before != mutant.after


def test_every_equivalent_change_is_one_that_could_still_be_made():
    mutants = {"py": python_mutants, "cpp": cpp_mutants, "hpp": cpp_mutants}
    for path in sorted({path for path, _, _ in known_equivalents()}):
        source = (ROOT / path).read_text(encoding="utf-8")
        possible = {mutant.key for mutant in mutants[path.rpartition(".")[2]](path, source)}
        outdated = {key for key in known_equivalents() if key[0] == path} - possible
        assert not outdated
