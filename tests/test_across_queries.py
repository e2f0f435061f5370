"""Pairs across queries count as explicit pairs do, and leaving out queries equals refitting."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from all_pairs import pair_laplacian
from graded_queries import ranking
from rankwise import DataError, ParameterError, RankRLS, RankRLSCV, load_model
from rankwise.metrics import pairwise_error
from rankwise.preferences.across import AcrossQueries
from rankwise.preferences.queries import group_rows
from rankwise.ridge.closed_form import ClosedForm
from rankwise.types import Ties, Weighting
from sixty_digits import exact, rounded, solve
from stressed import KINDS, dense, pair_weights, pairs_of, stressed

ALPHAS = [0.1, 10.0]
BETA = 0.3


def weighted(seed=1):
    """Rows, labels, queries, weights of rows and of queries."""
    rng = np.random.default_rng(seed)
    X, y, qid = ranking()
    return X + qid[:, None], y, qid, rng.uniform(1.0, 2.0, 40), dict(enumerate(rng.uniform(0.5, 2.0, 6)))


def laplacian(y, qid, weight, factor, ties, weighting, beta=BETA):
    """All pairs one by one: those of queries, and those of all rows."""
    per_row = np.array([factor[q] for q in qid])
    L = beta * pair_laplacian(y, np.zeros(len(y)), ties=ties, weighting=weighting, weight=weight * per_row)
    for q in np.unique(qid):
        own = np.where(qid == q, weight, 0.0)
        L += factor[q] * pair_laplacian(
            y, np.where(qid == q, 0, -1), ties=ties, weighting=weighting, weight=own
        )
    return L


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighting", Weighting)
@pytest.mark.parametrize("solver", ["primal", "dual", "cg"])
def test_the_model_is_that_of_all_pairs_one_by_one(ties, weighting, solver):
    X, y, qid, weight, factor = weighted()
    L = laplacian(y, qid, weight, factor, ties, weighting)
    expected = np.linalg.solve(X.T @ L @ X + 0.5 * np.eye(5), X.T @ L @ y)
    model = RankRLS(0.5, solver=solver, ties=ties, weighting=weighting, across_queries=BETA, tol=1e-12)
    model.fit(X, y, qid, weight, query_weight=factor)
    np.testing.assert_allclose(model.coef_, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighting", Weighting)
def test_the_differences_are_a_root_of_the_laplacian(ties, weighting):
    _, y, qid, weight, factor = weighted()
    queries = group_rows(qid, 40)
    factors = np.array([factor[q] for q in queries.labels])
    F = AcrossQueries(
        BETA, queries, y, ties=ties, weighting=weighting, row_weight=weight, query_factor=factors
    )
    expected = laplacian(y, qid, weight, factor, ties, weighting)
    np.testing.assert_allclose(F.laplacian(np.eye(40)), expected, atol=1e-12)
    np.testing.assert_allclose(F.adjoint(F.apply_to_labels(y)), expected @ y, atol=1e-12)


def test_many_pairs_across_queries_make_it_a_regression_with_an_intercept():
    X, y, qid, weight, _ = weighted()
    model = RankRLS(1e8, across_queries=1e8).fit(X, y, qid, weight)
    pointwise = Ridge(1.0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, pointwise.coef_, rtol=0, atol=1e-6)


def level(model, X, qid, weight, factor):
    """The mean score of all rows, which left-out scores have, too."""
    return np.average(model.predict(X), weights=weight * np.array([factor[q] for q in qid]))


def refitted(model, X, y, qid, weight, factor, left):
    """Scores of rows by the model of the others, minus the mean score of these."""
    rest = ~left
    kept = {q: factor[q] for q in np.unique(qid[rest])}
    model.fit(X[rest], y[rest], qid[rest], weight[rest], query_weight=kept)
    counts = weight[rest] * np.array([factor[q] for q in qid[rest]])
    return model.predict(X[left]) - np.average(model.predict(X[rest]), weights=counts)


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighting", Weighting)
@pytest.mark.parametrize("solver", ["primal", "dual", "cg"])
def test_leave_query_out_equals_refitting(ties, weighting, solver, monkeypatch):
    X, y, qid, weight, factor = weighted()
    options = {"solver": solver, "ties": ties, "weighting": weighting, "across_queries": BETA, "tol": 1e-12}
    model = RankRLSCV(ALPHAS, cv="leave-query-out", **options)
    if solver == "primal" and (ties, weighting) == ("keep", "example"):
        monkeypatch.setattr(ClosedForm, "solve_without", lambda *arguments: pytest.fail("refitted"))
    model.fit(X, y, qid, weight, query_weight=factor)
    monkeypatch.undo()
    expected = np.empty(40)
    for q in np.unique(qid):
        one = RankRLS(model.alpha_, **options)
        expected[qid == q] = refitted(one, X, y, qid, weight, factor, qid == q)
    expected += level(model, X, qid, weight, factor)
    np.testing.assert_allclose(model.left_out_scores_, expected, rtol=0, atol=1e-9)
    assert model.best_score_ == pytest.approx(pairwise_error(y, expected, qid))


@pytest.mark.parametrize("n", [3, 12, 60])  # fewer features than rows in a query, more, more than all rows
@pytest.mark.parametrize("alphas", [ALPHAS, [0.0], [0.0, 1.0]])
@pytest.mark.parametrize("signs", [False, True])
def test_leaving_out_groups_of_queries_equals_refitting(n, alphas, signs):
    if signs and 0.0 in alphas:
        pytest.skip("signs need a positive alpha")
    X, y, qid = ranking(n=n)
    X += qid[:, None]
    weight, factor = np.where(np.arange(40) % 7, 1.0, 0.0), dict.fromkeys(range(6), 1.0)
    options = {"solver": "primal", "monotonic_cst": [1] + [0] * (n - 1) if signs else None}
    group = np.array([0, 1, 2, 0, 1, 2])[qid]
    folds = [(np.flatnonzero(group != g), np.flatnonzero(group == g)) for g in range(3)]
    model = RankRLSCV(alphas, cv=folds, across_queries=BETA, **options).fit(X, y, qid, weight)
    expected = np.empty(40)
    for g in range(3):
        one = RankRLS(model.alpha_, across_queries=BETA, **options)
        expected[group == g] = refitted(one, X, y, qid, weight, factor, group == g)
    expected += level(model, X, qid, weight, factor)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(model.left_out_scores_, expected, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_stressed_data_gives_the_model_of_sixty_digits(kind, solver):
    X, y, qid = stressed(kind)
    table = exact(dense(X))
    D, t, root = [], [], []
    for groups, beta in ((qid, 1), (np.zeros(len(y)), exact(BETA))):
        i, j = pairs_of(y, groups)
        D.append(table[i] - table[j])
        t.append(exact(y[i]) - exact(y[j]))
        root.append(np.sqrt(pair_weights(y, groups, "keep", "example") * beta))
    D, t, root = map(np.concatenate, (D, t, root))
    D, t = root[:, None] * D, root * t
    n = D.shape[1]
    w = solve(D.T @ D + exact(1.0) * exact(np.eye(n)), D.T @ t)
    i, j = np.triu_indices(len(y), 1)
    expected = rounded((table[i] - table[j]) @ w)
    model = RankRLS(1.0, solver=solver, across_queries=BETA).fit(X, y, qid)
    found = (dense(X)[i].astype(float) - dense(X)[j]) @ model.coef_
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * max(1.0, np.abs(expected).max()))
    left_out = RankRLSCV([1.0], solver=solver, cv="leave-query-out", across_queries=BETA).fit(X, y, qid)
    for q in np.unique(qid)[:2]:
        rest = qid != q
        one = RankRLS(1.0, across_queries=BETA).fit(X[rest], y[rest], qid[rest])
        differences = (dense(X)[~rest].astype(float) - dense(X)[rest].astype(float).mean(axis=0)) @ one.coef_
        scale = max(1.0, np.abs(differences).max())
        found = left_out.left_out_scores_[~rest] - left_out.predict(X).mean()
        np.testing.assert_allclose(found, differences, rtol=0, atol=1e-5 * scale)


def test_labels_may_be_shifted_together_but_not_by_query():
    X, y, qid, weight, _ = weighted()
    fit = lambda labels: RankRLS(across_queries=BETA).fit(X, labels, qid, weight).coef_  # noqa: E731
    np.testing.assert_allclose(fit(y + 7.0), fit(y), rtol=0, atol=1e-12)
    assert np.abs(fit(y + qid) - fit(y)).max() > 0.01


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighting", Weighting)
def test_a_weight_of_two_is_a_row_or_a_query_twice(ties, weighting):
    X, y, qid = ranking()
    twice, weight = np.append(np.arange(40), [3, 4]), np.ones(40)
    weight[[3, 4]] = 2.0
    one = RankRLS(ties=ties, weighting=weighting, across_queries=BETA)
    expected = one.fit(X[twice], y[twice], qid[twice]).coef_
    np.testing.assert_allclose(one.fit(X, y, qid, weight).coef_, expected, rtol=0, atol=1e-11)
    again = np.append(np.arange(40), np.flatnonzero(qid == 1))
    labels = np.append(qid, np.full(np.sum(qid == 1), 99))
    expected = one.fit(X[again], y[again], labels).coef_
    factor = {q: 2.0 if q == 1 else 1.0 for q in range(6)}
    np.testing.assert_allclose(one.fit(X, y, qid, query_weight=factor).coef_, expected, rtol=0, atol=1e-11)


def test_what_is_constant_within_queries_is_learned():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(20), 5)
    X = np.column_stack([rng.normal(size=100), (qid % 2).astype(float)])
    y = np.round(X[:, 0] + 3.0 * X[:, 1])
    assert not hasattr(RankRLS(across_queries=1.0).fit(X, y, qid), "context_columns_")
    model = RankRLS(0.01, across_queries=1.0).fit(X, y, qid)
    assert model.coef_[1] == pytest.approx(3.0, abs=0.2)
    assert RankRLS(0.01).fit(X, y, qid).coef_[1] == pytest.approx(0.0, abs=1e-12)
    # Queries that have one label each still say how they compare.
    between = RankRLS(0.01, across_queries=1.0).fit(X, X[:, 1], qid)
    assert between.coef_[1] == pytest.approx(1.0, abs=0.01)


def test_what_has_no_meaning_is_refused_in_a_sentence(tmp_path):
    X, y, qid = ranking()
    with pytest.raises(
        ParameterError, match="'across_queries' parameter must be a finite number of at least"
    ):
        RankRLS(across_queries=-1.0).fit(X, y, qid)
    with pytest.raises(ParameterError, match="so fit needs a qid"):
        RankRLS(across_queries=1.0).fit(X, y)
    with pytest.raises(ParameterError, match="fit_preferences takes pairs of any rows, so leave it at 0"):
        RankRLS(across_queries=1.0).fit_preferences(X, [[0, 1]])
    with pytest.raises(DataError, match="all rows of the ranking have the same label"):
        RankRLS(across_queries=1.0).fit(X, np.ones(40), qid)
    for ranker in (RankRLS(across_queries=1.0), RankRLSCV(ALPHAS, across_queries=1.0)):
        with pytest.raises(ParameterError, match="Updates need across_queries=0"):
            ranker.partial_fit(X, y, qid)
        ranker.fit(X, y, qid).save(tmp_path / "model")
        with pytest.raises(ParameterError, match="Updates need across_queries=0"):
            load_model(tmp_path / "model").partial_fit(X, y, qid)
        with pytest.raises(ParameterError, match="Updates need across_queries=0"):
            ranker.forget(X, y, qid)
