"""A threshold on scores across queries: its precision, what it says of queries, and probabilities."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from rankwise import DataError, ParameterError, RankRLSCV, make_search_data
from rankwise.metrics import find_good_results


def drawn(rng, n_queries=200, n_rows=10):
    """Scores, labels that are relevant with a known probability, and queries of different quality."""
    qid = np.repeat(np.arange(n_queries), n_rows)
    scores = rng.normal(size=n_queries)[qid] + rng.normal(size=len(qid))
    return scores, (rng.random(len(qid)) < 1 / (1 + np.exp(1.0 - 2.0 * scores))).astype(float), qid


def test_the_threshold_is_the_lowest_with_the_precision():
    scores, y, qid = drawn(np.random.default_rng(0))
    good = find_good_results(y, scores, qid, precision=0.9)
    precision = {t: y[scores >= t].mean() for t in scores}
    assert good.threshold == min(t for t, share in precision.items() if share >= 0.9)
    assert good.measure(y, scores, qid).precision == precision[good.threshold]


def test_rows_with_equal_scores_are_on_the_same_side():
    y, scores = np.array([1, 1, 0, 0, 1, 0.0]), np.array([3, 2, 2, 2, 1, 0.0])
    assert find_good_results(y, scores, np.zeros(6), precision=0.7).threshold == 3.0
    assert find_good_results(y, scores, np.zeros(6), precision=0.55).threshold == 1.0
    assert find_good_results(y, scores, np.zeros(6), precision=0.5).threshold == 0.0


def test_what_is_measured_is_counted_over_rows_and_queries():
    qid = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    y = np.array([2, 0, 0, 0, 1, 1, 0, 0.0])
    scores = np.array([5, 4, 1, 0, 6, 2, 7, 1.0])
    good = find_good_results(y, scores, qid, precision=0.5)
    found = type(good)(4.0, good.slope, good.intercept, 1.0).measure(y, scores, qid)
    assert (found.precision, found.recall) == (2 / 4, 2 / 3)
    assert (found.no_result_precision, found.no_result_recall) == (1.0, 1 / 2)
    none = type(good)(9.0, good.slope, good.intercept, 1.0).measure(y, scores, qid)
    assert np.isnan(none.precision)
    assert (none.recall, none.no_result_precision, none.no_result_recall) == (0.0, 0.5, 1.0)
    assert set(none.to_dict()) >= {"precision", "recall_margin"}


def test_probabilities_are_those_of_a_logistic_regression_and_of_the_truth():
    scores, y, qid = drawn(np.random.default_rng(1), n_queries=2000)
    good = find_good_results(y, scores, qid)
    fitted = LogisticRegression(C=np.inf).fit(scores[:, None], y)
    assert good.slope == pytest.approx(fitted.coef_[0, 0], rel=1e-2)
    assert good.intercept == pytest.approx(fitted.intercept_[0], rel=1e-2)
    assert good.slope == pytest.approx(2.0, abs=0.15)
    at = np.array([-1.0, 0.5, 2.0])
    np.testing.assert_allclose(good.probability(at), 1 / (1 + np.exp(1.0 - 2.0 * at)), atol=0.03)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_scores_of_any_size_that_tell_without_error_have_finite_probabilities(scale):
    y, scores = np.repeat([0.0, 1.0], 20), np.arange(40.0) * scale
    good = find_good_results(y, scores, np.arange(40) // 4, precision=1.0)
    assert good.threshold == 20 * scale
    found = good.probability(scores)
    assert (np.diff(found) > 0).all()
    assert 0.0 < found[0] < 0.1 < 0.9 < found[-1] < 1.0
    equal = find_good_results(y, np.full(40, scale), np.arange(40) // 4, precision=0.5)
    np.testing.assert_allclose(equal.probability(scores), 0.5, atol=1e-12)


def test_left_out_scores_across_queries_set_a_threshold_that_holds_on_other_queries():
    train, test = make_search_data(400, random_state=0).split(0.5)
    model = RankRLSCV(across_queries=1.0).fit(train)
    good = find_good_results(train.y, model.left_out_scores_, train.qid, precision=0.8)
    found = good.measure(test.y, model.predict(test.X), test.qid)
    assert abs(found.precision - 0.8) < found.precision_margin < 0.1
    p = good.probability(model.predict(test.X))
    assert p.mean() == pytest.approx(np.mean(test.y >= 1), abs=0.03)


def test_what_tells_nothing_is_refused_in_a_sentence():
    scores, y, qid = drawn(np.random.default_rng(0), n_queries=5)
    with pytest.raises(DataError, match="No rows have a label of at least 3"):
        find_good_results(y, scores, qid, relevant=3)
    with pytest.raises(DataError, match="All rows have a label of at least 0"):
        find_good_results(y, scores, qid, relevant=0)
    with pytest.raises(DataError, match=r"No threshold has a precision of 0\.9; the highest is 0\.5"):
        find_good_results([1.0, 0.0], [1.0, 1.0], [0, 0], precision=0.9)
    with pytest.raises(ParameterError, match="'precision' parameter"):
        find_good_results(y, scores, qid, precision=2)
