"""RankRLSCV.partial_fit: alpha by progressive validation, and old batches discounted."""

import warnings

import numpy as np
import pytest

import rankwise
from rankwise import DataError, ParameterError, RankRLS, RankRLSCV
from rankwise.errors import GridWarning
from rankwise.metrics import pairwise_error

ALPHAS = (0.01, 1.0, 100.0, 1e4)


@pytest.fixture
def batches():
    rng = np.random.default_rng(0)
    made = []
    for week in range(6):
        X = rng.normal(size=(80, 5))
        y = np.digitize(X[:, 0] - X[:, 1] + rng.normal(size=80), [-1, 0, 1]).astype(float)
        made.append((X, y, [f"{week}-{query}" for query in np.repeat(np.arange(8), 10)]))
    return made


def joined(batches):
    X, y, qid = zip(*batches, strict=True)
    return np.vstack(X), np.concatenate(y), [label for labels in qid for label in labels]


def learned(batches, **options):
    model = RankRLSCV(ALPHAS, **options)
    for batch in batches:
        model.partial_fit(*batch)
    return model


def test_every_batch_is_scored_before_it_is_learned(batches):
    model = learned(batches)
    assert model.progress_.shape == (5, len(ALPHAS))
    assert model.progress_queries_.tolist() == [8] * 5
    for number, (X, y, qid) in enumerate(batches[1:]):
        for column, alpha in enumerate(ALPHAS):
            before = RankRLS(alpha).fit(*joined(batches[: number + 1]))
            expected = pairwise_error(y, before.predict(X), qid)
            np.testing.assert_allclose(model.progress_[number, column], expected, rtol=1e-12)
    means = model.progress_.mean(axis=0)
    np.testing.assert_allclose(model.scores_, means[None])
    assert model.alpha_ == ALPHAS[int(means.argmin())]
    assert model.best_score_ == pytest.approx(means.min())
    assert model.cv_ == "progressive validation"
    np.testing.assert_allclose(model.coef_, RankRLS(model.alpha_).fit(*joined(batches)).coef_, atol=1e-10)


def test_the_first_batch_is_fitted(batches):
    first, fitted = learned(batches[:1]), RankRLSCV(ALPHAS).fit(*batches[0])
    np.testing.assert_array_equal(first.coef_, fitted.coef_)
    assert first.cv_ == "leave-query-out"
    assert not hasattr(first, "progress_")


def test_a_fit_goes_on_with_batches(batches):
    model = RankRLSCV(ALPHAS).fit(*joined(batches[:3])).partial_fit(*batches[3])
    assert model.progress_.shape == (1, len(ALPHAS))
    np.testing.assert_allclose(model.coef_, RankRLS(model.alpha_).fit(*joined(batches[:4])).coef_, atol=1e-10)


def test_a_first_batch_for_which_another_solver_is_cheaper_can_be_updated():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), rng.normal(size=20)
    qid = np.repeat(np.arange(4), 5)
    model = RankRLSCV(ALPHAS).partial_fit(X[:10], y[:10], qid[:10])
    assert model.solver_ == "dual"
    model.partial_fit(X[10:], y[10:], qid[10:])
    np.testing.assert_allclose(model.coef_, RankRLS(model.alpha_).fit(X, y, qid).coef_, atol=1e-10)


@pytest.mark.parametrize("ties", ["keep", "drop"])
def test_a_half_life_is_a_weight_for_each_query(batches, ties):
    model = learned(batches, half_life=2.0, ties=ties)
    X, y, qid = joined(batches)
    age = {f"{week}-{query}": 5 - week for week in range(6) for query in range(8)}
    weights = {label: 0.5 ** (batches_ago / 2.0) for label, batches_ago in age.items()}
    fitted = RankRLS(model.alpha_, ties=ties).fit(X, y, qid, query_weight=weights)
    np.testing.assert_allclose(model.coef_, fitted.coef_, atol=1e-10)
    discount = 0.5 ** (np.arange(5)[::-1] / 2.0)
    np.testing.assert_allclose(model.scores_[0], discount @ model.progress_ / discount.sum())
    model.forget(*batches[1])
    kept = [label for label in dict.fromkeys(qid) if not label.startswith("1-")]
    rows = np.isin(qid, kept)
    rest = [label for label in qid if not label.startswith("1-")]
    fitted = RankRLS(model.alpha_, ties=ties).fit(X[rows], y[rows], rest, query_weight=weights)
    np.testing.assert_allclose(model.coef_, fitted.coef_, atol=1e-10)


def test_discounting_follows_data_that_change(batches):
    changed = [(X, y if week < 3 else y.max() - y, qid) for week, (X, y, qid) in enumerate(batches)]
    everything, recent = learned(changed), learned(changed, half_life=0.5)
    drift = everything.progress_.min(axis=1)
    assert drift[2] > 0.6 > drift[:2].max()  # the batch with which the labels turned around
    assert recent.progress_[-1].min() < everything.progress_[-1].min()


def test_a_batch_that_cannot_be_measured_is_learned(batches):
    model = learned(batches[:2])
    X, y, qid = batches[2]
    before = model.alpha_
    model.partial_fit(X, np.ones_like(y), qid)
    assert np.isnan(model.progress_[-1]).all()
    assert model.progress_queries_.tolist() == [8, 0]
    assert model.alpha_ == before
    assert model.moments_.n_queries == 24


def test_progress_goes_on_from_a_file(batches, tmp_path):
    learned(batches[:3], half_life=3.0, ties=("keep", "drop")).save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    expected = learned(batches[:4], half_life=3.0, ties=("keep", "drop"))
    loaded.partial_fit(*batches[3])
    np.testing.assert_array_equal(loaded.progress_, expected.progress_)
    np.testing.assert_array_equal(loaded.coef_, expected.coef_)
    assert loaded.best_ == expected.best_


def test_another_fit_starts_anew(batches):
    model = learned(batches[:3]).fit(*batches[3])
    assert not hasattr(model, "progress_")
    assert model.moments_.n_queries == 8


@pytest.mark.parametrize("half_life", [0.0, -1.0, "long", np.nan])
def test_a_half_life_is_a_positive_number(batches, half_life):
    with pytest.raises(ParameterError, match="The 'half_life' parameter must be a finite number above 0"):
        learned(batches, half_life=half_life)


def test_what_cannot_be_updated_says_so(batches):
    pairs = RankRLSCV(ALPHAS, cv=2).fit_preferences(batches[0][0], [[0, 1], [2, 3], [4, 5], [6, 7]])
    with pytest.raises(DataError, match="This model has no moments to update"):
        pairs.partial_fit(*batches[1])
    assert not hasattr(RankRLSCV(solver="cg"), "partial_fit")
    with warnings.catch_warnings(), pytest.raises(DataError, match="Query 0-0 was learned before"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", GridWarning)
        learned([*batches[:2], batches[0]])
