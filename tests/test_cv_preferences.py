"""Rankers choose alpha from explicit pairs too, with the same result as refitting."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from rankwise import DataError, KernelRankRLSCV, ParameterError, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from rankwise.metrics import preference_error
from rankwise.preferences.pairs import PreferencePairs

ALPHAS = [1e-3, 1e-1, 10.0]


def stated(n_groups=8, seed=0):
    """About 48 rows, and weighted preferences between rows of the same group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), 48 // n_groups)
    X = rng.normal(size=(len(group), 5))
    taste = X @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.normal(size=len(X))
    order = rng.permutation(np.argwhere((group[:, None] == group) & (taste[:, None] > taste)))
    return X, order, rng.uniform(0.5, 2.0, len(order)), group


def learners(cv):
    return [
        (RankRLSCV(ALPHAS, cv=cv, solver="primal"), RankRLS(solver="primal"), 1e-9),
        (RankRLSCV(ALPHAS, cv=cv, solver="dual"), RankRLS(solver="dual"), 1e-9),
        (RankRLSCV(ALPHAS, cv=cv, solver="cg", tol=1e-12), RankRLS(solver="primal"), 1e-9),
        (KernelRankRLSCV(ALPHAS, cv=cv, kernel="linear"), RankRLS(), 1e-9),
        (RankSVMCV(ALPHAS, cv=cv, tol=1e-6), RankSVM(tol=1e-6), 0.02),
        (
            RankSVMCV(ALPHAS, cv=cv, tol=1e-9, loss="squared_hinge"),
            RankSVM(tol=1e-9, loss="squared_hinge"),
            0.01,
        ),
    ]


@pytest.mark.parametrize("choice, single, tolerance", learners(None), ids=str)
def test_alpha_is_chosen_on_validation_pairs(choice, single, tolerance):
    X, pairs, weight, _ = stated()
    V, judges, judge_weight, _ = stated(seed=1)
    choice.fit_preferences(X, pairs, weight=weight, eval_set=(V, judges, judge_weight))
    errors = []
    for alpha in ALPHAS:
        scores = single.set_params(alpha=alpha).fit_preferences(X, pairs, weight=weight).predict(V)
        errors.append(preference_error(scores, judges, weight=judge_weight))
    np.testing.assert_allclose(choice.scores_, [errors], atol=tolerance)
    assert choice.cv_ == "eval_set"
    same = single.set_params(alpha=choice.best_["alpha"]).fit_preferences(X, pairs, weight=weight)
    np.testing.assert_allclose(choice.predict(V), same.predict(V), atol=0.05, rtol=1e-5)


def test_validation_pairs_may_bring_their_weights_along():
    X, pairs, _, _ = stated()
    V, judges, judge_weight, _ = stated(seed=1)
    apart = RankRLSCV(ALPHAS).fit_preferences(X, pairs, eval_set=(V, judges, judge_weight))
    together = RankRLSCV(ALPHAS).fit_preferences(
        X, pairs, eval_set=(V, PreferencePairs(judges, judge_weight))
    )
    np.testing.assert_array_equal(together.scores_, apart.scores_)
    equal = RankRLSCV(ALPHAS).fit_preferences(X, pairs, eval_set=(V, PreferencePairs(judges)))
    assert (equal.scores_ != apart.scores_).any()


@pytest.mark.parametrize("n_groups", [8, 1])  # pairs in several groups, and pairs that are all connected
@pytest.mark.parametrize("choice, single, tolerance", learners(4), ids=str)
def test_folds_are_of_pairs_that_share_no_row(choice, single, tolerance, n_groups):
    X, pairs, weight, group = stated(n_groups)
    choice.fit_preferences(X, pairs, weight=weight)
    of_pair = group[pairs[:, 0]] if n_groups > 1 else np.arange(len(pairs)) % 4
    for a, alpha in enumerate(ALPHAS):
        wrong = np.empty(len(pairs))
        for train, test in GroupKFold(4).split(pairs, groups=of_pair):
            model = single.set_params(alpha=alpha).fit_preferences(X, pairs[train], weight=weight[train])
            scores = model.predict(X)
            wrong[test] = scores[pairs[test, 0]] < scores[pairs[test, 1]]
        assert choice.scores_[0, a] == pytest.approx(np.average(wrong, weights=weight), abs=tolerance)
    assert choice.cv_ == "4 folds of pairs"
    same = single.set_params(alpha=choice.best_["alpha"]).fit_preferences(X, pairs, weight=weight)
    np.testing.assert_allclose(choice.predict(X), same.predict(X), atol=0.05, rtol=1e-5)


def test_early_stopping_judges_iterates_on_the_validation_pairs():
    X, pairs, _, _ = stated()
    V, judges, _, _ = stated(seed=1)
    model = RankRLSCV(ALPHAS, solver="cg", early_stopping=True).fit_preferences(
        X, pairs, eval_set=(V, judges)
    )
    assert model.best_["score"] == model.surface_.min()
    assert preference_error(model.predict(V), judges) == pytest.approx(model.surface_.min())


def test_what_pairs_cannot_be_chosen_by_is_named():
    X, pairs, _, _ = stated(n_groups=3)
    with pytest.raises(
        ParameterError, match="'leave-query-out' leaves out labelled rows; for pairs, set cv to a"
    ):
        RankRLSCV(cv="leave-query-out").fit_preferences(X, pairs)
    with pytest.raises(ParameterError, match="number of groups of pairs that share no row, 3; got 5"):
        RankSVMCV(cv=5).fit_preferences(X, pairs)
    with pytest.raises(ParameterError, match="number of pairs, 2; got 5"):
        RankSVMCV(cv=5).fit_preferences(X, [[0, 1], [1, 2]])
    with pytest.raises(DataError, match="only one pair to choose alpha on; pass an eval_set"):
        RankSVMCV().fit_preferences(X, [[0, 1]])
    for choice in (RankRLSCV(cv=2, measure="ndcg"), RankSVMCV(cv=2, measure="ndcg")):
        with pytest.raises(ParameterError, match=r"support only the measure 'pairwise_error'.*; got 'ndcg'"):
            choice.fit_preferences(X, pairs)
    with pytest.raises(ParameterError, match="early_stopping needs an eval_set"):
        RankRLSCV(cv=2, solver="cg", early_stopping=True).fit_preferences(X, pairs)
