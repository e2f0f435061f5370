"""Models that learn and forget queries are those of a fit to what is left."""

import copy
import pickle
import warnings
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import rankwise
from rankwise import DataError, KernelRankRLS, Moments, RankRLS
from rankwise.preferences.queries import group_rows
from rankwise.validation import Problem
from sixty_digits import exact, rounded
from stressed import KINDS, exact_weights, stressed

LOSSES = list(product(["keep", "drop"], ["example", "pair", "query"]))


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(120, 5)), np.repeat(np.arange(12), 10)
    y = np.digitize(X[:, 0] - X[:, 1] + rng.normal(size=120), [-1, 0, 1]).astype(float)
    order = rng.permutation(120)
    return X[order], y[order], qid[order]


def close(ours, theirs, tolerance=1e-10):
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=tolerance * np.abs(theirs.coef_).max())


@pytest.mark.parametrize(("ties", "weighting"), LOSSES)
def test_learning_in_batches_is_fitting_to_all(data, ties, weighting):
    X, y, qid = data
    weight = np.random.default_rng(1).uniform(1.0, 2.0, len(y))
    model = RankRLS(0.1, ties=ties, weighting=weighting)
    for batch in range(3):
        rows = qid % 3 == batch
        assert model.partial_fit(X[rows], y[rows], qid[rows], weight[rows]) is model
    fitted = RankRLS(0.1, ties=ties, weighting=weighting).fit(X, y, qid, weight)
    close(model, fitted)
    assert (model.solver_, model.n_features_in_, model.fitted_with_qid_) == ("primal", 5, True)
    assert model.moments_.n_queries == fitted.moments_.n_queries == 12


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_goes_on_with_updates_and_forgets_exactly(kind):
    X, y, qid = stressed(kind)
    early, late, kept = (np.flatnonzero(chosen) for chosen in (qid != 1, qid == 1, qid != 0))
    model = RankRLS(solver="primal").fit(X[early], y[early], qid[early])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some kinds are ill-conditioned, and say so
        model.partial_fit(X[late], y[late], qid[late])
        model.forget(X[qid == 0], y[qid == 0], qid[qid == 0])
        fitted = RankRLS.from_moments(Moments.of(X[kept], y[kept], qid[kept]))
    off = np.linalg.norm(model.coef_ - fitted.coef_)
    assert off <= model.coef_error_ + fitted.coef_error_
    assert off <= 1e-8 * np.linalg.norm(fitted.coef_)


def test_many_random_updates_leave_the_model_of_what_is_left(data):
    X, y, qid = data
    rng = np.random.default_rng(2)
    model, learned = RankRLS(0.5, ties="drop").partial_fit(X[qid == 0], y[qid == 0], qid[qid == 0]), {0}
    for _ in range(50):
        query = int(rng.integers(1, 12))
        rows = qid == query
        update = model.forget if query in learned else model.partial_fit
        update(X[rows], y[rows], qid[rows])
        learned ^= {query}
    rows = np.isin(qid, list(learned))
    fitted = RankRLS(0.5, ties="drop").fit(X[rows], y[rows], qid[rows])
    close(model, fitted, 1e-8)
    assert np.linalg.norm(model.coef_ - fitted.coef_) <= model.coef_error_ < 1e-10
    assert model.moments_.n_queries == len(learned)


@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8, 1e12])
def test_the_bound_holds_for_labels_far_from_zero(ties, offset):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y, qid = rng.normal(size=(24, 3)), offset + rng.integers(0, 3, 24), np.arange(24) % 4
        weight = rng.uniform(0.1, 3.0, 24)
        model = RankRLS(0.1, ties=ties).partial_fit(X, y, qid, weight)
        exactly = exact_weights(X, y, qid, 0.1, ties, weight=weight)
        off = np.linalg.norm(rounded(exact(model.coef_) - exactly))
        assert off <= model.coef_error_ < 1e-12


