"""The release gate: its p-values, its rates by simulation, and the exit codes of the command."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import done, folder, refused
from rankwise.cli import main
from rankwise.errors import ParameterError
from rankwise.metrics import non_inferiority
from rankwise.metrics.noninferiority import probability_below, queries_to_decide, queries_to_detect

__all__ = ["done", "folder", "refused"]  # fixtures

MARGIN = 0.005


@given(st.lists(st.floats(-1.0, 1.0).filter(lambda a: abs(a) > 1e-3), min_size=3, max_size=12))
def test_the_probability_is_that_of_a_weighted_sum_of_exponential_variables(a):
    a = np.array(a)
    drawn = (np.random.default_rng(0).exponential(size=(20_000, len(a))) @ a <= 0.0).mean()
    assert probability_below(a) == pytest.approx(drawn, abs=0.04)


def test_of_queries_without_a_difference_it_is_exact():
    for n in (100, 598, 2000):
        exact = (1.0 - MARGIN) ** n
        assert non_inferiority(np.zeros(n), MARGIN).p_not_worse == pytest.approx(exact, rel=0.05)


@pytest.mark.parametrize("n", [100, 1000, 5000])
@pytest.mark.parametrize("kind", ["normal", "rare"])
def test_a_ranker_that_is_worse_by_the_margin_seldom_passes(n, kind):
    rng, passes, n_draws = np.random.default_rng(0), 0, 150
    for _ in range(n_draws):
        loses_all = -1.0 * (rng.random(n) < MARGIN)
        gains = rng.normal(-MARGIN, 0.1, n) if kind == "normal" else loses_all
        passes += non_inferiority(gains, MARGIN).verdict == "not worse"
    assert passes <= 0.05 * n_draws + 2.5 * np.sqrt(0.05 * 0.95 * n_draws)


def test_on_as_many_queries_as_are_said_to_decide_equal_rankers_pass():
    rng, n = np.random.default_rng(0), queries_to_decide(0.1, MARGIN)
    assert 4000 < n < 5000
    passes = [non_inferiority(rng.normal(0.0, 0.1, n), MARGIN).verdict == "not worse" for _ in range(60)]
    assert np.mean(passes) > 0.85
    assert queries_to_detect(0.1, 0.01) == 785


def test_queries_without_a_value_do_not_count_and_other_scales_give_the_same_verdict():
    rng = np.random.default_rng(0)
    gains = rng.normal(0.02, 0.1, 800)
    one = non_inferiority(gains, 0.01)
    other = non_inferiority(np.append(100.0 * gains, np.nan), 1.0, value_range=100.0)
    assert other.n_queries == one.n_queries == 800
    assert other.p_not_worse == pytest.approx(one.p_not_worse)
    assert (one.verdict, non_inferiority(-gains, 0.001).verdict) == ("not worse", "worse")
    with pytest.raises(ParameterError, match="'margin'"):
        non_inferiority(gains, 0.0)


@pytest.fixture
def gate(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    rng = np.random.default_rng(0)
    n_rows = len((folder / "test.txt").read_text(encoding="utf-8").splitlines())
    noise = rng.normal(size=n_rows)
    (folder / "noise").write_text("".join(f"{score}\n" for score in noise), encoding="utf-8")
    (folder / "copy").write_bytes((folder / "model").read_bytes())

    def run(*arguments):
        code = main(["compare", *map(str, arguments), "--data", "test.txt"])
        return code, capsys.readouterr().out

    return run


def test_the_exit_code_is_the_verdict(gate):
    assert gate("noise", "model", "--fail-if-worse", "ndcg@10:0.05")[0] == 0
    assert gate("model", "noise", "--fail-if-worse", "ndcg@10:0.01")[0] == 3
    code, shown = gate("model", "copy", "--fail-if-worse", "ndcg@10:0.01,map:0.01")
    assert code == 4
    assert "queries, if it is equal on average" in shown
    code, shown = gate("model", "noise", "--fail-if-worse", "map:0.9,ndcg@10:0.01", "--json")
    assert code == 3
    assert [test["verdict"] for test in json.loads(shown)["gate"]["tests"]] == ["not worse", "worse"]


def test_markdown_has_the_verdict_and_power_the_queries(gate):
    code, shown = gate("noise", "model", "--fail-if-worse", "ndcg@10:0.05", "--markdown")
    assert code == 0
    assert "**Passed: shown to lose less than the margin.**" in shown
    assert "| ndcg@10 | `model` | 0.05 |" in shown
    for options in (), ("--markdown",):
        shown = gate("noise", "model", "--detect", "0.01", *options)[1]
        assert "Queries to detect a difference of 0.01" in shown
    assert "| measure | ranker | spread | queries | needed |\n| --- | --- | --- | --- | --- |" in shown
    assert gate("noise", "model", "--worst", "3", "--markdown")[0] == 2


def test_the_page_of_a_gated_comparison_advises_nothing_but_the_gate(gate, folder):
    options = ("--fail-if-worse", "ndcg@10:0.001", "--report", "page.html")
    code, shown = gate("noise", "model", *options)
    page = (folder / "page.html").read_text(encoding="utf-8")
    verdict = {0: "passed: shown to lose less than", 4: "undecided: too few queries"}[code]
    assert f"Release gate (ndcg@10:0.001): {verdict}" in page
    assert "model beats noise" in page
    assert "ship it" not in page + shown
    assert gate("noise", "model", "--report", "page.html")[0] == 0
    assert "ship it" in (folder / "page.html").read_text(encoding="utf-8")


def test_margins_that_make_no_sense_are_refused(refused):
    for text in ("ndcg@10", "ndcg@10:0", "ndcg@10:x", ":0.1"):
        assert "--fail-if-worse expects" in refused(
            "compare", "model", "test.txt", "--data", "test.txt", "--fail-if-worse", text, code=2
        )
    micro = refused("compare", "model", "test.txt", "--data", "test.txt", "--detect", "0", code=2)
    assert "--detect" in micro
