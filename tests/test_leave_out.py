"""Exact leave-query-out and leave-pair-out equal refitting."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from graded_queries import ranking
from rankwise import DataError, KernelRankRLS, KernelRankRLSCV, RankRLS, RankRLSCV
from rankwise.family import Fold
from rankwise.metrics import pairwise_error
from rankwise.preferences.queries import group_rows
from rankwise.ridge.closed_form import DualFamily, PrimalFamily
from rankwise.ridge.leave_out.leave_pair_out import leave_pair_out_error
from rankwise.ridge.leave_out.left_out_systems import LARGE_FOLD
from rankwise.ridge.spaces import LinearSpace
from rankwise.ridge.squared import losses_on_scores
from rankwise.ridge.tridiagonal import Tridiagonal
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem
from stressed import stressed

ALPHAS = np.array([1e-2, 1.0, 100.0])


FAMILIES = {"primal": PrimalFamily, "dual": DualFamily}


def family_of(kind, X, y, qid, ties=Ties.KEEP, weighting=Weighting.EXAMPLE, weight=None):
    problem = Problem(X, y, group_rows(qid, len(y)), weight)
    (loss,) = losses_on_scores(problem, ties, weighting)
    return FAMILIES[kind](LinearSpace(X), loss), problem


def held_out_scores(family, problem, folds, alphas):
    """Scores of all rows by models fitted without their fold; NaN for rows in no fold."""
    queries, F = problem.queries, family.loss.differences
    rows = [np.flatnonzero(np.isin(queries.query_of_row(), fold)) for fold in folds]
    parts = [
        Fold(
            problem.X,
            index,
            fold,
            lambda r=index: losses_on_scores(problem.without(r), F.ties, F.weighting)[0],
        )
        for index, fold in zip(rows, folds, strict=True)
    ]
    scores = np.full((queries.n_rows, len(alphas)), np.nan)
    for index, found in zip(rows, family.leave_out(parts, alphas), strict=True):
        assert found.finished.all()
        scores[index] = found.scores
    return scores


def centred_by_query(scores, qid):
    return scores - np.array([scores[qid == q].mean(axis=0) for q in qid])


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("is_singular", [False, True])
def test_folds_of_many_rows_equal_refits(ties, far, is_singular):
    X, y, qid = ranking(m=300, n=5, n_queries=30)
    rng = np.random.default_rng(1)
    if is_singular:  # constant within queries, twice the same, and 0 outside the first fold
        X = np.column_stack([X, qid, X[:, 0], np.where(qid < 10, X[:, 1] ** 2, 0.0)])
    X, weight = X + far, rng.uniform(0.5, 2.0, len(y))
    folds = [np.arange(10), np.arange(10, 20), np.arange(20, 30)]
    family, problem = family_of("primal", X, y, qid, ties, weight=weight)
    rows = [np.flatnonzero(np.isin(problem.queries.query_of_row(), fold)) for fold in folds]
    assert min(map(len, rows)) >= LARGE_FOLD * X.shape[1]
    found = held_out_scores(family, problem, folds, ALPHAS)
    for index in rows:
        without = problem.without(index)
        loss = losses_on_scores(without, ties, Weighting.EXAMPLE)[0]
        refitted = family.with_loss(loss).solve(ALPHAS)
        expected = family.scores(refitted.coef, X[index])
        close = 1e-9 if far == 0.0 else 1e-6
        np.testing.assert_allclose(
            centred_by_query(found[index], qid[index]),
            centred_by_query(expected, qid[index]),
            rtol=close,
            atol=close,
        )


@pytest.mark.parametrize("kind", ["primal", "dual"])
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighting", Weighting)
@pytest.mark.parametrize("n", [3, 12, 60])  # fewer features than rows in a query, more, more than all rows
def test_leave_query_out_equals_refitting(kind, ties, weighting, n):
    X, y, qid = ranking(n=n)
    weight = np.random.default_rng(1).uniform(1.0, 2.0, 40)
    family, problem = family_of(kind, X, y, qid, ties, weighting, weight)
    folds = [np.array([q]) for q in range(problem.queries.n_queries)]
    scores = held_out_scores(family, problem, folds, ALPHAS)
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
    family, problem = family_of(kind, X, y, qid)
    scores = held_out_scores(family, problem, [np.array([0, 2]), np.array([3])], np.array([0.0, 1.0]))
    left = np.isin(qid, problem.queries.labels[[0, 2]])
    for a, alpha in enumerate([0.0, 1.0]):
        model = RankRLS(alpha=alpha).fit(X[~left], y[~left], qid[~left])
        expected = centred_by_query(model.predict(X[left]), qid[left])
        np.testing.assert_allclose(
            centred_by_query(scores[left, a], qid[left]), expected, rtol=1e-8, atol=1e-9
        )
    assert np.isnan(scores[~np.isin(qid, problem.queries.labels[[0, 2, 3]])]).all()


@pytest.mark.parametrize("n", [3, 60])
def test_no_query_is_refitted_at_alpha_zero(n, monkeypatch):
    X, y, qid = ranking(n=n, n_queries=12)
    family, problem = family_of("primal", X, y, qid)
    monkeypatch.setattr(PrimalFamily, "solve_without", lambda *arguments: pytest.fail("refitted"))
    folds = [np.array([q]) for q in range(problem.queries.n_queries)]
    assert np.isfinite(held_out_scores(family, problem, folds, np.array([0.0]))).all()


@pytest.mark.parametrize("kind", ["primal", "dual"])
@pytest.mark.parametrize("ties", Ties)
def test_rows_without_weight_and_queries_of_ties_are_scored_too(kind, ties):
    X, y, qid = ranking(n=5)
    weight = np.ones(40)
    weight[::7] = 0.0
    y[qid == qid[1]] = 1.0
    family, problem = family_of(kind, X, y, qid, ties, weight=weight)
    folds = [np.array([q]) for q in range(problem.queries.n_queries)]
    scores = held_out_scores(family, problem, folds, np.array([0.5]))[:, 0]
    for q in np.unique(qid):
        rest = qid != q
        model = RankRLS(alpha=0.5, ties=ties).fit(X[rest], y[rest], qid[rest], weight[rest])
        gap = scores[~rest] - model.predict(X[~rest])
        np.testing.assert_allclose(gap - gap.mean(), 0.0, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_leave_query_out_does_not_depend_on_the_unit_of_measurement(scale):
    X, y, qid = ranking(n=3)
    expected, found = (
        RankRLSCV(alphas=ALPHAS * by**2, solver="primal").fit(X * by, y, qid).scores_ for by in (1.0, scale)
    )
    np.testing.assert_allclose(found, expected)


def test_leave_query_out_keeps_its_digits_when_the_normal_matrix_does_not():
    X, y, qid = ranking(m=60, n=5)
    X = np.hstack([X, X[:, :1] + 1e-5 * np.random.default_rng(3).normal(size=(60, 1))])
    family, problem = family_of("primal", X, y, qid)
    alphas = np.array([1e-10])
    assert not family.system.tridiagonal.resolves(1e-10)
    scores = held_out_scores(family, problem, [np.array([1])], alphas)[:, 0]
    left = qid == problem.queries.labels[1]
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
    family, _ = family_of(kind, X, y, None, weighting=weighting, weight=weight)
    if weighted and weighting is not Weighting.EXAMPLE:
        with pytest.raises(DataError, match="needs weighting='example'"):
            family.leave_pair_out(y, ALPHAS)
        return
    i, j = np.triu_indices(m, 1)
    for alpha, ridge in zip(ALPHAS, family._ridges_without_pairs(ALPHAS), strict=True):
        held = held_out_differences(ridge, y)[i, j]
        expected = []
        for p in zip(i, j, strict=True):
            rest = np.delete(np.arange(m), p)
            model = RankRLS(alpha=alpha, weighting=weighting)
            model.fit(X[rest], y[rest], sample_weight=None if weight is None else weight[rest])
            first, second = model.predict(X[list(p)])
            expected.append(first - second)
        # The dual adds up what a close fit leaves of the labels; the primal subtracts the fit from them.
        np.testing.assert_allclose(held, expected, atol=1e-10 if kind == "dual" else 1e-9, rtol=0.0)
        s = np.ones(m) if weight is None else weight
        counted = (y[i] != y[j]) * s[i] * s[j]
        wrong = np.sign(expected) != np.sign(y[i] - y[j])
        assert leave_pair_out_error([ridge], y) == pytest.approx((wrong * counted).sum() / counted.sum())


@pytest.mark.parametrize("kind", ["primal", "dual"])
def test_leave_pair_out_counts_all_pairs_of_many_rows(kind):
    m = 300  # several blocks of the kernel
    X, _, _ = ranking(m=m, n=3)
    rng = np.random.default_rng(4)
    y, s = np.round(X[:, 0] + rng.normal(size=m)), rng.uniform(0.5, 2.0, m)
    family, _ = family_of(kind, X, y, None, weighting=Weighting.EXAMPLE, weight=s)
    better = (y[:, None] > y) * np.outer(s, s)
    for ridge in family._ridges_without_pairs(ALPHAS):
        wrong = held_out_differences(ridge, y) < 0.0
        expected = (wrong * better).sum() / better.sum()
        assert leave_pair_out_error([ridge], y) == pytest.approx(expected, abs=1e-12)


def held_out_differences(ridge, y):
    """``f_i − f_j`` by the model without rows i and j, from the 2 × 2 systems of all pairs."""
    s, (offset, sign) = ridge.weight, ridge.products
    N = offset + sign * ridge.rows.T @ ridge.rows
    residual = ridge.residual(y - (s @ y) / s.sum())
    G = -N * s
    held = np.zeros(N.shape)
    for i, j in np.argwhere(~np.eye(len(y), dtype=bool)):
        of_pair = np.array([[ridge.free[i], G[i, j]], [G[j, i], ridge.free[j]]])
        e = np.linalg.solve(of_pair, residual[[i, j]])
        held[i, j] = (y[i] - e[0]) - (y[j] - e[1])
    return held


def test_leave_pair_out_needs_four_rows():
    X, y, _ = ranking()
    assert np.isfinite(family_of("primal", X[:4], y[:4], None)[0].leave_pair_out(y[:4], ALPHAS)).all()
    with pytest.raises(DataError, match="at least 4 rows; got 3"):
        family_of("primal", X[:3], y[:3], None)[0].leave_pair_out(y[:3], ALPHAS)


@pytest.mark.parametrize("kind", ["primal", "dual"])
def test_leave_pair_out_takes_a_decomposition_that_serves_the_smallest_alpha(kind, monkeypatch):
    X, y, _ = ranking()
    asked, resolves = [], Tridiagonal.resolves
    monkeypatch.setattr(
        Tridiagonal, "resolves", lambda self, alpha: asked.append(alpha) or resolves(self, alpha)
    )
    family_of(kind, X, y, None)[0].leave_pair_out(y, ALPHAS)
    assert asked == [ALPHAS.min()]


def test_one_global_ranking_is_chosen_by_leave_pair_out():
    X, y, _ = ranking()
    for model in (RankRLSCV(alphas=ALPHAS), KernelRankRLSCV(alphas=ALPHAS, kernel="linear")):
        model.fit(X, y)
        assert model.cv_ == "leave-pair-out"
        np.testing.assert_allclose(
            model.scores_[0],
            family_of("primal", X, y, None)[0].leave_pair_out(y, ALPHAS),
        )
    as_area = RankRLSCV(alphas=ALPHAS, measure="auc").fit(X, (y > 0).astype(float))
    assert as_area.best_["score"] == as_area.scores_.max() > 0


@pytest.mark.parametrize("model", [RankRLSCV(alphas=ALPHAS), KernelRankRLSCV(alphas=ALPHAS)])
def test_leave_query_out_gives_the_same_bits_for_any_number_of_threads(model, monkeypatch):
    X, y, qid = ranking(m=200)
    found = []
    for n_threads in ("1", "4"):
        monkeypatch.setenv("RANKWISE_NUM_THREADS", n_threads)
        found.append(clone(model).fit(X, y, qid).scores_)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n_queries", [3, 30])  # more rows in a query than features, and fewer
@pytest.mark.parametrize("kind", ["primal", "dual"])
def test_leave_query_out_does_not_depend_on_how_many_folds_are_gathered_at_once(kind, n_queries, monkeypatch):
    data = ranking(m=90, n=12, n_queries=n_queries)
    family, problem = family_of(kind, *data)
    folds = [np.array([q]) for q in range(problem.queries.n_queries)]
    together = held_out_scores(family, problem, folds, ALPHAS)
    monkeypatch.setattr("rankwise.ridge.leave_out.left_out_batches.BATCH_ENTRIES", 1)
    np.testing.assert_allclose(held_out_scores(family, problem, folds, ALPHAS), together, rtol=1e-12)


def refused(*arguments):
    resolved = arguments[-2]
    resolved[:] = False


@pytest.mark.parametrize("kind", ["primal", "dual"])
@pytest.mark.parametrize("n", [3, 12])
def test_a_fold_that_leaves_too_few_digits_is_refitted(kind, n, monkeypatch):
    X, y, qid = ranking(n=n)
    family, problem = family_of(kind, X, y, qid)
    folds = [np.array([q]) for q in range(problem.queries.n_queries)]
    expected = centred_by_query(held_out_scores(family, problem, folds, ALPHAS), qid)
    for module, kernel in (
        ("left_out_systems", "left_out_systems"),
        ("leave_query_out", "left_out_blocks"),
    ):
        monkeypatch.setattr(f"rankwise.ridge.leave_out.{module}.{kernel}", refused)
    found = held_out_scores(family, problem, folds, ALPHAS)
    np.testing.assert_allclose(centred_by_query(found, qid), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", ["primal", "dual"])
def test_a_direction_that_only_the_left_out_query_has_keeps_its_digits(kind):
    """No single feature shows that the query dominates: only a difference of two features does."""
    X, y, qid = ranking(n=3)
    rng = np.random.default_rng(5)
    own = qid == group_rows(qid, len(y)).labels[1]
    X = np.column_stack([X, X[:, 0] + np.where(own, 1e4 * rng.normal(size=len(y)), 0.0)])
    X[:, 0] += X[:, 3]
    family, problem = family_of(kind, X, y, qid)
    alphas = np.array([1e-4, 1.0])
    scores = held_out_scores(family, problem, [np.array([1])], alphas)
    for a, alpha in enumerate(alphas):
        expected = RankRLS(alpha=alpha, solver="primal").fit(X[~own], y[~own], qid[~own]).predict(X[own])
        gap = scores[own, a] - expected
        np.testing.assert_allclose(gap - gap.mean(), 0.0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    "model",
    [RankRLSCV(alphas=[1e-30, 1.0], solver="primal"), KernelRankRLSCV(alphas=[1e-30, 1.0])],
    ids=str,
)
def test_an_alpha_too_small_to_leave_anything_out_is_refitted(model):
    X, y, qid = ranking(n=60)
    single, scores = (
        RankRLS(1e-30) if isinstance(model, RankRLSCV) else KernelRankRLS(1e-30),
        np.empty(len(y)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about digits
        chosen = model.fit(X, y, qid)
        for q in np.unique(qid):
            rest = qid != q
            scores[~rest] = single.fit(X[rest], y[rest], qid[rest]).predict(X[~rest])
    assert chosen.scores_[0, 0] == pytest.approx(pairwise_error(y, scores, qid), abs=1e-12)


@pytest.mark.parametrize("query_size", [4, 30])
def test_many_alphas_left_out_together_give_what_each_gives_alone(query_size):
    rng = np.random.default_rng(query_size)
    X, qid = rng.normal(size=(240, 20)), np.arange(240) // query_size
    y = np.round(X[:, 0] + X[:, 1] + rng.normal(size=240))
    alphas = 2.0 ** np.arange(-3, 15)
    together = RankRLSCV(alphas).fit(X, y, qid).scores_[0]
    alone = [RankRLSCV([alpha]).fit(X, y, qid).scores_[0, 0] for alpha in alphas]
    np.testing.assert_allclose(together, alone, atol=1e-12)


def dominated(rng, size=5):
    """One query is a hundred million times as large as the others."""
    X, qid = rng.normal(size=(60, size)), np.arange(60) // 10
    y = np.round(X[:, 0] + rng.normal(size=60))
    X[:10] *= 1e8
    return X, y, qid


SEARCHES = {
    "primal": lambda alphas: RankRLSCV(alphas, solver="primal"),
    "dual": lambda alphas: RankRLSCV(alphas, solver="dual"),
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    "kind", ["plain", "more features than rows", "scales", "constant columns", "dominated"]
)
@pytest.mark.filterwarnings("ignore:Rounding errors leave")
def test_what_is_left_out_at_an_alpha_does_not_depend_on_the_others(search, kind):
    X, y, qid = dominated(np.random.default_rng(0)) if kind == "dominated" else stressed(kind)
    alphas = [0.0, 1e-12, 1e-3, 1.0, 1e3]
    together = SEARCHES[search](alphas).fit(X, y, qid).scores_[0]
    alone = [SEARCHES[search]([alpha]).fit(X, y, qid).scores_[0, 0] for alpha in alphas]
    np.testing.assert_allclose(together, alone, atol=1e-12)


@pytest.mark.parametrize("size", [5, 80])  # of full rank, and not
def test_at_alpha_zero_a_query_that_dominates_leaves_the_model_of_the_others(size):
    X, y, qid = dominated(np.random.default_rng(1), size)
    family, problem = family_of("primal", X, y, qid)
    scores = held_out_scores(family, problem, [np.array([0])], np.array([0.0, 1.0]))[:10]
    for a, alpha in enumerate([0.0, 1.0]):
        expected = RankRLS(alpha, solver="primal").fit(X[10:], y[10:], qid[10:]).predict(X[:10])
        gap = scores[:, a] - expected
        np.testing.assert_allclose(gap - gap.mean(), 0.0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_leaving_a_query_out_of_a_kernel_equals_refitting_also_at_alpha_zero(alpha, ties):
    X, y, qid = ranking(n=3)
    search = KernelRankRLSCV([alpha], gamma=1.0, ties=ties, cv="leave-query-out").fit(X, y, qid)
    refitted = np.empty(len(y))
    for q in np.unique(qid):
        rest = qid != q
        model = KernelRankRLS(alpha, gamma=1.0, ties=ties, solver="dual").fit(X[rest], y[rest], qid[rest])
        refitted[~rest] = model.predict(X[~rest])
    found = centred_by_query(search.left_out_scores_, qid)
    np.testing.assert_allclose(found, centred_by_query(refitted, qid), atol=1e-8)
