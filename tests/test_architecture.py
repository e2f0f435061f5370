"""Architecture rules: which way imports point, how light `import rankwise` is, stated encodings."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from house import journeys

from rankwise.model.schemas import SCHEMAS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "rankwise"

# Data flows down this list; a package may import only from those above it, or from itself.
ROOMS = [
    {"errors", "types", "numerals"},
    {"config"},
    {"threads", "files", "rendering", "_native"},
    {"mapped", "features", "factored_rows", "foreign_json", "long_tasks"},
    {"tensor_file"},
    {"preferences"},
    {"validation"},
    {"rows"},
    {"readers"},
    {"clicks", "trec", "raters"},
    {"simulated_search"},
    {"operators"},
    {"scoring"},
    {"columns"},
    {"held_out"},
    {"family"},
    {"ridge"},
    {"svm"},
    {"path"},
    {"model"},
    {"metrics"},
    {"selection"},
    {"cluster"},
    {"dask"},
    {"export", "plots"},
    {"rankers"},
    {"auditing"},
    {"judging"},
    {"report"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(ROOMS) for name in names}
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")

CODE = [
    "src",
    "tests",
    "benchmarks",
    "docs/site",
    "elsewhere",
    "examples",
    "fuzz",
    "house",
    "mutation",
    "wheels",
]
# Those whose `open` has no encoding: descriptors, archives, and the browser of the tests.
WITHOUT_ENCODING = {"os", "archive", "tarfile", "browser", "opened"}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} line {node.lineno}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("rankwise.")}
    return rooms - {"__version__"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_only_up_the_house(path):
    here = room_of(path)
    for room in imported_rooms(path) - {here}:
        assert LEVEL[room] < LEVEL[here], f"{here} imports {room}, which stands below it"


def test_the_list_of_rooms_is_that_of_the_house():
    assert {room_of(path) for path in MODULES} == LEVEL.keys() - {"_native"}


def test_only_one_header_knows_the_compiler():
    words = re.compile(
        r"__builtin_|__attribute__|__GNUC__|__clang__|__SANITIZE|__has_feature|target_clones|_MSC_VER"
    )
    folder = ROOT / "native"
    knowing = {
        path.name for path in folder.rglob("*.[ch]pp") if words.search(path.read_text(encoding="utf-8"))
    }
    assert knowing == {"compiler.hpp"}


def test_only_the_bindings_know_python():
    kernels = SOURCE.parent.parent / "native" / "kernels"
    for path in kernels.iterdir():
        text = path.read_text(encoding="utf-8")
        assert "nanobind" not in text, path
        assert "Python.h" not in text, path


def reads_text_in_some_encoding(call: ast.Call) -> bool:
    """Whether a call opens text, or talks to a process, in the encoding that the machine happens to have."""
    if any(keyword.arg in ("encoding", None) for keyword in call.keywords):
        return False
    owner, name = "", getattr(call.func, "id", "")
    if isinstance(call.func, ast.Attribute):
        owner, name = getattr(call.func.value, "id", ""), call.func.attr
    if name == "open" and owner not in WITHOUT_ENCODING:
        modes = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        compressed = owner in ("gzip", "lzma")  # binary unless the mode says text
        return any("t" in mode for mode in modes) if compressed else not any("b" in mode for mode in modes)
    return name in ("read_text", "write_text") or any(
        keyword.arg in ("text", "universal_newlines") and owner == "subprocess" for keyword in call.keywords
    )


@pytest.mark.parametrize("folder", CODE)
def test_text_is_read_and_written_in_a_stated_encoding(folder):
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and reads_text_in_some_encoding(node)
    ]
    assert not found


def test_a_ranker_is_made_of_at_most_four_classes():
    counts = journeys.classes_of_rankers()
    assert len(counts) == len(SCHEMAS)
    assert max(counts.values()) <= 4, counts


def test_no_two_classes_and_no_two_files_have_the_same_name():
    """Commands aside: a file of `cli` is called what users call it."""
    files = Counter(path.name for path in MODULES if path.name != "__init__.py" and room_of(path) != "cli")
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in MODULES)
    classes = Counter(
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in (files | classes).items() if count > 1] == []


def test_importing_rankwise_imports_nothing_heavy():
    script = "import sys, rankwise; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    heavy = [
        "sklearn",
        "scipy",
        "pandas",
        "polars",
        "pyarrow",
        "matplotlib",
        "typer",
        "rich",
        "dask",
        "onnx",
        "altair",
    ]
    assert not set(heavy) & set(run.stdout.split())


def test_importing_rankwise_imports_nothing_but_a_few_modules_of_python():
    script = (
        f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); before = set(sys.modules)\n"
        "import rankwise; print(*(set(sys.modules) - before))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, encoding="utf-8", check=True
    )
    assert {name.partition(".")[0] for name in run.stdout.split()} <= {"rankwise", "importlib", "warnings"}
    assert [name for name in run.stdout.split() if name.startswith("rankwise.")] == []


def test_everything_can_be_imported_at_once_without_an_extra():
    script = (
        "import sys; sys.modules['distributed'] = sys.modules['dask'] = None; from rankwise import *; RankRLS"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_every_file_that_the_architecture_page_names_exists():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+\.(?:py|hpp|cpp))`", page))
    assert len(named) > 20
    missing = {name for name in named if not any((root / name).exists() for root in (SOURCE, ROOT))}
    assert not missing
