"""Click models with and without position bias, on sessions that they have not seen."""

from dataclasses import replace

import numpy as np
import pytest

from rankwise import (
    ClickLog,
    DataError,
    click_likelihood,
    make_click_log,
    make_search_data,
)
from rankwise.clicks.likelihood import ClickLikelihood


@pytest.fixture(scope="module")
def simulated():
    return make_search_data(40, random_state=2, clicks=True)


@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_held_out_sessions_show_position_bias_exactly_if_there_is_one(bias):
    data = make_search_data(60, random_state=4)
    log = make_click_log(data, data.X[:, 0], n_sessions=1500, position_bias=bias, random_state=1)
    found = click_likelihood(log)
    assert found.has_bias == (bias > 0)
    assert found.interval[0] < found.gain < found.interval[1]
    assert found.n_sessions == 1500
    assert found.n_results == len(log.row)
    assert (found.gain > 0.005) == (bias > 0)


def test_a_gain_that_may_be_chance_is_no_evidence():
    assert not ClickLikelihood(-0.3, -0.2, (-0.01, 0.21), n_sessions=9, n_results=90).has_bias
    assert ClickLikelihood(-0.3, -0.2, (0.01, 0.19), n_sessions=9, n_results=90).has_bias


def test_the_likelihood_is_that_of_models_fitted_fold_by_fold(simulated):
    data = simulated[0].select(rows=range(60))
    log = make_click_log(data, data.X[:, 0], n_sessions=150, exploration=3.0, n_shown=3)
    found = click_likelihood(log, n_folds=2, random_state=3)
    fold = (np.random.default_rng(3).permutation(log.n_sessions) % 2)[log.session]
    logs = np.zeros((2, len(log.row)))
    for held in (0, 1):
        train = np.flatnonzero(fold != held)
        arrays = [part[train] for part in (log.session, log.row, log.position, log.clicked)]
        look = dict(zip(arrays[2].tolist(), ClickLog.from_arrays(*arrays).propensity.tolist(), strict=True))
        for model in (0, 1):
            theta = [look[k] if model else 1.0 for k in log.position.tolist()]
            rate = sum(log.clicked[train]) / sum(theta[i] for i in train)
            for entry in np.flatnonzero(fold == held):
                same = [i for i in train if log.row[i] == log.row[entry]]
                exposure, clicks = sum(theta[i] for i in same), sum(log.clicked[i] for i in same)
                p = theta[entry] * rate * (clicks + 1) / (rate * exposure + 1)
                p = min(max(p, 1e-4), 1 - 1e-4)
                logs[model, entry] = np.log(p if log.clicked[entry] else 1 - p)
    np.testing.assert_allclose([found.without_bias, found.with_bias], logs.mean(axis=1))
    gain = logs[1] - logs[0]
    sums = [
        gain[log.session == s].sum() - gain.mean() * (log.session == s).sum() for s in range(log.n_sessions)
    ]
    error = np.std(sums, ddof=1) * np.sqrt(len(sums)) / len(gain)
    # The residuals sum to 0, so their deviation is that around 0.
    np.testing.assert_allclose(np.diff(found.interval)[0], 2 * 1.96 * error, rtol=1e-6)
    for name, mean, perplexity in found.rows:
        assert name in str(found)
        assert perplexity == pytest.approx(np.exp(-mean))


def test_likelihoods_do_not_depend_on_labels_of_sessions_and_rows_or_on_propensities(simulated):
    _, log = simulated
    other = replace(log, row=log.row + 7, propensity=np.ones(len(log.row)))
    assert click_likelihood(other) == click_likelihood(log)


def test_positions_that_only_one_session_reaches_are_not_predicted(simulated):
    _, log = simulated
    deep = log.position.copy()
    deep[100] = 50
    assert click_likelihood(replace(log, position=deep)).n_results == len(log.row) - 1


@pytest.mark.parametrize("n_folds", [1, 10_000])
def test_there_are_at_least_two_folds_and_no_more_than_sessions(simulated, n_folds):
    with pytest.raises(DataError, match=f"{n_folds} folds need at least 2"):
        click_likelihood(simulated[1], n_folds=n_folds)


def test_an_engine_that_never_varies_cannot_be_judged():
    data = make_search_data(30, random_state=4)
    log = make_click_log(data, data.X[:, 0], n_sessions=300, exploration=0.0)
    with pytest.raises(DataError, match="The position bias cannot be estimated"):
        click_likelihood(log)
