"""Conjugate gradient that ends early: what is kept, and what is reported."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold

from noisy_ranking import noisy_ranking
from rankwise import DataError, RankRLS, RankRLSCV, config_context
from rankwise.operators.native_rows import NativeRows


@pytest.fixture(autouse=True)
def fits_return_what_an_interrupt_left():
    with config_context(on_interrupt="keep"):
        yield


def test_the_iteration_limit_warns():
    X, y, qid = noisy_ranking()
    with pytest.warns(ConvergenceWarning, match="after 2 iterations: the iteration limit was reached"):
        RankRLS(solver="cg", max_iter=2).fit(X, y, qid)


def test_nothing_that_regularizes_warns():
    for eval_set in (None, noisy_ranking(seed=5)):
        with pytest.warns(UserWarning, match="nothing regularizes"):
            RankRLS(alpha=0, solver="cg").fit(*noisy_ranking(), eval_set=eval_set)


def failing_in_call(number, failure, once=False):
    """The product of `NativeRows`, until the n-th call."""
    product, calls = NativeRows.query_normal_product, []

    def product_or_failure(self, *arguments):
        calls.append(None)
        fails = len(calls) == number if once else len(calls) >= number
        return failure(self) if fails else product(self, *arguments)

    return product_or_failure


def counting(calls):
    product = NativeRows.query_normal_product

    def counted(self, *arguments):
        calls.append(None)
        return product(self, *arguments)

    return counted


def interrupt(rows):
    raise KeyboardInterrupt


def not_finite(rows):
    return np.full(rows.shape[1], np.nan)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(interrupt, "interrupted from the keyboard"), (not_finite, "a product was not finite")],
)
@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_run_that_ends_before_its_time_keeps_the_best_so_far(monkeypatch, failure, reason, early_stopping):
    X, y, qid = noisy_ranking(noise=6.0)
    options = {"alpha": 0.5, "solver": "cg", "early_stopping": early_stopping}
    held = noisy_ranking(seed=5, noise=6.0)
    with pytest.warns(ConvergenceWarning, match="after 4 iterations: the iteration limit"):
        expected = RankRLS(**options, max_iter=4).fit(X, y, qid, eval_set=held)
    monkeypatch.setattr(NativeRows, "query_normal_product", failing_in_call(5, failure))
    with pytest.warns(ConvergenceWarning, match=f"after 4 iterations: {reason}.*best iterate so far is kept"):
        model = RankRLS(**options).fit(X, y, qid, eval_set=held)
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert model.best_iter_ == np.argmin(model.validation_curve_) + 1
    assert len(model.validation_curve_) == model.n_iter_ == 4


@pytest.mark.parametrize("ties", ["keep", "drop"])  # targets in one space, and in one each
def test_an_interrupt_ends_all_targets_unless_it_meets_the_last(ties, monkeypatch):
    X, y, qid = noisy_ranking()
    targets = np.column_stack([y, np.round(y)])
    calls = []
    monkeypatch.setattr(NativeRows, "query_normal_product", counting(calls))
    model = RankRLS(solver="cg", ties=ties).fit(X, targets, qid)
    n_calls = len(calls)
    monkeypatch.undo()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(NativeRows, "query_normal_product", failing_in_call(5, interrupt, once=True))
        RankRLS(solver="cg", ties=ties).fit(X, targets, qid)
    monkeypatch.setattr(NativeRows, "query_normal_product", failing_in_call(n_calls, interrupt, once=True))
    with pytest.warns(ConvergenceWarning, match="interrupted from the keyboard"):
        last = RankRLS(solver="cg", ties=ties).fit(X, targets, qid)
    np.testing.assert_array_equal(last.coef_[0], model.coef_[0])


def test_an_interrupted_choice_keeps_the_settings_tried_so_far(monkeypatch):
    X, y, qid = noisy_ranking()
    monkeypatch.setattr(NativeRows, "query_normal_product", failing_in_call(5, interrupt))
    choice = RankRLSCV([0.5, 2.0], solver="cg", ties=("keep", "drop"))
    with (
        pytest.warns(UserWarning, match="settings after .*'keep'.* were not tried"),
        pytest.warns(ConvergenceWarning, match="after 4 iterations: interrupted"),
    ):
        choice.fit(X, y, qid, eval_set=noisy_ranking(seed=5))
    assert [setting["ties"] for setting in choice.settings_] == ["keep"]


@pytest.mark.parametrize("fold", [0, 1])
def test_an_interrupted_setting_counts_only_if_it_is_the_first(monkeypatch, fold):
    options = {"alphas": [0.5, 2.0], "solver": "cg", "cv": 3}
    calls = []
    monkeypatch.setattr(NativeRows, "query_normal_product", counting(calls))
    first = RankRLSCV(**options).fit(*noisy_ranking())
    in_folds = len(calls) - first.n_iter_
    monkeypatch.undo()
    number = in_folds + 5 + fold * in_folds // 3
    monkeypatch.setattr(NativeRows, "query_normal_product", failing_in_call(number, interrupt, once=True))
    with pytest.warns(UserWarning, match="Interrupted from the keyboard") as caught:
        choice = RankRLSCV(**options, ties=("keep", "drop")).fit(*noisy_ranking())
    of_folds = ["alpha is chosen on 1 of 3 folds"] * fold
    for warning, said in zip(caught, [*of_folds, "settings after"], strict=True):
        assert said in str(warning.message)
    assert choice.settings_ == first.settings_
    np.testing.assert_array_equal(choice.scores_, first.scores_)
    np.testing.assert_array_equal(choice.coef_, first.coef_)


def test_an_interrupt_in_a_later_fold_chooses_on_those_before_it(monkeypatch):
    X, y, qid = noisy_ranking()
    calls = []
    monkeypatch.setattr(NativeRows, "query_normal_product", counting(calls))
    whole = RankRLSCV([0.5, 2.0], solver="cg", cv=3).fit(X, y, qid)
    number = len(calls) - whole.n_iter_ - 3
    monkeypatch.undo()
    monkeypatch.setattr(NativeRows, "query_normal_product", failing_in_call(number, interrupt, once=True))
    with pytest.warns(UserWarning, match="alpha is chosen on 2 of 3 folds") as caught:
        choice = RankRLSCV([0.5, 2.0], solver="cg", cv=3).fit(X, y, qid)
    assert len(caught) == 1
    splits = list(GroupKFold(3).split(X, y, qid))
    same = RankRLSCV([0.5, 2.0], solver="cg", cv=splits[:2]).fit(X, y, qid)
    np.testing.assert_allclose(choice.scores_, same.scores_)


def test_an_interrupt_in_the_first_fold_ends_the_choice(monkeypatch):
    monkeypatch.setattr(NativeRows, "query_normal_product", failing_in_call(5, interrupt))
    with pytest.raises(KeyboardInterrupt):
        RankRLSCV([0.5, 2.0], solver="cg", cv=3).fit(*noisy_ranking())


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("scale", [1e100, 1e200])
def test_values_too_large_to_square_are_refused(scale, early):
    X, y, qid = noisy_ranking()
    with pytest.raises(DataError, match="products of conjugate gradient overflow"):
        RankRLS(solver="cg", early_stopping=early).fit(scale * X, y, qid)


@pytest.mark.parametrize("target", [1, 2])
def test_an_interrupt_while_other_targets_wait_ends_the_fit(monkeypatch, target):
    X, y, qid = noisy_ranking()
    calls, targets = [], np.column_stack([y, -y, y**2])
    monkeypatch.setattr(NativeRows, "query_normal_product", counting(calls))
    RankRLS(solver="cg").fit(X, y, qid)
    monkeypatch.undo()
    first_of_target = (target - 1) * len(calls) + 1
    failing = failing_in_call(first_of_target, interrupt, once=True)
    monkeypatch.setattr(NativeRows, "query_normal_product", failing)
    with pytest.raises(KeyboardInterrupt):
        RankRLS(solver="cg").fit(X, targets, qid)
