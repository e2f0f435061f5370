"""What one more judgment teaches: rank-one predictions against refits, and the choice of what to judge."""

from itertools import combinations, islice

import numpy as np
import pytest
from scipy import sparse

import stressed
from rankwise import Moments, RankRLS
from rankwise.errors import DataError
from rankwise.preferences.queries import group_rows
from rankwise.ridge.knowledge import Knowledge
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.ridge.teaching import Documents, PairsToCompare, proposals, wanted_differences

ALPHA = 0.3


def _data(seed=0, m=30, n=4, n_queries=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, n)), rng.integers(0, 3, m).astype(float), rng.permutation(m) % n_queries


def _known(X, y, qid, alpha=ALPHA, **options):
    return Knowledge.of(Moments.of(X, y, qid, **options).quadratic, alpha)


def _wanted(X, qid):
    return wanted_differences(X, group_rows(qid, len(X)))


def test_the_differences_that_matter_are_those_of_all_pairs_of_rows_of_a_query():
    X, _, qid = _data()
    weight = np.random.default_rng(0).random(len(X))
    total = np.zeros((4, 4))
    for i, j in combinations(range(len(X)), 2):
        if qid[i] == qid[j]:
            share = weight[i] * weight[j] / weight[qid == qid[i]].sum()
            total += share * np.outer(X[i] - X[j], X[i] - X[j])
    np.testing.assert_allclose(wanted_differences(X, group_rows(qid, len(X)), weight), total, atol=1e-12)


