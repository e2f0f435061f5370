"""Exact leave-query-out and leave-pair-out are what refitting gives; the CV estimators choose by them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold

import rankwise
from rankwise import (
    DataError,
    KernelRankRLS,
    KernelRankRLSCV,
    ParameterError,
    RankRLS,
    RankRLSCV,
    RankSVMCV,
    RankSVMPath,
)
from rankwise.losses.squared import losses_on_scores
from rankwise.metrics import get_measure, pairwise_error
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.queries import group_rows
from rankwise.solvers.hold_out import held_out_scores
from rankwise.solvers.leave_pair_out import centred_ridge, leave_pair_out_error
from rankwise.solvers.spaces import ExampleSpace, FeatureSpace
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem

ALPHAS = np.array([1e-2, 1.0, 100.0])


def ranking(m=40, n=5, n_queries=5, seed=0):
    rng = np.random.default_rng(seed)
    qid = rng.integers(0, n_queries, m)
    qid[-1] = n_queries  # a query of one row
    return rng.normal(size=(m, n)), rng.integers(0, 3, m).astype(float), qid


def space_of(kind, X, y, qid, ties=Ties.KEEP, weighting=Weighting.EXAMPLE, weight=None):
    problem = Problem(X, y, group_rows(qid, len(y)), weight)
    (loss,) = losses_on_scores(problem, ties, weighting)
    space = FeatureSpace(MatrixDesign(X), loss) if kind == "primal" else ExampleSpace(X @ X.T, loss)
    return space, problem.queries


def centred_by_query(scores, qid):
    return scores - np.array([scores[qid == q].mean(axis=0) for q in qid])


@pytest.mark.parametrize("kind", ["primal", "dual"])
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighting", Weighting)
@pytest.mark.parametrize("n", [3, 12, 60])  # fewer features than rows in a query, more, more than rows at all
def test_leave_query_out_equals_refitting(kind, ties, weighting, n):
    X, y, qid = ranking(n=n)
    weight = np.random.default_rng(1).uniform(1.0, 2.0, 40)
    space, queries = space_of(kind, X, y, qid, ties, weighting, weight)
    folds = [np.array([q]) for q in range(queries.n_queries)]
    scores = held_out_scores(space, folds, ALPHAS)
    for a, alpha in enumerate(ALPHAS):
        refitted = np.empty(40)
        for q in np.unique(qid):
            rest = qid != q
            model = RankRLS(alpha=alpha, ties=ties, weighting=weighting, solver=kind)
            refitted[~rest] = model.fit(X[rest], y[rest], qid[rest], weight[rest]).predict(X[~rest])
        expected = centred_by_query(refitted, qid)
        np.testing.assert_allclose(
            centred_by_query(scores[:, a], qid), expected, rtol=0, atol=1e-8 * np.abs(expected).max()
        )


@pytest.mark.parametrize("kind", ["primal", "dual"])
@pytest.mark.parametrize("n", [3, 60])
def test_leaving_out_groups_of_queries_at_alpha_zero_equals_refitting(kind, n):
    X, y, qid = ranking(n=n)
    space, queries = space_of(kind, X, y, qid)
    scores = held_out_scores(space, [np.array([0, 2]), np.array([3])], np.array([0.0, 1.0]))
    left = np.isin(qid, queries.labels[[0, 2]])
    for a, alpha in enumerate([0.0, 1.0]):
        model = RankRLS(alpha=alpha).fit(X[~left], y[~left], qid[~left])
        expected = centred_by_query(model.predict(X[left]), qid[left])
        np.testing.assert_allclose(
            centred_by_query(scores[left, a], qid[left]), expected, rtol=1e-8, atol=1e-9
        )
    assert np.isnan(scores[~np.isin(qid, queries.labels[[0, 2, 3]])]).all()


def test_leave_query_out_keeps_its_digits_when_the_normal_matrix_does_not():
    X, y, qid = ranking(m=60, n=5)
    X = np.hstack([X, X[:, :1] + 1e-5 * np.random.default_rng(3).normal(size=(60, 1))])
    space, queries = space_of("primal", X, y, qid)
    alphas = np.array([1e-10])
    assert not space.system.spectrum.resolves(1e-10)
    scores = held_out_scores(space, [np.array([1])], alphas)[:, 0]
    left = qid == queries.labels[1]
    expected = RankRLS(alpha=1e-10).fit(X[~left], y[~left], qid[~left]).predict(X[left])
    difference = scores[left] - expected
    np.testing.assert_allclose(difference - difference.mean(), 0.0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["primal", "dual"])
@pytest.mark.parametrize("weighting", Weighting)
@pytest.mark.parametrize("n", [3, 30])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_pair_out_equals_refitting_without_both_rows(kind, weighting, n, weighted):
    m = 10
    X, y, _ = ranking(m=m, n=n)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, m) if weighted else None
    space, _ = space_of(kind, X, y, None, weighting=weighting, weight=weight)
    if weighted and weighting is not Weighting.EXAMPLE:
        with pytest.raises(DataError, match="needs weighting='example'"):
            centred_ridge(space, ALPHAS)
        return
    ridge = centred_ridge(space, ALPHAS)
    i, j = np.triu_indices(m, 1)
    for a, alpha in enumerate(ALPHAS):
        held = ridge.held_out_differences(y, a, slice(0, m))[i, j]
        expected = []
        for p in zip(i, j, strict=True):
            rest = np.delete(np.arange(m), p)
            model = RankRLS(alpha=alpha, weighting=weighting)
            model.fit(X[rest], y[rest], sample_weight=None if weight is None else weight[rest])
            first, second = model.predict(X[list(p)])
            expected.append(first - second)
        np.testing.assert_allclose(held, expected, rtol=1e-8, atol=1e-9)
        s = np.ones(m) if weight is None else weight
        counted = (y[i] != y[j]) * s[i] * s[j]
        wrong = np.sign(expected) != np.sign(y[i] - y[j])
        assert leave_pair_out_error(ridge, y)[a] == pytest.approx((wrong * counted).sum() / counted.sum())


def test_leave_pair_out_in_blocks_is_the_same(monkeypatch):
    X, y, _ = ranking()
    ridge = centred_ridge(space_of("primal", X, y, None)[0], ALPHAS)
    expected = leave_pair_out_error(ridge, y)
    monkeypatch.setattr("rankwise.solvers.leave_pair_out.BLOCK_PAIRS", 100)
    np.testing.assert_allclose(leave_pair_out_error(ridge, y), expected)


def test_rankrlscv_scores_are_leave_query_out_and_the_model_is_the_best_one():
    X, y, qid = ranking(m=60)
    model = RankRLSCV(alphas=ALPHAS, ties=("keep", "drop"), measure="ndcg@5").fit(X, y, qid)
    assert model.scores_.shape == (2, 3)
    assert model.settings_ == [{"ties": t, "weighting": "example"} for t in ("keep", "drop")]
    expected = np.empty(60)
    for q in np.unique(qid):
        rest = qid != q
        expected[~rest] = RankRLS(alpha=1.0, ties="drop").fit(X[rest], y[rest], qid[rest]).predict(X[~rest])
    assert model.scores_[1, 1] == pytest.approx(get_measure("ndcg@5")(y, expected, qid))
    assert model.best_["score"] == model.best_score_ == model.scores_.max()
    best = {"alpha": model.alpha_, "ties": model.best_["ties"]}
    np.testing.assert_allclose(model.coef_, RankRLS(**best).fit(X, y, qid).coef_, rtol=1e-8)
    assert model.cv_ == "leave-query-out"


def test_among_equal_scores_the_largest_alpha_wins():
    X, y, qid = ranking()
    model = RankRLSCV(alphas=[1e-9, 1e-10, 1e-8]).fit(X[:, :1], y, qid)  # one feature: alpha changes no order
    assert model.best_["alpha"] == 1e-8
    assert model.alphas_.tolist() == [1e-10, 1e-9, 1e-8]


def test_folds_of_queries_are_left_out_together():
    X, y, qid = ranking(m=60)
    splitter = GroupKFold(3)
    model = RankRLSCV(alphas=[1.0], cv=splitter).fit(X, y, qid)
    expected = np.empty(60)
    for train, test in splitter.split(X, y, qid):
        expected[test] = RankRLS(alpha=1.0).fit(X[train], y[train], qid[train]).predict(X[test])
    assert model.scores_[0, 0] == pytest.approx(pairwise_error(y, expected, qid))
    same = RankRLSCV(alphas=[1.0], cv=3).fit(X, y, qid)
    assert same.scores_[0, 0] == pytest.approx(model.scores_[0, 0])


@pytest.mark.parametrize(
    "choice",
    [
        RankRLSCV(ALPHAS, cv=4, solver="primal"),
        RankRLSCV(ALPHAS, cv=4, solver="dual"),
        RankRLSCV(ALPHAS, cv=4, solver="cg", tol=1e-12),
        KernelRankRLSCV(ALPHAS, cv=4, kernel="linear"),
        KernelRankRLSCV(ALPHAS, cv=4, kernel="linear", basis=30),
    ],
    ids=str,
)
def test_folds_of_one_global_ranking_are_rows_dealt_out_by_label(choice):
    X, y, _ = ranking()
    choice.fit(X, y)
    fold = np.empty(len(y), dtype=int)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % 4
    for a, alpha in enumerate(ALPHAS):
        errors = []
        for k in range(4):
            rest, left = fold != k, fold == k
            model = RankRLS(alpha=alpha).fit(X[rest], y[rest])
            errors.append(pairwise_error(y[left], model.predict(X[left])))
        assert choice.scores_[0, a] == pytest.approx(np.mean(errors))
    assert choice.cv_ == "leave-fold-out"
    alone = RankRLS(alpha=choice.best_["alpha"]).fit(X, y)
    np.testing.assert_allclose(choice.predict(X), alone.predict(X), rtol=1e-6)


def test_an_eval_set_is_used_when_there_is_one():
    X, y, qid = ranking(m=60)
    V, v, vid = ranking(m=50, seed=1)
    for model in (
        RankRLSCV(alphas=ALPHAS, cv=None).fit(X, y, qid, eval_set=(V, v, vid)),
        KernelRankRLSCV(alphas=ALPHAS, cv=None, kernel="linear").fit(X, y, qid, eval_set=(V, v, vid)),
        KernelRankRLSCV(alphas=ALPHAS, cv=None, kernel="linear", basis=60).fit(
            X, y, qid, eval_set=(V, v, vid)
        ),
    ):
        expected = [pairwise_error(v, RankRLS(alpha=a).fit(X, y, qid).predict(V), vid) for a in ALPHAS]
        np.testing.assert_allclose(model.scores_[0], expected)
        assert model.cv_ == "eval_set"
        assert model.predict(V).shape == (50,)


def test_one_global_ranking_is_chosen_by_leave_pair_out():
    X, y, _ = ranking()
    for model in (RankRLSCV(alphas=ALPHAS), KernelRankRLSCV(alphas=ALPHAS, kernel="linear")):
        model.fit(X, y)
        assert model.cv_ == "leave-pair-out"
        np.testing.assert_allclose(
            model.scores_[0],
            leave_pair_out_error(centred_ridge(space_of("primal", X, y, None)[0], ALPHAS), y),
        )
    as_area = RankRLSCV(alphas=ALPHAS, measure="auc").fit(X, (y > 0).astype(float))
    assert as_area.best_["score"] == as_area.scores_.max() > 0


def test_kernel_parameters_are_a_further_axis():
    X, y, qid = ranking()
    model = KernelRankRLSCV(alphas=[0.1, 1.0], gamma=[0.01, 0.1, 1.0], ties=("keep", "drop")).fit(X, y, qid)
    assert model.scores_.shape == (6, 2)
    best = {name: model.best_[name] for name in ("alpha", "gamma", "ties")}
    assert model.gamma_ == best["gamma"]
    np.testing.assert_allclose(model.predict(X), KernelRankRLS(**best).fit(X, y, qid).predict(X), rtol=1e-7)


@pytest.mark.parametrize("basis", [None, 15])
def test_kernel_leave_query_out_equals_refitting_on_a_precomputed_kernel(basis):
    X, y, qid = ranking()
    K = rbf_kernel(X, gamma=0.1)
    rows = np.arange(40) if basis is None else np.arange(basis)
    chosen = None if basis is None else rows
    model = KernelRankRLSCV(alphas=[0.5], kernel="precomputed", basis=chosen).fit(K, y, qid)
    expected = np.empty(40)
    for q in np.unique(qid):
        rest = qid != q
        # The features of the basis stay those of the whole training set: they do not depend on labels.
        Z = np.linalg.cholesky(K[np.ix_(rows, rows)] + 1e-12 * np.eye(len(rows)))
        Z = np.linalg.solve(Z, K[rows]).T
        expected[~rest] = RankRLS(alpha=0.5).fit(Z[rest], y[rest], qid[rest]).predict(Z[~rest])
    assert model.scores_[0, 0] == pytest.approx(pairwise_error(y, expected, qid))


def test_a_saved_choice_is_loaded_whole(tmp_path):
    X, y, qid = ranking()
    for model in (RankRLSCV(alphas=ALPHAS), KernelRankRLSCV(alphas=ALPHAS, gamma=(0.1, 1.0))):
        model.fit(X, y, qid).save(tmp_path / "model")
        again = rankwise.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.scores_, model.scores_)
        assert (again.best_, again.alpha_) == (model.best_, model.best_["alpha"])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"alphas": []}, "'alphas' parameter must be a sequence of numbers"),
        ({"alphas": ["a"]}, "'alphas' parameter must be a sequence of numbers"),
        ({"alphas": [1.0, -1.0]}, "'alphas' parameter must hold finite numbers of at least 0; got -1"),
        ({"cv": None}, "cv=None chooses alpha on an eval_set; pass one to fit, or set cv"),
        ({"cv": "loo"}, "'cv' parameter must be 'leave-query-out', 'leave-pair-out'.*; got 'loo'"),
        ({"cv": 77}, "'cv' parameter must be between 2 and the number of queries, 6; got 77"),
        ({"cv": 0.5}, "'cv' parameter must be a number of folds or a splitter; got 0.5"),
        ({"ties": ()}, "'ties' parameter offers no value to choose from"),
        ({"ties": ("keep", "lose")}, "'ties' parameter must be one of 'keep', 'drop'; got 'lose'"),
        ({"measure": "mapp"}, "no measure 'mapp'"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ParameterError, match=message):
        RankRLSCV(**options).fit(*ranking())


def test_bad_data_is_named():
    X, y, qid = ranking()
    with pytest.raises(DataError, match="hold out whole queries"):
        RankRLSCV(cv=list(KFold(3).split(X))).fit(X, y, qid)
    with pytest.raises(DataError, match="every query at most once"):
        RankRLSCV(cv=GroupShuffleSplit(5, random_state=0)).fit(X, y, qid)
    with pytest.raises(DataError, match="one global ranking; there are 6 queries"):
        RankRLSCV(cv="leave-pair-out").fit(X, y, qid)
    with pytest.raises(ParameterError, match="can only count pairs"):
        RankRLSCV(measure="ndcg").fit(X, y)
    with pytest.raises(DataError, match="needs ties='keep'"):
        RankRLSCV(ties="drop").fit(X, y)
    with pytest.raises(DataError, match="All labels are tied"):
        RankRLSCV().fit(X, np.ones(40))
    with pytest.raises(DataError, match="nothing to learn"):
        RankRLSCV().fit(X, np.ones(40), qid)
    with pytest.raises(DataError, match="has no value for any query"):
        RankRLSCV(measure="map").fit(X, y - 10.0, qid)
    for model in (RankRLSCV(), RankRLS(solver="cg"), RankSVMCV()):
        with pytest.raises(DataError, match=r"eval_set must be \(X, y, qid\): fit was given a qid"):
            model.fit(X, y, qid, eval_set=(X, y))
    with pytest.raises(DataError, match="select needs the qid"):
        RankSVMPath().fit(X, y, qid).select(X, y)
    with pytest.raises(DataError, match=r"eval_set must be \(X, y\) or \(X, y, qid\)"):
        RankRLSCV().fit(X, y, qid, eval_set=X)
    with pytest.raises(DataError, match="the y of eval_set must have"):
        RankRLSCV().fit(X, y, qid, eval_set=(X, y[:-1], qid))


@pytest.mark.parametrize("model", [RankRLSCV(alphas=ALPHAS), KernelRankRLSCV(alphas=ALPHAS)])
def test_leave_query_out_gives_the_same_bits_for_any_number_of_threads(model, monkeypatch):
    X, y, qid = ranking(m=200)
    found = []
    for n_threads in ("1", "4"):
        monkeypatch.setenv("RANKWISE_NUM_THREADS", n_threads)
        found.append(clone(model).fit(X, y, qid).scores_)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n_queries", [3, 30])  # more rows in a query than features, and fewer
def test_leave_query_out_does_not_depend_on_how_many_alphas_are_solved_at_once(n_queries, monkeypatch):
    data = ranking(m=90, n=12, n_queries=n_queries)
    together = RankRLSCV(alphas=ALPHAS).fit(*data).scores_
    monkeypatch.setattr("rankwise.solvers.hold_out.BATCH_ENTRIES", 1)
    np.testing.assert_allclose(RankRLSCV(alphas=ALPHAS).fit(*data).scores_, together, rtol=1e-12)
