"""Weighted rows and grades from click logs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rankwise import (
    ClickLog,
    DataError,
    ParameterError,
    RankingData,
    RankRLS,
    grades_from_clicks,
    make_click_log,
    make_search_data,
    rows_from_clicks,
)


def click_counts(log, data):
    """Clicks and exposure of each row, entry by entry."""
    clicks, exposure = np.zeros(data.n_rows), np.zeros(data.n_rows)
    for row, clicked, look in zip(log.row, log.clicked, log.propensity, strict=True):
        clicks[row] += clicked
        exposure[row] += look
    return clicks, exposure


@pytest.fixture(scope="module")
def simulated():
    return make_search_data(40, random_state=2, clicks=True)


@pytest.mark.parametrize("prior", [0.5, 1.0, 20.0])
def test_rows_are_labelled_with_clicks_over_expected_clicks_and_weighted_by_exposure(simulated, prior):
    data, log = simulated
    rows = rows_from_clicks(log, data, prior_clicks=prior)
    clicks, exposure = click_counts(log, data)
    shown = exposure > 0
    expected = exposure[shown] * clicks.sum() / exposure.sum()
    np.testing.assert_array_equal(rows.X, data.X[shown])
    np.testing.assert_array_equal(rows.qid, data.qid[shown])
    np.testing.assert_array_equal(rows.docs, data.docs[shown])
    np.testing.assert_allclose(rows.y, clicks[shown] / expected)
    np.testing.assert_allclose(rows.sample_weight, expected / (expected + prior))
    # An average row is labelled 1.
    np.testing.assert_allclose(np.average(rows.y, weights=expected), 1.0)


def test_labels_do_not_depend_on_the_scale_of_the_propensities(simulated):
    data, log = simulated
    once, half = (rows_from_clicks(replace(log, propensity=log.propensity * s), data) for s in (1.0, 0.5))
    np.testing.assert_allclose(once.y, half.y)
    np.testing.assert_allclose(once.sample_weight, half.sample_weight)


@pytest.mark.parametrize("least", [0.0, 0.5])
def test_grades_count_the_thresholds_that_clicks_over_expected_clicks_reach(simulated, least):
    data, log = simulated
    graded = grades_from_clicks(log, data, thresholds=[0.8, 1.0, 1.5], min_expected=least)
    clicks, exposure = click_counts(log, data)
    expected = exposure * clicks.sum() / exposure.sum()
    kept = (exposure > 0) & (expected >= least)
    np.testing.assert_array_equal(graded.docs, data.docs[kept])
    ratio = clicks[kept] / expected[kept]
    np.testing.assert_array_equal(graded.y, sum((ratio >= step).astype(int) for step in (0.8, 1.0, 1.5)))
    assert set(graded.y) == {0, 1, 2, 3}
    with pytest.raises(
        DataError, match=r"No row has at least 1000 expected clicks \(min_expected\); the largest"
    ):
        grades_from_clicks(log, data, min_expected=1000)


@pytest.mark.parametrize(
    "thresholds", [[], [2, 1], [1, 1], [0.5, np.nan], [[1, 2]]], ids=["none", "down", "equal", "NaN", "table"]
)
def test_thresholds_must_ascend(simulated, thresholds):
    data, log = simulated
    with pytest.raises(ParameterError, match="'thresholds' parameter must be a list of ascending numbers"):
        grades_from_clicks(log, data, thresholds=thresholds)


def test_a_log_of_other_rows_or_without_clicks_is_refused(simulated):
    data, log = simulated
    with pytest.raises(DataError, match="the data has 5 rows: it was matched to other data"):
        rows_from_clicks(log, data.select(range(5)))
    with pytest.raises(DataError, match="There is nothing to learn: the log has no clicks"):
        rows_from_clicks(replace(log, clicked=np.zeros(len(log.row), bool)), data)


def test_what_users_like_is_recovered_however_the_engine_hides_it():
    """The engine prefers the worst row; labels are in the order of the grades all the same."""
    y = np.array([3.0, 2.0, 1.0, 0.0])
    data = RankingData.from_arrays(np.eye(4), y, [1] * 4)
    log = make_click_log(data, -y, n_sessions=60_000, exploration=0.5, click_noise=0.05, random_state=0)
    corrected, plain = (rows_from_clicks(log.with_propensity(p), data).y for p in (None, 1.0))
    attraction = 0.05 + 0.95 * (2**y - 1) / 7
    np.testing.assert_allclose(corrected / corrected[0], attraction / attraction[0], atol=0.03)
    assert np.abs(plain / plain[0] - attraction / attraction[0]).max() > 0.15


def test_weighted_rows_of_a_frame_teach_what_arrays_teach(simulated):
    data, log = simulated
    frame = pd.DataFrame(
        {
            "s": log.session,
            "q": data.qid[log.row],
            "d": data.docs[log.row],
            "p": log.position,
            "c": log.clicked,
        }
    )
    names = {"query": "q", "doc": "d", "position": "p", "clicked": "c", "session": "s"}
    shuffled = frame.sample(frac=1.0, random_state=0)
    found = rows_from_clicks(ClickLog.from_frame(shuffled, **names).match(data), data)
    expected = rows_from_clicks(log.with_propensity(), data)
    models = [RankRLS().fit(rows) for rows in (found, expected)]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    "form",
    [sparse.csr_matrix, lambda X: X.astype(np.float32), lambda X: X + 1e9],
    ids=["sparse", "float32", "far from zero"],
)
def test_rows_keep_their_features_in_any_form_and_order(simulated, form):
    data, log = simulated
    order = np.random.default_rng(0).permutation(data.n_rows)
    changed = RankingData.from_arrays(form(data.X), data.y, data.qid, data.docs).select(order)
    found = rows_from_clicks(replace(log, row=np.argsort(order)[log.row]), changed)
    shown = order[np.isin(order, log.row)]
    expected = rows_from_clicks(log, data)
    place = np.searchsorted(np.unique(log.row), shown)
    assert found.X.dtype == changed.X.dtype
    assert abs(found.X - form(data.X)[shown]).max() == 0
    np.testing.assert_allclose(found.y, expected.y[place])
    np.testing.assert_allclose(found.sample_weight, expected.sample_weight[place])


def test_rows_clicked_as_often_as_expected_have_the_grade_of_the_threshold_however_sums_are_rounded():
    """Every row was examined to the same degree and clicked once, in sums of another order."""
    rng = np.random.default_rng(0)
    n, looks = 30, [0.1, 0.2, 0.3, 0.4, 0.7]
    look = np.concatenate([rng.permutation(looks) for _ in range(n)])
    row, session = np.repeat(np.arange(n), len(looks)), np.arange(n * len(looks))
    clicked = np.tile([1, 0, 0, 0, 0], n)
    log = ClickLog.from_arrays(session, row, np.ones(len(row), dtype=int), clicked, look)
    data = RankingData.from_arrays(rng.normal(size=(n, 2)), np.zeros(n), np.arange(n) // 10)
    assert grades_from_clicks(log, data).y.tolist() == [2.0] * n
    assert grades_from_clicks(log, data, min_expected=1.0).n_rows == n
