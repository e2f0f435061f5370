"""The simulated search engine and its click log."""

import lzma
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from rankwise import (
    ClickLog,
    DataError,
    ParameterError,
    RankingData,
    RankRLS,
    click_likelihood,
    make_click_log,
    make_search_data,
    pairs_from_clicks,
)
from rankwise.metrics import pairwise_error


@pytest.fixture(scope="module")
def data():
    return make_search_data(200, random_state=0)


def test_the_same_seed_gives_the_same_bits_in_another_process():
    script = (
        "import hashlib, rankwise; d, log = rankwise.make_search_data(30, random_state=5, clicks=True);"
        "print(hashlib.sha256(b''.join(a.tobytes() for a in "
        "(d.X, d.y, d.qid, d.docs, log.session, log.row, log.clicked, log.propensity))).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
        ).stdout
        for _ in range(2)
    }
    assert len(digests) == 1
    assert not np.array_equal(make_search_data(30, random_state=5).X, make_search_data(30, random_state=6).X)


def test_the_data_looks_like_a_judgment_list(data):
    assert data.n_queries == 200
    assert data.X.shape == (data.n_rows, len(data.feature_names))
    assert len(set(data.feature_names)) == len(data.feature_names) >= 15
    assert set(data.y) == {0.0, 1.0, 2.0, 3.0, 4.0}
    shares = np.bincount(data.y.astype(int)) / data.n_rows
    assert (np.diff(shares) < 0).all()
    sizes = data.queries.sizes
    assert 15 < sizes.mean() < 25
    assert (sizes == 1).any()
    assert sizes.max() > 2 * np.median(sizes)
    best = [data.y[data.qid == q].max() for q in range(1, 201)]
    assert 0 < np.count_nonzero(np.equal(best, 0)) < 40


def test_a_document_appears_once_in_a_query_and_is_the_same_in_every_query(data):
    seen = list(zip(data.qid, data.docs, strict=True))
    assert len(set(seen)) == len(seen)
    assert len(set(data.docs)) < data.n_rows
    for name in ("popularity", "log_inlinks", "rating", "age_days", "price", "in_stock", "title_length"):
        column = data.X[:, data.feature_names.index(name)]
        assert len(set(zip(data.docs, column, strict=True))) == len(set(data.docs)), name


def test_differences_inside_queries_beat_regression_and_every_single_feature():
    for seed in range(3):
        train, test = make_search_data(600, random_state=seed).split(0.7)
        error = {
            "rank": pairwise_error(
                test.y, RankRLS(alpha=1.0).fit(train.X, train.y, train.qid).predict(test.X), test.qid
            ),
            "regression": pairwise_error(test.y, Ridge().fit(train.X, train.y).predict(test.X), test.qid),
            "single": min(pairwise_error(test.y, sign * x, test.qid) for x in test.X.T for sign in (1, -1)),
        }
        assert error["rank"] < 0.85 * error["regression"], error
        assert error["rank"] < 0.75 * error["single"], error


@pytest.mark.parametrize(
    "options, message",
    [
        ({"n_queries": 0}, "'n_queries' parameter must be a whole number of at least 1; got 0"),
        ({"n_queries": 2.5}, "'n_queries' parameter must be a whole number"),
        ({"mean_rows": 0.5}, "'mean_rows' parameter must be a finite number of at least 1; got 0.5"),
        ({"noise": -1}, "'noise' parameter must be a finite number of at least 0; got -1"),
    ],
)
def test_impossible_simulations_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        make_search_data(**options)


def test_tiny_simulations_work():
    for seed in range(20):
        assert make_search_data(1, mean_rows=1, random_state=seed).n_queries == 1
    _, log = make_search_data(2, mean_rows=1, random_state=1, clicks=True)
    assert log.n_sessions == 40


def test_a_session_shows_distinct_rows_of_one_query_in_places_from_one(data):
    log = make_click_log(data, data.X[:, 0], n_sessions=300, n_shown=7, random_state=1)
    assert log.n_sessions == 300
    for session in range(300):
        rows = log.row[log.session == session]
        assert len(set(rows)) == len(rows) == min(7, np.count_nonzero(data.qid == data.qid[rows[0]]))
        assert len(set(data.qid[rows])) == 1
        assert log.position[log.session == session].tolist() == list(range(1, len(rows) + 1))


