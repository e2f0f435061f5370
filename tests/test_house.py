"""What `make house` counts."""

import ast
import sys

from house.journeys import trace
from house.sources import size_of, statements


def test_docstrings_are_no_statements():
    tree = ast.parse('"""About."""\n\ndef double(x):\n    """Twice x."""\n    y = 2 * x\n    return y\n')
    assert [type(one).__name__ for one in statements(tree)] == ["FunctionDef", "Assign", "Return"]


def test_a_name_of_two_classes_or_files_is_counted_once(tmp_path):
    package = tmp_path / "src" / "rankwise"
    for folder in ("one", "two"):
        (package / folder).mkdir(parents=True)
        (package / folder / "__init__.py").touch()
        (package / folder / "rows.py").write_text("class Rows:\n    pass\n", encoding="utf-8")
    counts = size_of(tmp_path)
    assert counts["class names used twice"] == counts["file names used twice"] == 1


def test_a_trace_names_the_files_in_the_order_of_their_first_call(tmp_path):
    codes = {}
    for name in ("first", "second"):
        path = tmp_path / f"{name}.py"
        codes[name] = {}
        exec(compile(f"def {name}(inner=None):\n    inner and inner()\n", str(path), "exec"), codes[name])
    first, second = codes["first"]["first"], codes["second"]["second"]
    assert trace(lambda: first(second), tmp_path) == ["first.py", "second.py"]
    assert trace(lambda: (second(), first()), tmp_path) == ["second.py", "first.py"]
    assert sys.getprofile() is None
