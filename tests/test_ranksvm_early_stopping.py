"""RankSVM judged on held-out rows or pairs while it iterates, by the mechanism of RankRLS."""

import warnings

import numpy as np
import pytest

from hinge_ranking import LOSSES
from rankwise import DataError, RankSVM, load_model
from rankwise.held_out import HeldOut
from rankwise.metrics import pairwise_error, preference_error
from rankwise.svm.hinge_result import EarlyStopping, HingeResult, Iterate


def noisy(m=150, n=40, seed=0):
    weights = np.random.default_rng(9).normal(size=n)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, X @ weights + rng.normal(scale=8.0, size=m), rng.integers(0, 12, m)


def overfitted(seed=0):
    """More features than rows, so that solvers know no covariances and take many iterations."""
    return noisy(m=100, n=120, seed=seed)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_eval_set_is_measured_at_every_iterate_and_changes_nothing_else(loss):
    X, y, qid = noisy()
    V, v, vid = noisy(seed=1)
    plain = RankSVM(1e-4, loss=loss).fit(X, y, qid)
    model = RankSVM(1e-4, loss=loss).fit(X, y, qid, eval_set=(V, v, vid))
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert not hasattr(plain, "validation_curve_")
    assert model.validation_curve_[-1] == pytest.approx(pairwise_error(v, model.predict(V), vid))
    assert model.best_iter_ == model.validation_curve_.argmin() + 1


@pytest.mark.parametrize("loss", LOSSES)
def test_early_stopping_keeps_the_best_iterate_with_its_proof(loss, tmp_path):
    X, y, qid = overfitted()
    V, v, vid = overfitted(seed=1)
    lowest = RankSVM(1e-5, loss=loss, tol=1e-6).fit(X, y, qid).objective_
    longest = RankSVM(1e-5, loss=loss).fit(X, y, qid, eval_set=(V, v, vid))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # stopping early is not failing to converge
        model = RankSVM(1e-5, loss=loss, early_stopping=True, patience=2).fit(X, y, qid, eval_set=(V, v, vid))
    curve = model.validation_curve_
    assert len(curve) < len(longest.validation_curve_)
    np.testing.assert_array_equal(curve, longest.validation_curve_[: len(curve)])
    assert len(curve) == model.best_iter_ + 2
    assert pairwise_error(v, model.predict(V), vid) == pytest.approx(curve.min())
    assert curve.min() <= longest.validation_curve_[-1]
    assert lowest - 1e-6 <= model.objective_ <= lowest + model.gap_
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").validation_curve_, curve)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_is_that_of_the_iterate_kept_not_of_the_last_one(loss):
    X, y, qid = overfitted()
    last = RankSVM(1e-5, loss=loss, tol=1e-6).fit(X, y, qid)
    patient = RankSVM(1e-5, loss=loss, tol=1e-6, early_stopping=True, patience=1000)
    patient.fit(X, y, qid, eval_set=overfitted(seed=1))
    assert patient.objective_ > last.objective_ + 1e-3
    assert patient.gap_ == pytest.approx(patient.objective_ - last.objective_, abs=2e-6)


def test_without_an_eval_set_a_part_of_the_queries_is_held_out():
    X, y, qid = noisy()
    first, second, other = (
        RankSVM(1e-5, early_stopping=True, validation_fraction=0.3, random_state=seed).fit(X, y, qid)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert (first.coef_ != other.coef_).any()


def test_pairs_are_judged_by_pairs():
    X, y, _ = noisy()
    V, v, _ = noisy(seed=1)
    pairs, judges = np.argwhere(y[:, None] > y + 1.0), np.argwhere(v[:, None] > v + 1.0)
    model = RankSVM(1e-5, early_stopping=True).fit_preferences(X, pairs, eval_set=(V, judges))
    assert model.validation_curve_.min() == pytest.approx(preference_error(model.predict(V), judges))
    held = RankSVM(1e-5, early_stopping=True, random_state=0).fit_preferences(X, pairs)
    assert len(held.validation_curve_) >= held.best_iter_ > 0


def test_a_later_fit_without_judges_forgets_the_curve():
    X, y, qid = noisy()
    model = RankSVM().fit(X, y, qid, eval_set=noisy(seed=1)).fit(X, y, qid)
    assert not hasattr(model, "validation_curve_")
    assert not hasattr(model, "best_iter_")


def test_an_eval_set_that_cannot_judge_is_refused():
    X, y, qid = noisy()
    with pytest.raises(DataError, match="eval_set cannot be measured by 'pairwise_error'"):
        RankSVM().fit(X, y, qid, eval_set=(X, 0 * y, qid))
    with pytest.raises(DataError, match=r"eval_set must be \(X, y, qid\)"):
        RankSVM().fit(X, y, qid, eval_set=(X, y))


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_every_iterate_is_compared_with_the_best_one_so_far(higher_is_better):
    rng = np.random.default_rng(0)
    for patience in (1, 2, 3, None):
        for _ in range(20):
            curve = rng.integers(0, 6, 12).astype(float)
            measures = iter(curve)
            held_out = HeldOut(np.empty((0, 1)), lambda scores, rest=measures: next(rest), higher_is_better)
            stopping = EarlyStopping(held_out, lambda coef: coef, patience)
            for k in range(1, len(curve) + 1):
                stopped = stopping(Iterate(k, np.array([k]), 0.0, 0.0, 0))
                best = (curve[:k].argmax() if higher_is_better else curve[:k].argmin()) + 1
                assert stopping.best_iter == best
                assert stopped == (patience is not None and k - best >= patience)
                if stopped:
                    break
            kept = stopping.kept(HingeResult(np.zeros(1), 0.0, 0.0, 0.0, k, 0, False, False))
            assert kept.coef[0] == best