def test_without_exploration_the_engine_shows_its_best_rows_in_order(data):
    scores = data.X[:, 1]
    log = make_click_log(data, scores, n_sessions=50, exploration=0.0)
    for session in range(50):
        rows = log.row[log.session == session]
        best = np.sort(scores[data.qid == data.qid[rows[0]]])[::-1][:10]
        np.testing.assert_array_equal(scores[rows], best)


def test_clicks_fall_with_position_and_rise_with_grade(data):
    log = make_click_log(data, np.zeros(data.n_rows), n_sessions=20000, random_state=2)
    rate = [log.clicked[log.position == k].mean() for k in (1, 3, 9)]
    assert rate[0] > 2 * rate[1] > 4 * rate[2]
    first = log.position == 1
    by_grade = [log.clicked[first & (data.y[log.row] == g)].mean() for g in range(5)]
    np.testing.assert_allclose(by_grade, 0.1 + 0.9 * (2.0 ** np.arange(5) - 1) / 15, atol=0.03)


def test_rows_in_any_order_are_shown_under_their_own_numbers(data):
    order = np.random.default_rng(0).permutation(data.n_rows)
    shuffled = data.select(order)
    log = make_click_log(shuffled, shuffled.X[:, 0], n_sessions=100)
    for session in range(100):
        assert len(set(shuffled.qid[log.row[log.session == session]])) == 1


def test_clicks_need_grades(data):
    with pytest.raises(DataError, match="negative labels"):
        make_click_log(RankingData.from_arrays(data.X, data.y - 1, data.qid), data.y)


def test_pairs_are_clicked_rows_against_the_rest_of_their_session():
    log = ClickLog(
        session=np.array([7, 7, 7, 4, 4, 9, 4]),
        row=np.array([3, 1, 2, 3, 1, 5, 0]),
        position=np.array([1, 2, 3, 2, 1, 1, 3]),
        clicked=np.array([False, True, True, False, True, True, False]),
        propensity=np.array([1.0, 0.5, 0.25, 0.5, 1.0, 1.0, 0.25]),
    )
    pairs, weight = pairs_from_clicks(log)
    found = {tuple(pair): w for pair, w in zip(pairs.tolist(), weight.tolist(), strict=True)}
    assert found == {(1, 3): 2 + 1, (1, 2): 2, (2, 3): 4, (2, 1): 4, (1, 0): 1}
    assert pairs_from_clicks(log, max_weight=3).weight.max() == 3
    with pytest.raises(ParameterError, match="'max_weight' parameter must be a finite number above 0"):
        pairs_from_clicks(log, max_weight=0)


def test_a_log_without_clicks_gives_no_pairs():
    log = ClickLog(np.zeros(2, int), np.arange(2), np.arange(1, 3), np.zeros(2, bool), np.ones(2))
    pairs, weight = pairs_from_clicks(log)
    assert pairs.shape == (0, 2)
    assert weight.shape == (0,)


def test_inverse_propensities_undo_the_position_bias():
    """The weight of i above j is, per session, how often i is clicked if examined, where both were shown."""
    y = np.array([3.0, 2.0, 0.0])
    data = RankingData.from_arrays(np.eye(3), y, [1, 1, 1])
    n = 60000
    # The engine prefers the worst row, and nearly always shows it first.
    log = make_click_log(data, -y, n_sessions=n, exploration=0.5, click_noise=0.05, random_state=0)
    pairs, weight = pairs_from_clicks(log)
    expected = 0.05 + 0.95 * (2**y - 1) / 7
    np.testing.assert_allclose(weight / n, expected[pairs[:, 0]], rtol=0.05)
    naive = pairs_from_clicks(
        ClickLog(log.session, log.row, log.position, log.clicked, np.ones_like(log.propensity))
    )
    assert (naive.weight / n)[pairs[:, 0] == 0].max() < 0.6 * expected[0]


def raw(log):
    """What a real log contains: everything but the propensities."""
    return log.session, log.row, log.position, log.clicked


@pytest.mark.parametrize("bias", [0.0, 0.5, 1.0])
def test_the_position_bias_is_found_from_the_clicks_alone(data, bias):
    simulated = make_click_log(
        data, data.X[:, 0], n_sessions=60_000, position_bias=bias, exploration=1.0, n_shown=6
    )
    estimated = ClickLog.from_arrays(*raw(simulated))
    np.testing.assert_allclose(estimated.propensity, simulated.propensity, rtol=0.08)


