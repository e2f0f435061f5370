"""Left-out rows that a model cannot tell apart are tied, and rounding decides about no others."""

import numpy as np
import pytest
from sklearn.base import clone

from rankwise import KernelRankRLSCV, RankRLSCV
from rankwise.metrics import get_measure
from sixty_digits import exact
from stressed import exact_weights

ALPHAS = (2.0**-15, 1.0, 2.0**15)
SEARCHES = {
    "primal": RankRLSCV(ALPHAS, solver="primal"),
    "dual": RankRLSCV(ALPHAS, solver="dual"),
    "linear kernel": KernelRankRLSCV(ALPHAS, kernel="linear"),
    "rbf kernel": KernelRankRLSCV(ALPHAS, gamma=0.1),
}
ROWS = 10


def _duplicated(X):
    return np.repeat(X[::2], 2, axis=0)


def _with_rare_flags(X):
    """Columns that only one row has say nothing about that row."""
    return np.column_stack([np.round(X[:, :2]), np.eye(len(X), 3)])


KINDS = {
    "plain": lambda X: X,
    "offset": lambda X: X + 1e6,
    "float32": lambda X: (X + 100.0).astype(np.float32),
    "scales": lambda X: X * [1e-4, 1.0, 1e4],
    "wide": lambda X: np.column_stack([X, np.random.default_rng(8).normal(size=(len(X), 7))]),
    "integers": np.round,
    "duplicates": _duplicated,
    "rare flags": _with_rare_flags,
}


def drawn(kind, seed, m=ROWS):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    y = np.round(X[:, 0] + rng.normal(size=m))
    return np.ascontiguousarray(KINDS[kind](X)), y


def exact_errors(X, y):
    """The fraction of misordered pairs by exact models without both rows, for every alpha."""
    wrong = []
    one, whole = np.zeros(len(y)), exact(X)
    for i, j in np.argwhere(y[:, None] > y):
        rest = np.setdiff1d(np.arange(len(y)), [i, j])
        weights = [exact_weights(X[rest], y[rest], one[rest], alpha) for alpha in ALPHAS]
        gaps = [(whole[i] - whole[j]) @ w for w in weights]
        wrong.append([0.5 if abs(gap) < 1e-40 else float(gap < 0) for gap in gaps])
    return np.mean(wrong, axis=0)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Rounding errors leave", "ignore:With gamma=0.1")
def test_a_model_that_knows_nothing_about_the_left_out_pair_ties_it(search, kind):
    X, y = drawn(kind, 0, m=40)
    y[:] = 0.0
    y[7] = 1.0  # without which all labels are equal
    found = SEARCHES[search].fit(X, y)
    assert found.cv_ == "leave-pair-out"
    np.testing.assert_array_equal(found.scores_, 0.5)


@pytest.mark.parametrize("search", ["primal", "dual", "linear kernel"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.filterwarnings("ignore:Rounding errors leave")
def test_leave_pair_out_counts_pairs_as_exact_refits_do(search, kind, seed, exact_errors_of):
    X, y = drawn(kind, seed)
    np.testing.assert_allclose(SEARCHES[search].fit(X, y).scores_[0], exact_errors_of(kind, seed), atol=1e-12)


@pytest.fixture(scope="module")
def exact_errors_of():
    known = {}

    def find(*draw):
        if draw not in known:
            known[draw] = exact_errors(*drawn(*draw))
        return known[draw]

    return find


@pytest.mark.parametrize("search", SEARCHES)
def test_differences_that_are_small_but_real_are_no_ties(search):
    """Labels that hardly depend on the features: at the largest alpha, differences are about 1e-6."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), rng.permutation(60).astype(float)
    scores = SEARCHES[search].fit(X, y).scores_[0]
    pairs = scores * (60 * 59 / 2)
    np.testing.assert_allclose(pairs, np.round(pairs), atol=1e-9)  # one tie would be half a pair


@pytest.mark.parametrize("search", SEARCHES)
def test_equal_rows_with_different_labels_are_half_wrong(search):
    X, y = np.repeat(np.random.default_rng(4).normal(size=(6, 3)), 2, axis=0), np.tile([0.0, 1.0], 6)
    weight = np.where(np.arange(12) < 2, 1.0, 1e-9)  # nearly all that counts is the first pair
    scores = SEARCHES[search].fit(X, y, sample_weight=weight).scores_[0]
    np.testing.assert_allclose(scores, 0.5, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_the_dual_solver_is_as_exact_as_the_primal_where_scales_differ(seed):
    X, y = drawn("scales", seed, m=40)
    primal, dual = (RankRLSCV(ALPHAS, solver=solver).fit(X, y).scores_ for solver in ("primal", "dual"))
    np.testing.assert_allclose(dual, primal, atol=1e-12)


QUERIES = np.arange(60) // 10
BY_QUERY = {name: clone(search).set_params(cv="leave-query-out") for name, search in SEARCHES.items()}


@pytest.mark.parametrize("search", BY_QUERY)
@pytest.mark.parametrize("kind", ["plain", "offset", "float32", "wide", "integers", "duplicates"])
@pytest.mark.parametrize("measure", ["pairwise_error", "ndcg@5"])
@pytest.mark.filterwarnings("ignore:Rounding errors leave", "ignore:With gamma=0.1")
def test_a_model_of_queries_whose_labels_are_equal_ties_every_row(search, kind, measure):
    X, y = drawn(kind, 0, m=60)
    y = np.where(QUERIES == 2, np.abs(y), 0.0)
    found = clone(BY_QUERY[search]).set_params(measure=measure).fit(X, y, QUERIES)
    tied = get_measure(measure)(y, np.zeros(60), QUERIES)
    np.testing.assert_allclose(found.scores_, tied, atol=1e-12)


@pytest.mark.parametrize("measure", ["pairwise_error", "ndcg@5"])
@pytest.mark.filterwarnings("ignore:Rounding errors leave", "ignore:With gamma", "ignore:The best alpha")
def test_rows_that_are_far_from_all_others_are_tied(measure):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3))
    X[QUERIES < 3] *= 1e4  # these have no kernel values but 0
    y = np.abs(np.round(np.sign(X[:, 0]) + rng.normal(size=60)))
    found = KernelRankRLSCV((1e-3, 1.0, 1e3), gamma=1.0, measure=measure).fit(X, y, QUERIES)
    scores = np.where(QUERIES < 3, 0.0, found.left_out_scores_)
    assert found.best_score_ == pytest.approx(get_measure(measure)(y, scores, QUERIES))
    assert len(np.unique(scores)) > 20
