"""Ctrl-C: a fit keeps its best model and lets the interrupt through; a command ends by the signal."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankwise
from command_line import letor_lines
from rankwise import ParameterError, config_context
from rankwise.cli import main
from warm import run_warm

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Interrupted")


@pytest.fixture(scope="module")
def data():
    return rankwise.make_search_data(30, random_state=0)


class InterruptedOnce:
    """A callback that sends this process the signal of Ctrl-C in its n-th call."""

    def __init__(self, call=1):
        self.calls = -call

    def __call__(self, *_):
        self.calls += 1
        if self.calls == 0:
            signal.raise_signal(signal.SIGINT)


def interrupted_fits(data, monkeypatch):
    """Fits that a signal meets when there is something to keep, by name."""
    from rankwise.operators.design import MatrixDesign
    from rankwise.operators.native_rows import NativeRows

    def after(owner, method, calls):
        plain, interrupt = getattr(owner, method), InterruptedOnce(calls)

        def calling(self, *arguments):
            interrupt()
            return plain(self, *arguments)

        monkeypatch.setattr(owner, method, calling)

    def rankrls():
        after(NativeRows, "query_normal_product", 4)
        return rankwise.RankRLS(solver="cg"), {}

    def ranksvm():
        after(MatrixDesign, "scores", 6)
        return rankwise.RankSVM(tol=1e-9), {}

    def path():
        return rankwise.RankSVMPath(), {"on_event": InterruptedOnce()}

    def search():
        return rankwise.RankSVMCV([1e-3, 1e-2, 1e-1], cv=3), {"on_progress": InterruptedOnce(4)}

    return {maker.__name__: maker for maker in (rankrls, ranksvm, path, search)}


@pytest.mark.parametrize("name", ["rankrls", "ranksvm", "path", "search"])
@pytest.mark.parametrize("keep", [False, True])
def test_an_interrupted_fit_keeps_its_model_and_raises_unless_told_to_keep_only(
    name, keep, data, monkeypatch
):
    model, more = interrupted_fits(data, monkeypatch)[name]()
    if keep:
        with config_context(on_interrupt="keep"):
            assert model.fit(data, **more) is model
    else:
        with pytest.raises(KeyboardInterrupt):
            model.fit(data, **more)
    assert np.isfinite(model.predict(data)).all()
    assert model.score(data) > 0.6


def test_a_loop_over_fits_ends_with_the_interrupted_one(data):
    fitted = []
    with pytest.raises(KeyboardInterrupt):
        for alpha_min in (0.1, 0.05, 0.02):
            model = rankwise.RankSVMPath(alpha_min=alpha_min)
            fitted.append(model)
            model.fit(data, on_event=InterruptedOnce())
    assert len(fitted) == 1


def test_what_an_interrupt_does_is_one_of_two():
    with pytest.raises(ParameterError, match="'on_interrupt' parameter must be 'raise' or 'keep'"):
        rankwise.set_config(on_interrupt="ignore")


# The command, with a progress bar that sends Ctrl-C to the whole process group, as a terminal does.
SCRIPT = """
import os, signal, sys
from rankwise import long_tasks
from rankwise.cli import main

shares = []

def show(bar, text, level, done):
    if "Training {ranker}" in text and done is not None:
        shares.append(done)
        if len(shares) == {call}:
            os.killpg(0, signal.SIGINT)

long_tasks._Bar.show = show
long_tasks._screen = lambda: long_tasks._terminal
long_tasks.PATIENCE_SECONDS = 3600
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def rows(data, tmp_path):
    (tmp_path / "rows.txt").write_text("".join(letor_lines(data)), encoding="utf-8")
    return tmp_path / "rows.txt"


def process(arguments, ranker, call, cwd, stdout=None):
    script = "import os; os.setsid()\n" + SCRIPT.format(ranker=ranker, call=call)
    return run_warm(script, *arguments, cwd=cwd, stdout=stdout)


SEARCH = ["train", "rows.txt", "model", "--learner", "ranksvm", "--alpha", "1e-3,1e-2"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize(
    "arguments, ranker, call",
    [
        (["path", "rows.txt", "--model", "model"], "RankSVMPath", 1),
        ([*SEARCH, "--set", "early_stopping=false"], "RankSVMCV", 3),
    ],
)
def test_an_interrupted_command_writes_names_and_ends_by_the_signal(arguments, ranker, call, rows):
    ended = process(arguments, ranker, call, rows.parent)
    assert ended.returncode == -signal.SIGINT, ended.stderr
    assert "rankwise: interrupted; continuing with the best model so far." in ended.stderr
    assert "Traceback" not in ended.stderr
    data = rankwise.load_letor(rows)
    assert rankwise.load_model(rows.parent / "model").score(data) > 0.6


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_command_that_fails_after_an_interrupt_says_why_and_ends_by_the_signal(rows):
    ended = process(["path", "rows.txt"], "RankSVMPath", 1, rows.parent, stdout="/dev/full")
    assert ended.returncode == -signal.SIGINT, ended.stderr
    assert "rankwise: error: standard output: No space left on device." in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_nothing_to_keep_ends_by_the_signal_and_writes_nothing(rows):
    train = ["train", "rows.txt", "model", "--learner", "kernel-rankrls", "--scale"]
    ended = process([*train, "--set", "gamma=[0.1,1]"], "KernelRankRLSCV", 1, rows.parent)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")
    assert sorted(path.name for path in rows.parent.iterdir()) == ["rows.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_folds_end_with_the_first_interrupted_fit(data, tmp_path):
    for name, part in zip(("train", "vali", "test"), (*data.split(0.5), data), strict=True):
        (tmp_path / "Fold1").mkdir(exist_ok=True)
        (tmp_path / "Fold1" / f"{name}.txt").write_text("".join(letor_lines(part)), encoding="utf-8")
    learners = ["--learners", "ranksvm,rankrls"]
    ended = process(["folds", ".", *learners], "RankSVMCV", 3, tmp_path)
    assert (ended.returncode, ended.stdout) == (-signal.SIGINT, ""), ended.stderr


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="needs bash")
def test_a_shell_loop_stops_at_the_interrupted_command(rows):
    (rows.parent / "command.py").write_text(SCRIPT.format(ranker="RankSVMPath", call=1), encoding="utf-8")
    loop = f"for i in 1 2 3; do {sys.executable} command.py path rows.txt; echo after $i; done"
    ended = subprocess.run(
        ["/bin/bash", "-c", loop],
        cwd=rows.parent,
        capture_output=True,
        encoding="utf-8",
        start_new_session=True,
        timeout=120,
    )
    assert ended.returncode == -signal.SIGINT
    assert "after" not in ended.stdout


# The command of a process in which Ctrl-C meets the import of a module, or the end.
IMPORTING = """
import atexit, signal, sys
moment, sys.argv[1:] = sys.argv[1], ["info"]

class Interrupting:
    def find_spec(self, name, *_):
        if name == moment:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
if moment == "the end":
    atexit.register(signal.raise_signal, signal.SIGINT)
from rankwise.cli import main
sys.exit(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize(
    "moment", ["typer", "rankwise.cli.app", "rankwise.cli.info", "rankwise._native", "the end"]
)
def test_an_interrupt_between_commands_and_imports_is_quiet(moment):
    ended = subprocess.run([sys.executable, "-c", IMPORTING, moment], capture_output=True, encoding="utf-8")
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")


def test_a_command_within_a_program_leaves_its_signals_alone():
    assert main(["info"]) == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
