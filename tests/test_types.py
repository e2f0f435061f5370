"""Type checkers see the public names: a user's mistakes are found before the script runs."""

import ast
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import rankwise

ROOT = Path(__file__).parent.parent

# A comment names the checkers that must complain about its line. They accept any attribute of a ranker: those
# of fitted ones come from its model.
SCRIPT = """\
import rankwise
from rankwise import RankRLSCV, load_letor

data = rankwise.make_search_data(20, random_state=0)
model = rankwise.RankRLS(alpha=1.0).fit(data)
scores = model.predict(data.X)
best = RankRLSCV([0.1, 1.0]).fit(data.X, data.y, data.qid).alpha_ + 1.0
rankwise.RankRLS(alfa=1)  # mypy pyright
rankwise.RankRLS(alpha="one")  # mypy pyright
rankwise.RankRSL()  # mypy pyright
model.predcit(data.X)
data.labels  # mypy pyright
model.fit(data.X, data.y, query=data.qid)  # mypy pyright
load_letor("rows.txt", zero_based="yes")  # mypy pyright
name: str = rankwise.metrics.pairwise_error(data.y, scores, data.qid)  # mypy pyright
with rankwise.config_context(n_threads=2):
    pass
"""


def lines_of(checker):
    lines = enumerate(SCRIPT.splitlines(), start=1)
    return [number for number, line in lines if checker in line.partition("#")[2]]


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_finds_the_planted_mistakes_and_no_others(script):
    # The settings and cache of `make check`, because the types of NumPy and SciPy take half a minute.
    cache = (ROOT if os.access(ROOT, os.W_OK) else script.parent) / ".mypy_cache"
    known = ["--config-file", ROOT / "pyproject.toml", "--cache-dir", cache]
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *known, script.name]
    run = subprocess.run(command, cwd=script.parent, capture_output=True, encoding="utf-8")
    found = [int(line.split(":")[1]) for line in run.stdout.splitlines() if ": error:" in line]
    assert found == lines_of("mypy"), run.stdout + run.stderr


@pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")
def test_pyright_finds_the_planted_mistakes_and_no_others(script):
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, script.name]
    run = subprocess.run(command, cwd=script.parent, capture_output=True, encoding="utf-8")
    found = [
        complaint["range"]["start"]["line"] + 1
        for complaint in json.loads(run.stdout)["generalDiagnostics"]
        if complaint["severity"] == "error"
    ]
    assert found == lines_of("pyright"), run.stdout + run.stderr


def test_what_is_imported_on_first_use_is_what_checkers_see():
    tree = ast.parse(Path(rankwise.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("rankwise.")
        for alias in node.names
    }
    assert seen == rankwise._HOME


def test_names_that_moved_into_namespaces_are_still_found_where_they_were():
    moved = {"rankwise.clicks": rankwise.clicks, "rankwise.trec": rankwise.trec}
    assert set(rankwise._MOVED) <= {name for module in moved.values() for name in module.__all__}
    assert not set(rankwise._MOVED) & set(rankwise.__all__)
    for name, module in rankwise._MOVED.items():
        assert getattr(rankwise, name) is getattr(moved[module], name)


def test_completion_offers_public_names_only():
    offered = subprocess.run(
        [sys.executable, "-c", "import rankwise; print(*vars(rankwise))"],
        capture_output=True,
        encoding="utf-8",
    ).stdout.split()
    assert [name for name in offered if not name.startswith("_")] == []
    assert "import_module" not in dir(rankwise)
