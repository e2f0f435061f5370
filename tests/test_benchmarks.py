"""Benchmarks are found, described and importable; `make bench` runs them."""

import ast
import importlib
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks import tables

from all_pairs import hinge_pairs
from warm import run_warm

ROOT = Path(__file__).parent.parent
NAMES = sorted(path.stem.removeprefix("bench_") for path in ROOT.glob("benchmarks/bench_*.py"))
REPRODUCTIONS = sorted(path.stem for path in ROOT.glob("benchmarks/reproduce/[!_]*.py"))


def benchmarks(*arguments):
    command = [sys.executable, "-m", "benchmarks", *arguments]
    variables = os.environ | {"PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, encoding="utf-8")


def test_the_list_names_every_benchmark_and_reproduction():
    listed = benchmarks("--list").stdout.splitlines()
    assert [line.split()[0] for line in listed if line[:1].islower()] == NAMES + REPRODUCTIONS


def test_an_unknown_name_is_refused():
    run = benchmarks("--quick", "beauty")
    assert run.returncode == 2
    assert f"unknown benchmark beauty; must be one of {', '.join(NAMES)}" in run.stderr


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_can_be_imported(name):
    assert callable(importlib.import_module(f"benchmarks.bench_{name}").run)


def test_quick_means_smaller_data(monkeypatch):
    from benchmarks import timing

    assert timing.sized(100_000) == 100_000
    monkeypatch.setattr(timing, "quick", True)
    assert timing.sized(100_000) == 5_000


def test_the_versions_of_engines_in_the_docs_are_those_that_maven_loads():
    from tests.used_versions import engines

    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    for name, (version, what) in engines().items():
        assert f"| {name} | {version} | {what} | " in page  # make engines


def test_missing_real_data_is_a_sentence(monkeypatch, capsys, tmp_path):
    from benchmarks import timing

    monkeypatch.setenv("RANKWISE_SHARED", str(tmp_path / "nowhere"))
    assert timing.real_data() is None
    assert capsys.readouterr().out.count(".") == 1


@pytest.mark.parametrize("peer", ["rlscore", "treetron", "earlier"])
def test_a_built_peer_that_is_not_there_is_refused(peer):
    run = benchmarks(f"--with-{peer}", "nowhere/train", "peers")
    assert run.returncode == 2
    assert f"--with-{peer}: nowhere/train is not an executable file" in run.stderr


def test_a_missing_peer_is_named_with_how_to_install_it(capsys):
    from benchmarks.peers.comparing import is_installed

    assert is_installed("sklearn", "scikit-learn")
    assert not is_installed("no_such_peer", "no-such-peer")
    assert "no-such-peer is not installed" in (printed := capsys.readouterr().out)
    assert "pip install no-such-peer" in printed


def test_peers_are_given_the_pairs_that_rankwise_counts():
    from benchmarks.peers.shapes import all_pairs, judged, sampled_pairs

    rows = judged(4, 12, 45, n_grades=3)
    expected = set(map(tuple, hinge_pairs(rows.y, rows.qid)[0]))
    pairs, sample = all_pairs(rows), sampled_pairs(rows, 200)
    assert len(pairs) == len(expected)
    assert set(zip(pairs.better, pairs.worse, strict=True)) == expected
    assert set(zip(sample.better, sample.worse, strict=True)) <= expected


def test_a_liblinear_model_is_read_from_its_weights_on(tmp_path):
    from benchmarks.peers.built import weights_in

    file = tmp_path / "model"
    file.write_text(
        "solver_type L2R_L2LOSS_RANKSVM\nnr_class 2\nnr_feature 2\nbias -1\nw\n0.5 \n-2e-3 \n",
        encoding="utf-8",
    )
    assert weights_in(file).tolist() == [0.5, -0.002]


@pytest.mark.parametrize("name", ["large_scale", "ohsumed", "parses", "path"])
def test_a_wrong_data_folder_is_a_sentence(name, tmp_path):
    script = f"import runpy; runpy.run_module('benchmarks.reproduce.{name}', run_name='__main__')"
    run = run_warm(script, "--data", tmp_path, cwd=ROOT)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    assert "--data: there is no " in run.stderr
    assert run.stderr.rstrip().endswith(f"in {tmp_path}.")


@pytest.mark.parametrize("name", ["ohsumed", "parses", "path"])
def test_reproductions_of_whole_models_use_what_users_may_use(name):
    tree = ast.parse((ROOT / f"benchmarks/reproduce/{name}.py").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {module for module in modules if module.startswith("rankwise")} <= {"rankwise", "rankwise.metrics"}


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_reproductions_touch_nothing_private(name):
    tree = ast.parse((ROOT / f"benchmarks/reproduce/{name}.py").read_text(encoding="utf-8"))
    owned = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert {attr for attr in used - owned if attr.startswith("_") and not attr.startswith("__")} == set()


@pytest.fixture
def shop(monkeypatch):
    from benchmarks import timing
    from benchmarks.peers.trees import rows_of

    from rankwise import make_search_data

    monkeypatch.setattr(timing, "quick", True)
    return rows_of(make_search_data(20, habits=0.5))


def test_splits_test_every_query_once_and_train_on_the_others(shop):
    from benchmarks.bench_splines import folds_of

    folds = folds_of(shop, 4, seed=0)
    assert np.sort(np.concatenate([queries for _, _, queries in folds])).tolist() == list(range(20))
    for train, test, queries in folds:
        assert len(train.y) + len(test.y) == len(shop.y)
        assert test.X.tolist() == shop.X[np.isin(shop.qid, queries)].tolist()
        assert (train.qid.max() + 1, test.qid.max() + 1) == (15, 5)


def test_splines_are_compared_with_lines_query_by_query(shop, capsys):
    from benchmarks.bench_splines import compare_on, learners

    methods = dict(learners([4]))
    compare_on("shop", shop, {name: methods[name] for name in ("linear", "splines, 4 knots")})
    shown = capsys.readouterr()
    assert "shop, repetition 1, fold 4" in shown.err
    assert re.search(
        r"^\| splines, 4 knots \| 0\.\d{4} \| [+−]0\.\d{4} ± 0\.\d{4} \| \d", shown.out, re.MULTILINE
    )
    assert re.search(r"^\| linear \| 0\.\d{4} \|  \| \d", shown.out, re.MULTILINE)


def test_a_penalty_on_second_differences_of_0_changes_nothing(shop, monkeypatch):
    from benchmarks import bench_splines

    from rankwise import RankRLSCV

    monkeypatch.setattr(bench_splines, "ROUGHNESS", (0.0,))
    plain = RankRLSCV(columns="spline:30", measure="ndcg@10").fit(shop.X, shop.y, shop.qid)
    np.testing.assert_allclose(bench_splines.smooth(shop).scores(shop.X), plain.predict(shop.X), atol=1e-9)


MARKED_TABLES = [
    (page.name, name, content)
    for page in tables.pages()
    for _, name, content, _ in tables.MARKED.findall(page.read_text(encoding="utf-8"))
]


def test_every_marker_in_the_pages_belongs_to_a_table():
    for page in tables.pages():
        text = page.read_text(encoding="utf-8")
        n_tables = len(tables.MARKED.findall(text))
        assert text.count("<!-- table: ") == text.count("<!-- end of table") == n_tables


@pytest.mark.parametrize("page, name, content", MARKED_TABLES, ids=[name for _, name, _ in MARKED_TABLES])
def test_every_table_of_the_pages_says_when_where_and_by_which_command_it_was_measured(page, name, content):
    *table, last = content.strip().splitlines()
    lines = [*table, last][2:] if name in tables.GATHERED else [last]
    for line in lines:
        origin = re.search(r"\d{4}-\d\d-\d\d, \d+ cores of [^:|]+: `([^`]+)`", line)
        assert origin is not None, f"{page}, {name}: {line}"
        text = "".join(source.read_text(encoding="utf-8") for source in sources_of(origin[1]))
        assert ("headline(" if name == tables.HEADLINES else f'"{name}"') in text


def sources_of(command):
    """The files that make the tables of a command."""
    if command == "make wheel":
        return [ROOT / "wheels/__main__.py"]
    if command == "make elsewhere":
        return [ROOT / "elsewhere/__main__.py"]
    if command in ("make engines", "make clients"):
        return [ROOT / "tests/used_versions.py"]
    if command.startswith("python -m house "):
        return [ROOT / "house/__main__.py"]
    name = command.removeprefix("python -m benchmarks ")
    assert name in NAMES
    others = ROOT.glob("benchmarks/peers/*.py") if name == "peers" else ROOT.glob(f"benchmarks/{name}_*.py")
    return [ROOT / f"benchmarks/bench_{name}.py", *others]


PAGE = """Before.

<!-- table: speed -->

| old |

*long ago*

<!-- end of table -->

Between.

<!-- table: headlines -->

| task | time | for comparison | measured |
|---|---|---|---|
| sorting | 9 s | nothing | then |
| reading | 1 s | nothing | then |

<!-- end of table -->
"""


@pytest.fixture
def measurements(monkeypatch):
    monkeypatch.setattr(tables, "measured", {})
    monkeypatch.setattr(tables, "rows", {name: {} for name in tables.GATHERED})
    tables.show("speed", ("data", "s"), [("a", "1"), ("b", "2")])
    tables.headline("sorting", "2 s", "twice as fast")
    tables.headline("adding", "3 s", "as fast")


def test_tables_are_written_between_their_markers_with_their_origin(measurements):
    page = tables.filled(PAGE, "python -m benchmarks speed")
    assert "Before.\n\n<!-- table: speed -->\n\n| data | s |\n|---|---|\n| a | 1 |\n| b | 2 |\n\n*2" in page
    assert "long ago" not in page
    origin = f"{tables.date_and_machine()}: `python -m benchmarks speed`"
    rows = [f"| sorting | 2 s | twice as fast | {origin} |", "| reading | 1 s | nothing | then |"]
    rows.append(f"| adding | 3 s | as fast | {origin} |")
    assert "|---|---|---|---|\n" + "\n".join(rows) + "\n\n<!-- end of table -->\n" in page


def test_writing_the_same_tables_twice_changes_nothing(measurements):
    page = tables.filled(PAGE, "python -m benchmarks speed")
    assert tables.filled(page, "python -m benchmarks speed") == page


def test_tables_that_were_not_measured_stay(monkeypatch):
    monkeypatch.setattr(tables, "measured", {})
    monkeypatch.setattr(tables, "rows", {name: {} for name in tables.GATHERED})
    for page in tables.pages():
        text = page.read_text(encoding="utf-8")
        assert tables.filled(text, "python -m benchmarks speed") == text


def test_an_origin_names_no_host_and_no_path(measurements):
    origin = tables.origin("python -m benchmarks speed", ["numpy"])
    assert platform.node() not in origin
    assert "/" not in origin
