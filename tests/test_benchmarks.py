"""Benchmarks are found, described and importable; `make bench` runs them."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = sorted(path.stem.removeprefix("bench_") for path in ROOT.glob("benchmarks/bench_*.py"))
REPRODUCTIONS = sorted(path.stem for path in ROOT.glob("benchmarks/reproduce/[!_]*.py"))


def benchmarks(*arguments):
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_list_names_every_benchmark_and_reproduction():
    listed = benchmarks("--list").stdout.splitlines()
    assert [line.split()[0] for line in listed if line[:1].islower()] == NAMES + REPRODUCTIONS


def test_an_unknown_name_is_refused():
    run = benchmarks("--quick", "beauty")
    assert run.returncode == 2
    assert "unknown benchmark beauty; must be one of large_scale, measures," in run.stderr


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_can_be_imported(name):
    assert callable(importlib.import_module(f"benchmarks.bench_{name}").run)


def test_quick_means_smaller_data(monkeypatch):
    from benchmarks import timing

    assert timing.sized(100_000) == 100_000
    monkeypatch.setattr(timing, "quick", True)
    assert timing.sized(100_000) == 5_000


def test_missing_real_data_is_a_sentence(monkeypatch, capsys, tmp_path):
    from benchmarks import timing

    monkeypatch.setenv("RANKWISE_SHARED", str(tmp_path / "nowhere"))
    assert timing.real_data() is None
    assert capsys.readouterr().out.count(".") == 1