def test_expected_clicks_of_places_and_rows_are_those_observed(data):
    session, row, position, clicked = raw(
        make_click_log(data, data.X[:, 0], n_sessions=3000, exploration=1.0)
    )
    look = ClickLog.from_arrays(session, row, position, clicked).propensity
    liking = np.bincount(row, clicked) / np.maximum(np.bincount(row, look), 1e-300)
    expected = look * liking[row]
    for groups in (position, row):
        np.testing.assert_allclose(np.bincount(groups, expected), np.bincount(groups, clicked), atol=1e-4)


def test_an_engine_that_never_explores_hides_the_position_bias(data):
    log = make_click_log(data, data.X[:, 0], n_sessions=500, exploration=0.0)
    with pytest.raises(DataError, match="no rows link positions 1 and 2 by being shown at both"):
        ClickLog.from_arrays(*raw(log))


def test_sessions_may_have_any_labels():
    log = ClickLog.from_arrays(["b", "a", "b"], [4, 5, 6], [1, 1, 2], [0, 1, 1], [1.0, 1.0, 0.5])
    assert log.session.tolist() == [0, 1, 0]
    assert pairs_from_clicks(log).pairs.tolist() == [[6, 4]]
    assert pairs_from_clicks(log).weight.tolist() == [2.0]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([1, 1], [0, 1], [1, 2], [0, 2]), "clicked must be 0 or 1; entry 1 is 2"),
        (
            ([1, 1], [0, 1], [0, 2], [0, 1]),
            "position must be at least 1, the top of the list; entry 0 is 0; add 1 if the log counts from 0",
        ),
        (([1, 1], [0, -1], [1, 2], [0, 1]), "row must be at least 0; entry 1 is -1"),
        (([1, 1], [0, 1.5], [1, 2], [0, 1]), "row must contain integers"),
        (([], [], [], []), "row must contain integers"),
        (([1], [0, 1], [1, 2], [0, 1]), "session must have one entry"),
        (([1, 1], [0, 1], [1], [0, 1]), "position must have one entry"),
        (
            ([1, 1], [0, 1], [1, 2], [0, 1], [1.0, 0.0]),
            "propensity must be above 0 and at most 1; entry 1 is 0",
        ),
        (([1, 1], [0, 1], [1, 2], [0, 1], [1.0, np.nan]), "propensity must hold finite numbers; row 1"),
    ],
)
def test_bad_logs_get_one_sentence(arguments, message):
    with pytest.raises(DataError, match=message):
        ClickLog.from_arrays(*arguments, **({} if len(arguments) == 5 else {"propensity": [1.0, 1.0]}))


def test_on_a_real_log_users_look_less_the_further_down(shared_data):
    text = lzma.decompress((shared_data / "clicks" / "trainSample.xz").read_bytes()).decode()
    number, shown = {}, []
    for session, line in enumerate(filter(str.strip, text.split(";"))):
        query, results, clicks = re.split(r"\t|:", line.strip())
        for position, result in enumerate(results.split(","), start=1):
            row = number.setdefault((query, result.strip()), len(number))
            shown.append((session, row, position, result.strip() in map(str.strip, clicks.split(","))))
    log = ClickLog.from_arrays(*zip(*shown, strict=True))
    look = [log.propensity[log.position == position][0] for position in range(1, 11)]
    assert look[0] == 1.0
    assert (np.diff(look[:8]) < 0).all()
    assert 0.15 < look[9] < 0.35
    assert click_likelihood(log).has_bias


def test_habits_are_what_splines_learn_and_lines_cannot():
    for habits, least, most in ((0.0, -0.02, 0.01), (1.0, 0.03, 1.0)):
        train, test = make_search_data(400, random_state=0, habits=habits).split(0.5)
        error = {
            columns: pairwise_error(test.y, RankRLS(columns=columns).fit(train).predict(test), test.qid)
            for columns in ("auto", "spline")
        }
        assert least < error["auto"] - error["spline"] < most


def test_habits_must_not_be_negative():
    with pytest.raises(ParameterError, match="habits"):
        make_search_data(10, habits=-1.0)
