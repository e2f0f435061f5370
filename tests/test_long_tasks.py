"""Progress bars: of what takes long, where somebody waits for it, and nowhere else."""

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import rankwise
from rankwise import RankRLS, RankRLSPath, RankSVM, compare_learners, long_tasks
from rankwise.long_tasks import step, task
from watched_tasks import shown

__all__ = ["shown"]  # a fixture

WORK = """
import time, rankwise
from rankwise import long_tasks
from rankwise.long_tasks import step, task
long_tasks.PATIENCE_SECONDS = 0.2
with rankwise.config_context(progress={progress}):
    with task("Quick work"):
        pass
    with task("Long work"):
        for share in range(10):
            time.sleep(0.1)
            step(f"part {{share}}", done=share / 10)
print("finished")
"""


def on_terminal(script, **environment):
    """What a script writes to a terminal that is its standard error, and to a pipe that is its output."""
    reader, writer = os.openpty()
    variables = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"} | environment
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=writer, env=variables
    )
    os.close(writer)
    shown = b""
    with suppress(OSError):  # how Linux reports that the terminal is gone
        while block := os.read(reader, 4096):
            shown += block
    os.close(reader)
    out, _ = process.communicate()
    assert process.returncode == 0
    return shown.decode(), out.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_shows_what_takes_long_if_it_was_asked_to():
    bar, out = on_terminal(WORK.format(progress=True))
    assert "Long work: part 5" in bar
    assert "50%" in bar
    assert "Quick work" not in bar
    assert out == "finished\n"
    for progress in (None, False):
        assert on_terminal(WORK.format(progress=progress)) == ("", "finished\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_bar_has_no_colors_if_none_are_wanted():
    colored, plain = (on_terminal(WORK.format(progress=True), **more)[0] for more in ({}, {"NO_COLOR": "1"}))
    assert "\x1b[38;5;" in colored
    assert "\x1b[38;5;" not in plain
    assert "Long work: part 5" in plain


def test_a_pipe_sees_nothing():
    run = subprocess.run(
        [sys.executable, "-c", WORK.format(progress=True)], capture_output=True, encoding="utf-8", check=True
    )
    assert (run.stdout, run.stderr) == ("finished\n", "")


def test_without_a_front_end_nothing_is_started():
    threads = threading.active_count()
    with task("Work"):
        step("part", done=0.5)
        assert threading.active_count() == threads
        assert long_tasks._current.get() is None


def test_a_bar_that_was_never_due_is_never_drawn(monkeypatch):
    drawn = []

    @contextmanager
    def screen():
        drawn.append("begin")
        yield lambda *state: drawn.append(state)

    monkeypatch.setattr(long_tasks, "_screen", lambda: screen)
    with task("Work"):
        step(done=0.5)
    assert drawn == []
    monkeypatch.setattr(long_tasks, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(long_tasks, "INTERVAL_SECONDS", 0.001)
    with task("Work"):
        step("part", done=0.5)
        while ("Work: part", 0.5, "0:00:00") not in drawn:
            time.sleep(0.001)
    assert long_tasks._current.get() is None


def test_a_task_within_another_adds_to_its_text_and_leaves_it_the_fraction(shown):
    with task("Outer"):
        with task("inner"):
            step("a", done=0.25)
        step(done=0.5)
        with pytest.raises(ZeroDivisionError), task("inner"):
            step("b", done=0.75)
            _ = 1 / 0
    assert shown == [
        ("Outer", None),
        ("Outer: inner", None),
        ("Outer: inner: a", 0.25),
        ("Outer", 0.5),
        ("Outer: inner", 0.5),
        ("Outer: inner: b", 0.5),
    ]


@pytest.fixture(scope="module")
def data():
    return rankwise.make_search_data(30, random_state=0)


@pytest.mark.parametrize(
    ("ranker", "said"),
    [
        (RankRLS(solver="cg"), "Training RankRLS: iteration 3 of at most 500"),
        (RankSVM(), "Training RankSVM: iteration 2, gap "),
        (RankSVM(loss="squared_hinge"), "Training RankSVM: iteration 2, gap "),
        (RankRLSPath(max_features=2, cv=3), "Training RankRLSPath: fold 2 of 3"),
    ],
)
def test_a_fit_says_how_far_it_is(ranker, said, data, shown):
    ranker.fit(data)
    assert any(text.startswith(said) for text, _ in shown)


def test_a_comparison_of_learners_counts_folds_and_learners(data, shown):
    compare_learners(data, {"one": RankRLS(), "svm": RankSVM()}, ["ndcg@10"], cv=2)
    shares = [share for text, share in shown if share is not None]
    assert shares == sorted(shares)
    assert ("Comparing learners: fold 2 of 2, svm", 0.75) in shown
    assert "Comparing learners: Training RankSVM" in [text for text, _ in shown]


def test_models_are_the_same_with_a_bar(data, monkeypatch):
    without = RankSVM().fit(data).coef_
    monkeypatch.setattr(long_tasks, "PATIENCE_SECONDS", 0.0)

    @contextmanager
    def screen():
        yield lambda *state: None

    monkeypatch.setattr(long_tasks, "_screen", lambda: screen)
    np.testing.assert_array_equal(RankSVM().fit(data).coef_, without)
