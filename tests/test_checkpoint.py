"""A run that ends early and is resumed is bit-identical to an uninterrupted one; `killed.py` kills some."""

import os

import numpy as np
import pytest

from rankwise import DataError, KernelRankRLSCV, RankRLS, RankRLSCV
from rankwise.ridge import shifted_cg as solver
from rankwise.ridge.checkpoint import FILE, Checkpoint


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(200, 40)), rng.normal(size=200), np.arange(200) // 10
    return X, y, qid


def stop_after(monkeypatch, n):
    """End runs with an error after n iterations, as a crash would."""
    advance = solver._Run.advance

    def crashing(self, state, tol):
        if state.iteration == n:
            raise RuntimeError("crash")
        return advance(self, state, tol)

    monkeypatch.setattr(solver._Run, "advance", crashing)


def crash(monkeypatch, folder, problem, **options):
    with monkeypatch.context() as patch:
        stop_after(patch, 5)
        with pytest.raises(RuntimeError, match="crash"):
            fit(folder, problem, **options)


def fit(folder, problem, **options):
    options = {"alpha": 0.01, "solver": "cg", "checkpoint_seconds": 0.0, **options}
    return RankRLS(checkpoint=folder and str(folder), **options).fit(*problem)


def test_taking_a_run_up_costs_one_product_more(tmp_path, problem, monkeypatch):
    crash(monkeypatch, tmp_path, problem)
    iterations = []
    advance = solver._Run.advance

    def counting(self, state, tol):
        iterations.append(state.iteration)
        return advance(self, state, tol)

    monkeypatch.setattr(solver._Run, "advance", counting)
    resumed = fit(tmp_path, problem)
    assert iterations[:3] == [0, 5, 6]
    assert len(iterations) == resumed.n_iter_ - 5 + 1
    assert resumed.coef_.tobytes() == fit(None, problem).coef_.tobytes()


@pytest.mark.filterwarnings("ignore:Conjugate gradient ended")
@pytest.mark.parametrize(
    "options", [{}, {"early_stopping": True, "random_state": 0}], ids=["plain", "judged"]
)
@pytest.mark.parametrize("ending", [{"max_iter": 1}, {"max_iter": 5}, {"patience": 1}, {}], ids=str)
def test_a_run_that_ended_is_taken_up_as_it_ended(tmp_path, problem, options, ending):
    plain = fit(None, problem, **options, **ending)
    for _ in range(3):
        again = fit(tmp_path, problem, **options, **ending)
        assert again.coef_.tobytes() == plain.coef_.tobytes()
        assert again.n_iter_ == plain.n_iter_
        with np.load(tmp_path / FILE) as saved:
            assert int(saved["iteration"]) <= ending.get("max_iter", 500)


@pytest.mark.parametrize("change", ["X", "y", "qid", "alpha", "tol", "max_iter", "weight"])
def test_a_checkpoint_of_other_data_or_options_is_refused(tmp_path, problem, monkeypatch, change):
    crash(monkeypatch, tmp_path, problem)
    X, y, qid = (array.copy() for array in problem)
    weight, options = np.ones(len(y)), {}
    if change == "X":
        X[3, 3] += 1e-9
    elif change == "y":
        y[0] += 1e-9
    elif change == "qid":
        qid[-1] = 0
    elif change == "weight":
        weight[5] = 2.0
    else:
        options[change] = {"alpha": 0.02, "tol": 1e-6, "max_iter": 400}[change]
    with pytest.raises(DataError, match="belongs to a run with other data or options"):
        fit(tmp_path, (X, y, qid, weight), **options)


@pytest.mark.filterwarnings("ignore:Conjugate gradient ended")
@pytest.mark.parametrize("max_iter", [1000, 4])
@pytest.mark.parametrize("kind", [RankRLSCV, KernelRankRLSCV])
def test_every_fold_and_setting_of_a_search_has_a_checkpoint_of_its_own(kind, max_iter, tmp_path, problem):
    options = {"alphas": [0.01, 1.0], "solver": "cg", "cv": 3, "ties": ("keep", "drop"), "max_iter": max_iter}
    plain = kind(**options).fit(*problem)
    for _ in range(2):  # a search from scratch, and one that resumes every run where it was last saved
        model = kind(**options, checkpoint=str(tmp_path), checkpoint_seconds=0.0).fit(*problem)
        np.testing.assert_array_equal(model.scores_, plain.scores_)
        np.testing.assert_array_equal(model.predict(problem[0]), plain.predict(problem[0]))
    folds = [f"-setting-{k}-fold-{fold}.npz" for k in range(2) for fold in range(3)]
    names = {path.name.removeprefix("conjugate-gradient") for path in tmp_path.iterdir()}
    assert names == {*folds, f"-setting-{model.settings_.index(_setting_of(model))}.npz"}


def _setting_of(model):
    return {name: model.best_[name] for name in model.settings_[0]}


def test_a_checkpointed_model_runs_for_another_alpha(tmp_path, problem):
    model = fit(tmp_path, problem)
    assert model.with_alpha(0.5).coef_.tobytes() == fit(None, problem, alpha=0.5).coef_.tobytes()
    assert model.with_alpha(0.01).coef_.tobytes() == model.coef_.tobytes()


def test_a_file_that_is_no_checkpoint_is_named(tmp_path, problem):
    (tmp_path / FILE).write_bytes(b"something else")
    with pytest.raises(DataError, match="is not a rankwise checkpoint"):
        fit(tmp_path, problem)


def test_a_full_disk_is_said_and_training_goes_on(tmp_path, problem):
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    with pytest.warns(UserWarning, match="could not be written .*; training continues"):
        model = fit(blocked / "folder", problem)
    assert model.coef_.tobytes() == fit(None, problem).coef_.tobytes()


def test_the_state_is_saved_no_more_often_than_asked(tmp_path, problem):
    fit(tmp_path, problem, checkpoint_seconds=3600.0)
    assert not (tmp_path / FILE).exists()
    assert Checkpoint(tmp_path).seconds == 60.0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_disk_that_fills_while_writing_leaves_the_last_checkpoint(tmp_path, problem, monkeypatch):
    crash(monkeypatch, tmp_path, problem)
    whole = (tmp_path / FILE).read_bytes()

    def full(file, **arrays):
        with open("/dev/full", "wb", buffering=0) as device:  # noqa: PTH123
            device.write(b"x")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        with pytest.warns(UserWarning, match="No space left on device"):
            fit(tmp_path, problem)
    assert (tmp_path / FILE).read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