def test_forgetting_the_dominating_query_is_refused_where_nothing_would_be_left():
    X, y, qid = stressed("plain")
    X = np.where((qid == 2)[:, None], 1e9 * X, X)
    rows = qid == 2
    model = RankRLS(1e-3).fit(X, y, qid)
    before = model.coef_
    with pytest.raises(DataError, match="The rounding errors of all updates"):
        model.forget(X[rows], y[rows], qid[rows])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.moments_.n_queries == 5


def test_the_bound_holds_where_forgetting_loses_digits():
    X, y, qid = stressed("plain")
    X = np.where((qid == 2)[:, None], 1e5 * X, X)
    rows = qid == 2
    model = RankRLS().fit(X, y, qid).forget(X[rows], y[rows], qid[rows])
    off = np.linalg.norm(model.coef_ - RankRLS().fit(X[~rows], y[~rows], qid[~rows]).coef_)
    assert 1e-9 < off <= model.coef_error_ < 1.0


def test_rankings_without_qid_are_learned_one_by_one(data):
    X, y, _ = data
    halves = [slice(0, 60), slice(60, 120)]
    model = RankRLS()
    for half in (*halves, halves[1]):
        model.partial_fit(X[half], y[half])
    close(model, RankRLS().fit(np.vstack([X, X[60:]]), np.append(y, y[60:]), np.repeat([0, 1, 2], 60)))
    assert not model.fitted_with_qid_
    model.forget(X[60:], y[60:])
    close(model, RankRLS().fit(X, y, np.repeat([0, 1], 60)))


def test_several_targets_are_learned_together(data):
    X, y, qid = data
    Y = np.column_stack([y, y[::-1]])
    some = qid < 4
    model = RankRLS().partial_fit(X[some], Y[some], qid[some]).partial_fit(X[~some], Y[~some], qid[~some])
    close(model, RankRLS().fit(X, Y, qid))
    close(model.forget(X[some], Y[some], qid[some]), RankRLS().fit(X[~some], Y[~some], qid[~some]))


def test_weighted_queries_are_forgotten_with_their_weight(data):
    X, y, qid = data
    some = qid < 4
    model = RankRLS().partial_fit(X[some], y[some], qid[some], query_weight=dict.fromkeys(range(4), 0.5))
    model.partial_fit(X[~some], y[~some], qid[~some])
    halved = {query: 0.5 if query < 4 else 1.0 for query in range(12)}
    close(model, RankRLS().fit(X, y, qid, query_weight=halved))
    close(model.forget(X[some], y[some], qid[some]), RankRLS().fit(X[~some], y[~some], qid[~some]))


@pytest.mark.parametrize(("ties", "weighting"), LOSSES)
def test_a_query_of_weight_two_is_the_query_twice(data, ties, weighting):
    X, y, qid = data
    double = qid == 3
    doubled = RankRLS(ties=ties, weighting=weighting).fit(
        np.vstack([X, X[double]]), np.append(y, y[double]), np.append(qid, np.full(10, 99))
    )
    weights = {query: 2.0 if query == 3 else 1.0 for query in range(12)}
    for solver in ("primal", "dual"):
        model = RankRLS(ties=ties, weighting=weighting, solver=solver)
        close(model.fit(X, y, qid, query_weight=weights), doubled)
    kernel = KernelRankRLS(kernel="linear", ties=ties, weighting=weighting).fit(
        X, y, qid, query_weight=weights
    )
    np.testing.assert_allclose(
        kernel.predict(X) - kernel.predict(X[:1]), (X - X[0]) @ doubled.coef_, atol=1e-8
    )


def test_some_rows_take_the_weights_of_their_queries_with_them(data):
    X, y, qid = data
    queries = group_rows(qid, len(qid))
    problem = Problem(X, y, queries, None, 1.0 + queries.labels)
    some = problem.select(np.flatnonzero(qid % 3 == 1)[::-1])
    np.testing.assert_array_equal(some.query_weight, 1.0 + some.queries.labels)