@pytest.mark.parametrize("make", [stressed._plain, stressed._offset(1e6), stressed._integers, stressed._wide])
def test_a_document_more_changes_the_model_as_a_refit_would(make):
    X, y, qid = make(np.random.default_rng(0))
    for row in range(len(X)):
        others = np.arange(len(X)) != row
        same = others & (qid == qid[row])
        before, after = _known(X[others], y[others], qid[others]), _known(X, y, qid)
        difference, size = X[row] - X[same].mean(axis=0), same.sum()
        predicted = before.after(difference, y[row] - y[same].mean(), size / (size + 1))
        np.testing.assert_allclose(predicted.coef, after.coef, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(predicted.covariance, after.covariance, rtol=1e-7, atol=1e-7)
        refit = RankRLS(ALPHA, solver="primal").fit(X, y, qid)
        np.testing.assert_allclose(predicted.coef, refit.coef_, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("ties", "weighting"), [(t, w) for t in ("keep", "drop") for w in ("example", "pair", "query")]
)
def test_a_pair_more_changes_the_model_as_a_refit_to_labels_and_pairs_would(ties, weighting):
    X, y, qid = _data()
    before = _known(X, y, qid, ties=ties, weighting=weighting)
    refit = RankRLS(ALPHA, ties=ties, weighting=weighting).fit_preferences(
        X, [(4, 9)], [1.5], [0.7], y=y, qid=qid
    )
    difference = X[4] - X[9]
    np.testing.assert_allclose(before.after(difference, 1.5, 0.7).coef, refit.coef_, atol=1e-12)
    change = before.changes(difference[None], np.array([1.5]), np.array([0.7]))[0]
    np.testing.assert_allclose(before.coef + change, refit.coef_, atol=1e-12)


def test_reductions_are_the_fall_of_the_total_variance():
    X, y, qid = _data()
    known, wanted = _known(X, y, qid), _wanted(X, qid)
    differences, weight = X[:10] - X[10:20], np.linspace(0.5, 2.0, 10)
    reductions = known.reductions(differences, weight, wanted)
    for z, g, reduction in zip(differences, weight, reductions, strict=True):
        left = known.after(z, weight=g).total_variance(wanted)
        assert reduction == pytest.approx(known.total_variance(wanted) - left, rel=1e-9)


def test_the_first_document_is_the_best_of_all_and_the_next_is_best_given_the_first():
    X, y, qid = _data(seed=1)
    judged = np.random.default_rng(0).random(len(X)) < 0.5
    queries, wanted = group_rows(qid, len(X)), _wanted(X, qid)
    known = _known(X[judged], y[judged], qid[judged])
    (first, second) = islice(proposals(Documents(X, queries, judged), known, wanted), 2)
    for chosen in (first, second):
        left = {}
        for row in np.flatnonzero(~judged):
            more = judged.copy()
            more[row] = True
            left[row] = _known(X[more], y[more], qid[more]).total_variance(wanted)
        now = _known(X[judged], y[judged], qid[judged]).total_variance(wanted)
        (row,) = chosen.rows
        assert row == min(left, key=left.get)
        assert chosen.worth == pytest.approx(now - left[row], rel=1e-8)
        judged[row] = True


def test_a_query_without_judgments_is_opened_by_its_best_two_rows():
    X, _, qid = _data(seed=2)
    queries, wanted = group_rows(qid, len(X)), _wanted(X, qid)
    known = Knowledge.nothing(X.shape[1], ALPHA)
    first = next(proposals(Documents(X, queries, np.zeros(len(X), dtype=bool)), known, wanted))
    falls = {
        pair: known.reductions((X[pair[0]] - X[pair[1]])[None], np.array([0.5]), wanted)[0] / 2
        for query in range(queries.n_queries)
        for pair in combinations(queries.rows_of(query).tolist(), 2)
    }
    assert tuple(sorted(first.rows)) == tuple(sorted(max(falls, key=falls.get)))
    assert first.worth == pytest.approx(max(falls.values()), rel=1e-9)


def test_pairs_are_chosen_once_and_the_first_is_the_best_of_all():
    X, y, qid = _data(seed=3, m=12, n_queries=3)
    queries, wanted, known = group_rows(qid, len(X)), _wanted(X, qid), _known(X, y, qid)
    everything = {p for q in range(3) for p in combinations(sorted(queries.rows_of(q).tolist()), 2)}
    worth = {
        pair: known.reductions((X[pair[0]] - X[pair[1]])[None], np.ones(1), wanted)[0] for pair in everything
    }
    done = [tuple(reversed(max(worth, key=worth.get)))]
    chosen = [tuple(sorted(p.rows)) for p in proposals(PairsToCompare(X, queries, done), known, wanted)]
    assert sorted(chosen) == sorted(everything - {tuple(sorted(done[0]))})
    assert chosen[0] == max(set(worth) - {tuple(sorted(done[0]))}, key=worth.get)


def test_every_document_is_proposed_once_and_the_order_does_not_depend_on_that_of_the_rows():
    X, _, qid = _data(seed=4)
    known, wanted = Knowledge.nothing(X.shape[1], ALPHA), _wanted(X, qid)
    none = np.zeros(len(X), dtype=bool)
    order = [p.rows for p in proposals(Documents(X, group_rows(qid, len(X)), none), known, wanted)]
    assert sorted(row for rows in order for row in rows) == list(range(len(X)))
    moved = np.random.default_rng(1).permutation(len(X))
    queries = group_rows(qid[moved], len(X))
    other = [p.rows for p in proposals(Documents(X[moved], queries, none), known, wanted)]
    assert [set(moved[list(rows)].tolist()) for rows in other] == [set(rows) for rows in order]


@pytest.mark.parametrize("make", [stressed._offset(1e9), stressed._single_precision, stressed._repeated])
def test_the_choice_is_that_of_rows_near_zero(make):
    X, _, qid = make(np.random.default_rng(3))
    near = X.astype(np.float64) - X.astype(np.float64)[0]
    queries, wanted = group_rows(qid, len(X)), _wanted(near, qid)
    none = np.zeros(len(X), dtype=bool)
    known = Knowledge.nothing(X.shape[1], ALPHA)
    choices = [list(islice(proposals(Documents(A, queries, none), known, wanted), 8)) for A in (X, near)]
    for one, other in zip(*choices, strict=True):
        assert one.worth == pytest.approx(other.worth, rel=1e-6)


def test_sparse_rows_are_chosen_as_dense_ones():
    X, _, qid = _data(seed=5)
    X[np.abs(X) < 0.7] = 0.0
    queries, wanted, known = group_rows(qid, len(X)), _wanted(X, qid), Knowledge.nothing(4, ALPHA)
    none = np.zeros(len(X), dtype=bool)
    for kind in (lambda X: Documents(X, queries, none), lambda X: PairsToCompare(X, queries)):
        chosen = [
            [p.rows for p in islice(proposals(kind(A), known, wanted), 9)] for A in (X, sparse.csr_array(X))
        ]
        assert chosen[0] == chosen[1]


def test_a_singular_system_is_refused():
    X, y, qid = _data()
    X[:, 1] = X[:, 0]
    quadratic = Moments.of(X, y, qid).quadratic
    with pytest.raises(DataError, match="singular at alpha = 0"):
        Knowledge.of(Quadratic(np.zeros((2, 2)), np.zeros(2), np.zeros(())), 0.0)
    assert np.isfinite(Knowledge.of(quadratic, 0.1).covariance).all()
    with pytest.raises(DataError, match="alpha must be above 0"):
        Knowledge.nothing(3, 0.0)
