"""The CV estimators choose by leaving out queries, pairs or folds, or with an eval_set."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold

import rankwise
from graded_queries import ranking
from rankwise import (
    DataError,
    KernelRankRLS,
    KernelRankRLSCV,
    ParameterError,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    RankSVMPath,
)
from rankwise.metrics import get_measure, pairwise_error
from rankwise.operators.equal_rows import first_equal_rows
from rankwise.preferences.queries import group_rows
from rankwise.selection.folding import queries_or_groups

ALPHAS = np.array([1e-2, 1.0, 100.0])


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


def test_of_many_queries_groups_are_left_out(monkeypatch):
    X, y, qid = ranking(m=120, n_queries=30)
    monkeypatch.setattr(queries_or_groups, "__defaults__", (20, 7))
    groups = queries_or_groups(group_rows(qid, len(y)))
    assert sorted(np.concatenate(groups.queries).tolist()) == list(range(31))
    assert {len(group) for group in groups.queries} == {4, 5}
    query_of_row = group_rows(qid, len(y)).query_of_row()
    for rows, queries in zip(groups.held, groups.queries, strict=True):
        np.testing.assert_array_equal(rows, np.flatnonzero(np.isin(query_of_row, queries)))
    found = RankRLSCV(ALPHAS).fit(X, y, qid)
    assert found.cv_ == found.calibration_.source == "leave-group-out (7 groups of queries)"
    splits = [(np.setdiff1d(np.arange(len(y)), rows), rows) for rows in groups.held]
    expected = RankRLSCV(ALPHAS, cv=splits).fit(X, y, qid)
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    assert RankRLSCV(ALPHAS, cv="leave-query-out").fit(X, y, qid).cv_ == "leave-query-out"


def test_of_a_long_global_ranking_folds_are_left_out(monkeypatch):
    X, y, _ = ranking()
    monkeypatch.setattr("rankwise.selection.criteria.MOST_PAIRED_ROWS", len(y))
    assert RankRLSCV(ALPHAS).fit(X, y).cv_ == "leave-pair-out"
    monkeypatch.setattr("rankwise.selection.criteria.MOST_PAIRED_ROWS", len(y) - 1)
    assert RankRLSCV(ALPHAS).fit(X, y).cv_ == "5 folds of rows"
    assert RankRLSCV(ALPHAS, cv="leave-pair-out").fit(X, y).cv_ == "leave-pair-out"


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
    assert choice.cv_ == "4 folds of rows"
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


@pytest.mark.parametrize("kind", [RankRLSCV, KernelRankRLSCV])
def test_early_stopping_is_a_choice_of_conjugate_gradient(kind):
    X, y, qid = ranking(m=60)
    held = ranking(m=50, seed=1)
    model = kind(alphas=ALPHAS, early_stopping=True).fit(X, y, qid, eval_set=held)
    assert model.solver_ == "cg"
    assert model.best_score_ == model.surface_.min() == model.readings_["hybrid"]["score"]
    with pytest.raises(ParameterError, match="early_stopping needs solver='cg' or 'auto'"):
        kind(early_stopping=True, solver="closed").fit(X, y, qid, eval_set=held)


@pytest.mark.parametrize("n_queries, cv", [(3, "3 folds of queries"), (1, "5 folds of rows")])
def test_folds_are_as_many_as_there_can_be(n_queries, cv):
    X, y, _ = ranking(m=30)
    qid = np.arange(30) % n_queries
    for model in (RankSVMCV([0.1, 1.0]), RankRLSCV(ALPHAS, solver="cg")):
        assert model.fit(X, y, qid).cv_ == cv


@pytest.mark.parametrize("model", [RankRLSCV(ALPHAS), KernelRankRLSCV(ALPHAS), RankSVMCV(ALPHAS)], ids=str)
def test_pairs_are_chosen_on_folds_without_being_asked(model):
    X, y, _ = ranking(m=30)
    pairs = [(i, j) for i, j in zip(range(0, 30, 2), range(1, 30, 2), strict=True)]
    pairs = [(i, j) if y[i] > y[j] else (j, i) for i, j in pairs]
    assert model.fit_preferences(X, pairs).cv_ == "5 folds of pairs"


@pytest.mark.parametrize(
    "model, settings",
    [
        (RankRLSCV(ALPHAS, cv=2, ties=("keep", "drop")), 2),
        (RankRLSCV(ALPHAS, weighting=("example", "pair", "query")), 3),
        (KernelRankRLSCV(ALPHAS, kernel="linear", gamma=(1.0, 2.0), ties=("keep", "drop")), 2),
        (KernelRankRLSCV(ALPHAS, gamma=(0.1, 1.0), solver="cg", cv=2), 2),
        (RankSVMCV(ALPHAS, cv=2, loss=("hinge", "squared_hinge"), weighting=("query", "pair")), 4),
    ],
    ids=str,
)
def test_progress_names_the_setting_and_ends_at_one(model, settings):
    seen = []
    model.fit(*ranking(), on_progress=seen.append)
    done = [step.done for step in seen]
    assert done == sorted(done)
    assert done[-1] == 1.0
    assert len(model.settings_) == settings
    assert [step.setting for step in seen if step.setting not in model.settings_] == []
    assert all(setting in [step.setting for step in seen] for setting in model.settings_)


def test_leave_query_out_of_one_global_ranking_is_refused():
    X, y, _ = ranking()
    for model in (RankRLSCV(cv="leave-query-out"), RankSVMCV(cv="leave-query-out")):
        with pytest.raises(DataError, match="leaves nothing to learn from; use cv='leave-pair-out'"):
            model.fit(X, y)


def test_leave_query_out_of_ranksvm_refits_without_each_query():
    X, y, qid = ranking(m=40)
    model = RankSVMCV([0.1], cv="leave-query-out", tol=1e-6).fit(X, y, qid)
    expected = np.empty(40)
    for q in np.unique(qid):
        rest = qid != q
        expected[~rest] = RankSVM(0.1, tol=1e-6).fit(X[rest], y[rest], qid[rest]).predict(X[~rest])
    assert model.cv_ == "leave-query-out"
    assert model.scores_[0, 0] == pytest.approx(pairwise_error(y, expected, qid), abs=0.01)


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
        again = rankwise.load_model(tmp_path / "model")
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
        ({"cv": "loo"}, "'cv' parameter must be 'auto', 'leave-query-out', 'leave-pair-out'.*; got 'loo'"),
        ({"cv": 77}, "'cv' parameter must be between 2 and the number of queries, 6; got 77"),
        ({"cv": 0.5}, "'cv' parameter must be a number of folds or a splitter; got 0.5"),
        ({"ties": ()}, "'ties' parameter has no values to choose from"),
        ({"ties": ("keep", "lose")}, "'ties' parameter must be one of 'keep', 'drop'; got 'lose'"),
        ({"measure": "mapp"}, "Unknown measure 'mapp'"),
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
    with pytest.raises(DataError, match="every query at most once"):
        RankRLSCV(cv=2 * [next(GroupKFold(3).split(X, groups=qid))]).fit(X, y, qid)
    with pytest.raises(DataError, match="one global ranking, but there are 6 queries"):
        RankRLSCV(cv="leave-pair-out").fit(X, y, qid)
    with pytest.raises(ParameterError, match="can only count pairs"):
        RankRLSCV(measure="ndcg").fit(X, y)
    with pytest.raises(DataError, match="needs ties='keep'"):
        RankRLSCV(ties="drop").fit(X, y)
    with pytest.raises(DataError, match="nothing to learn: all rows of the ranking have the same label"):
        RankRLSCV().fit(X, np.ones(40))
    with pytest.raises(DataError, match="nothing to learn"):
        RankRLSCV().fit(X, np.ones(40), qid)
    with pytest.raises(DataError, match="is undefined for every query"):
        RankRLSCV(measure="map").fit(X, y - 10.0, qid)
    for model in (RankRLSCV(), RankRLS(solver="cg"), RankSVMCV()):
        with pytest.raises(DataError, match=r"eval_set must be \(X, y, qid\), .* because fit was given"):
            model.fit(X, y, qid, eval_set=(X, y))
    with pytest.raises(DataError, match="select needs the qid"):
        RankSVMPath().fit(X, y, qid).select(X, y)
    with pytest.raises(DataError, match=r"eval_set must be \(X, y\) or \(X, y, qid\)"):
        RankRLSCV().fit(X, y, qid, eval_set=X)
    with pytest.raises(DataError, match="y in eval_set must have"):
        RankRLSCV().fit(X, y, qid, eval_set=(X, y[:-1], qid))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_equal_rows_of_a_group_share_their_first_row(storage):
    rng = np.random.default_rng(0)
    X, group = rng.integers(0, 2, (80, 3)).astype(float), rng.integers(0, 4, 80)
    expected = [
        next(j for j in range(80) if group[j] == group[i] and (X[j] == X[i]).all()) for i in range(80)
    ]
    assert first_equal_rows(storage(X), group).tolist() == expected