def test_rows_may_come_back_in_another_storage_and_order(data):
    X, y, qid = data
    model = RankRLS().fit(X, y, qid)
    rows = np.flatnonzero(qid == 3)[::-1]
    model.forget(sparse.csr_array(X[rows]), y[rows], [str(label) for label in qid[rows]])
    assert model.moments_.n_queries == 11


def test_models_take_their_moments_along(data, tmp_path):
    X, y, qid = data
    some = qid < 4
    fitted = RankRLS().fit(X, y, qid)
    first = RankRLS().fit(X[some], y[some], qid[some])
    first.save(tmp_path / "model")
    for model in (
        rankwise.load_model(tmp_path / "model"),
        pickle.loads(pickle.dumps(first)),
        copy.copy(first),
    ):
        close(model.partial_fit(X[~some], y[~some], qid[~some]), fitted)
        assert model.coef_error_ < 1e-10


def test_a_file_without_moments_is_small_and_cannot_be_updated(data, tmp_path):
    X, y, qid = data
    model = RankRLS().fit(X, y, qid)
    model.save(tmp_path / "model", moments=False)
    loaded = rankwise.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    with pytest.raises(DataError, match="This model has no moments to update"):
        loaded.partial_fit(X, y, qid + 20)
    assert hasattr(model, "moments_")


@pytest.mark.parametrize("ties", ["keep", "drop"])
def test_a_model_that_forgot_every_pair_is_saved_and_loaded(ties, tmp_path):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, weight = rng.normal(size=(30, 4)), rng.uniform(0.5, 2.0, 30)
        y, qid = rng.integers(0, 3, 30).astype(float), np.repeat([0, 1, 2], 10)
        if ties == "drop":
            y[qid == 2] = 1.0
        else:
            qid[qid == 2] = np.arange(2, 12)
        model = RankRLS(0.5, ties=ties).fit(X, y, qid, weight)
        for query in (0, 1):
            rows = qid == query
            model.forget(X[rows], y[rows], qid[rows], weight[rows])
        assert model.moments_.n_pairs == 0
        model.save(tmp_path / "model")
        np.testing.assert_array_equal(rankwise.load_model(tmp_path / "model").coef_, model.coef_)


def test_a_model_from_moments_warns_where_digits_run_out():
    X, y, qid = stressed("plain")
    X[:, 1] = X[:, 0] + 1e-7 * X[:, 1]
    moments = Moments.of(X, y, qid)
    with pytest.warns(UserWarning, match="XᵀLX is so ill-conditioned that a model from moments loses digits"):
        model = RankRLS.from_moments(moments, alpha=1e-12)
    assert model.coef_error_ > 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RankRLS(1e-12, solver="primal").fit(X, y, qid)
        RankRLS.from_moments(moments, alpha=1.0)


def test_what_was_never_learned_cannot_be_forgotten(data):
    X, y, qid = data
    model = RankRLS().fit(X[qid > 0], y[qid > 0], qid[qid > 0])
    rows = qid == 0
    with pytest.raises(DataError, match="Query 0 was never learned, so it cannot be forgotten"):
        model.forget(X[rows], y[rows], qid[rows])
    rows = qid == 1
    for other in (
        (X[rows] + 1.0, y[rows], None),
        (X[rows], y[rows][::-1], None),
        (X[rows], y[rows], y[rows] + 1),
    ):
        with pytest.raises(DataError, match="Query 1 was learned with other rows, labels or weights"):
            model.forget(other[0], other[1], qid[rows], other[2])
    with pytest.raises(DataError, match="Query 1 was learned with other rows"):
        model.forget(X[rows][:5], y[rows][:5], qid[rows][:5])
    with pytest.raises(DataError, match="Query without a qid was never learned"):
        model.forget(X[rows], y[rows])
    with pytest.raises(NotFittedError):
        RankRLS().forget(X, y, qid)


