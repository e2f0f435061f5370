"""Every example runs and shows what it claims."""

import re
from pathlib import Path

import pytest

from warm import run_warm

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name):
    script = "import warnings; warnings.simplefilter('error')\n"
    finished = run_warm(script + (EXAMPLES / name).read_text(encoding="utf-8"))
    assert (finished.returncode, finished.stderr) == (0, "")
    return finished.stdout


def ndcg_of(output, name):
    return float(re.search(rf"^{name} +ndcg@10 (\S+)", output, re.MULTILINE)[1])


def test_a_frame_is_enough_and_learning_pays():
    output = run("train_on_a_frame.py")
    ranked = ndcg_of(output, "RankRLS")
    assert ranked > ndcg_of(output, "regression on grades") + 0.02
    assert ranked > ndcg_of(output, "best single feature") + 0.05


def test_clicks_teach_and_the_correction_helps():
    output = run("learn_from_clicks.py")
    engine, biased, corrected, grades = (
        ndcg_of(output, name)
        for name in ("the engine", "clicks, uncorrected", "clicks, bias corrected", "grades")
    )
    assert engine < biased < corrected < grades
    assert "The position matters: yes" in output
    p_value = float(
        re.search(r"^ndcg@10  clicks, bias corrected  the engine .* (\S+)$", output, re.MULTILINE)[1]
    )
    assert p_value < 0.001


def test_a_messy_table_is_ranked_alike_by_databases_and_servers():
    output = run("serve_a_table.py")
    assert re.search(r"^  brand crux vs \w+ +\+", output, re.MULTILINE)
    differences = re.findall(r"^(.+): scores differ by at most (\S+)$", output, re.MULTILINE)
    assert [where for where, _ in differences] == [
        "SQLite",
        "DuckDB",
        "onnxruntime",
        "Elasticsearch's script",
    ]
    assert all(float(most) < 1e-9 for _, most in differences)


def test_queries_reach_every_step_of_a_pipeline():
    assert len(re.findall(r"^alpha .*NDCG@10 0\.[78]", run("scale_inside_a_pipeline.py"), re.MULTILINE)) == 6


def test_the_films_are_those_of_the_library():
    embedded = EXAMPLES.parent / "src" / "rankwise" / "readers" / "movies.csv"
    assert run("make_movies.py") == embedded.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_a_notebook_runs_and_prints_what_it_shows(path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    shown = nbformat.read(path, as_version=4)
    again = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(again, timeout=300).execute()

    def printed(notebook):
        outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
        return [
            (output.output_type, output.get("text"), sorted(output.get("data", {}))) for output in outputs
        ]

    assert printed(again) == printed(shown)
    assert any("image/png" in kinds for _, _, kinds in printed(shown))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_every_example_is_tested_here(path):
    assert f'run("{path.name}")' in Path(__file__).read_text(encoding="utf-8")
