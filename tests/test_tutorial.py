"""Both halves of the tutorial, pasted block by block where only what `pip install .` brings is installed."""

import re
import shlex
import tomllib
from pathlib import Path

from warm import run_warm

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
END = "=== end of a block ==="
# What `make` installs beyond `pip install .`; imports of it fail, as they would without it.
PLAIN = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for name in [name for name in sys.modules if name.partition(".")[0] in MISSING]:
    del sys.modules[name]
sys.meta_path.insert(0, Missing())
"""
IMPORTED_AS = {"onnxruntime": "onnxruntime", "ir-measures": "ir_measures", "xgboost-cpu": "xgboost"}


def names(requirements):
    return {re.match(r"[\w-]+", one)[0].lower() for one in requirements}


def plain():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = names(project["dependencies"])
    extras = set().union(*(names(extra) for extra in project["optional-dependencies"].values()))
    missing = {IMPORTED_AS.get(name, name.replace("-", "_")) for name in extras - needed - {"cmake"}}
    assert {"pandas", "polars", "matplotlib", "onnx"} <= missing
    return f"MISSING = {missing - {'coverage'}!r}" + PLAIN


def python_blocks():
    """Each block, and the output that the page shows below it."""
    found = re.findall(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", PAGE, re.MULTILINE | re.DOTALL)
    assert len(found) == 5
    return found


def test_python_prints_what_the_tutorial_shows(tmp_path):
    blocks = python_blocks()
    script = "\n".join([plain(), *(f"{code}\nprint({END!r})" for code, _ in blocks)])
    run = run_warm(script, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    outputs = run.stdout.split(f"{END}\n")[:-1]
    assert outputs == [shown for _, shown in blocks]
    assert (tmp_path / "movies.sql").stat().st_size > 0


def test_commands_of_the_tutorial_run_after_each_other(tmp_path):
    half = PAGE[PAGE.index("## On the command line") :]
    (block,) = re.findall(r"^```\n(.*?)^```$", half, re.MULTILINE | re.DOTALL)
    commands = [shlex.split(line) for line in block.splitlines()]
    assert len(commands) == 7
    calls = [f"assert main({command[1:]!r}) == 0" for command in commands]
    run = run_warm("\n".join([plain(), "from rankwise.cli import main", *calls]), cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    for name in ("scores.txt", "report.html", "movies.sql"):
        assert (tmp_path / name).exists()


def test_code_of_the_tutorial_fits_a_narrow_column():
    commands = PAGE[PAGE.index("## On the command line") :].split("```")[1]
    blocks = [*(code for code, _ in python_blocks()), commands]
    assert max(len(line) for block in blocks for line in block.splitlines()) <= 76