def test_something_must_be_left(data):
    X, y, qid = data
    with pytest.raises(DataError, match="These are all queries that the model has learned"):
        RankRLS().fit(X, y, qid).forget(X, y, qid)


def test_a_query_is_not_learned_twice(data):
    X, y, qid = data
    model = RankRLS().fit(X, y, qid)
    with pytest.raises(DataError, match="Query 7 was learned before, so it would count twice"):
        model.partial_fit(X[qid == 7] + 1.0, y[qid == 7], qid[qid == 7])
    rows = qid == 7
    model.forget(X[rows], y[rows], qid[rows]).partial_fit(X[rows] + 1.0, y[rows], qid[rows])
    assert model.moments_.n_queries == 12


def test_a_batch_must_have_the_features_of_those_before(data):
    pandas = pytest.importorskip("pandas")
    X, y, qid = data
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = RankRLS().partial_fit(frame[qid < 6], y[qid < 6], qid[qid < 6])
    for other in (frame[list("abced")], frame.rename(columns={"a": "z"})):
        with pytest.raises(ValueError, match="feature names"):
            model.partial_fit(other[qid > 5], y[qid > 5], qid[qid > 5])
    with pytest.raises(ValueError, match="has 4 features"):
        RankRLS().partial_fit(X, y, qid).partial_fit(X[:, :4], y, qid + 20)


@pytest.mark.parametrize("solver", ["dual", "cg"])
def test_other_solvers_have_no_updates(data, solver):
    X, y, qid = data
    model = RankRLS(solver=solver).fit(X, y, qid)
    assert not hasattr(model, "partial_fit")
    assert not hasattr(model, "moments_")
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(X, y, qid)
    assert f"Updates need solver='primal', 'closed' or 'auto'; got '{solver}'" in str(caught.value.__cause__)
    model.set_params(solver="auto")
    with pytest.raises(DataError, match=f"no moments to update: fits with the solver '{solver}'"):
        model.partial_fit(X, y, qid)


def test_a_failed_update_changes_nothing(data):
    X, y, qid = data
    model = RankRLS().fit(X, y, qid)
    before, moments = model.coef_.copy(), model.moments_
    for rows, labels in ((X * np.nan, y), (X * 1e200, y), (X, y[:5])):
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"finite|overflow|inconsistent"):
            model.partial_fit(rows, labels, qid + 50)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.moments_ is moments


def test_the_error_of_weights_is_measured_in_their_unit(data):
    X, y, qid = data
    first, other = (
        RankRLS(alpha=unit**2).partial_fit(unit * X, y, qid).partial_fit(unit * X, y, qid + 100)
        for unit in (1.0, 2.0**10)
    )
    np.testing.assert_allclose(other.coef_, first.coef_ / 2.0**10, rtol=1e-12)
    assert other.coef_error_ == pytest.approx(first.coef_error_ / 2.0**10, rel=1e-9)


@pytest.mark.filterwarnings("error", "ignore:XᵀLX is so ill-conditioned")
def test_a_feature_that_is_constant_within_queries_gets_no_weight_at_alpha_zero(data):
    X, y, qid = data
    X = np.column_stack([X, np.ones(len(y))])
    early = qid < 6
    model = RankRLS(alpha=0.0).partial_fit(X[early], y[early], qid[early])
    model.partial_fit(X[~early], y[~early], qid[~early])
    assert model.coef_[-1] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(model.coef_, RankRLS(alpha=0.0).fit(X, y, qid).coef_, atol=1e-10)


def test_a_model_of_several_targets_learns_all_of_them(data):
    X, y, qid = data
    targets, early = np.column_stack([y, -2.0 * y]), qid < 6
    model = RankRLS().fit(X[early], targets[early], qid[early])
    model.partial_fit(X[~early], targets[~early], qid[~early])
    np.testing.assert_allclose(model.coef_, RankRLS().fit(X, targets, qid).coef_, atol=1e-12)
