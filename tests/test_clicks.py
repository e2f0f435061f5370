"""Click logs as people have them: frames, matched to rows, and turned into something to learn from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from rankwise import (
    ClickLog,
    DataError,
    ParameterError,
    RankingData,
    RankRLS,
    click_likelihood,
    grades_from_clicks,
    make_click_log,
    make_search_data,
    pairs_from_clicks,
    rows_from_clicks,
)
from rankwise.data.click_likelihood import ClickLikelihood

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
NAMES = {"query": "query", "doc": "doc", "position": "rank", "clicked": "click", "session": "visit"}
SHOWN = {
    "visit": ["s2", "s2", "s1", "s1", "s2", "s3"],
    "query": ["hats", "hats", "hats", "hats", "shoes", "shoes"],
    "doc": [7, 8, 8, 7, 7, 9],
    "rank": [1, 2, 1, 2, 1, 1],
    "click": [0, 1, 1, 0, 1, 0],
    "browser": ["a", "b", None, "a", "b", "a"],
}
ROWS = RankingData.from_arrays(
    np.arange(8.0).reshape(4, 2),
    np.zeros(4),
    qid=["shoes", "hats", "shoes", "hats"],
    docs=["9", "8", "7", "7"],
)


@pytest.fixture(params=LIBRARIES, ids=str)
def library(request):
    return LIBRARIES[request.param]


def read(columns, make=pd.DataFrame, **more):
    return ClickLog.from_frame(make(columns), **{**NAMES, "propensity": 1.0, **more})


def test_every_library_gives_the_same_log(library):
    log = read(SHOWN, library)
    assert str(log) == "ClickLog(4 sessions, 6 results shown, 3 clicks)"  # s2 issues two queries
    assert log.session.tolist() == [0, 0, 1, 1, 2, 3]
    assert log.row.tolist() == [0, 1, 1, 0, 2, 3]
    assert log.position.tolist() == SHOWN["rank"]
    assert log.clicked.tolist() == [False, True, True, False, True, False]
    assert log.qid.tolist() == ["hats", "hats", "shoes", "shoes"]
    assert log.docs.tolist() == [7, 8, 7, 9]


def test_rows_are_found_by_query_and_document_whatever_the_type_of_their_labels(library):
    log = read(SHOWN, library).match(ROWS)
    assert log.row.tolist() == [3, 1, 1, 3, 2, 0]
    assert log.docs is None


def test_positions_and_clicks_may_be_whole_floats_and_booleans(library):
    columns = SHOWN | {
        "rank": [1.0, 2.0, 1.0, 2.0, 1.0, 1.0],
        "click": [False, True, True, False, True, False],
    }
    log = read(columns, library)
    assert log.position.tolist() == SHOWN["rank"]
    assert log.clicked.sum() == 3


def test_numbers_and_booleans_may_be_objects_as_after_filling_in_what_a_join_left_open():
    shown = pd.DataFrame(SHOWN | {"click": np.array(SHOWN["click"], dtype=bool)}).astype(object)
    assert read(shown).clicked.tolist() == read(SHOWN).clicked.tolist()
    assert read(shown).position.tolist() == SHOWN["rank"]


@pytest.mark.parametrize("kind", ["category", "string", "string[pyarrow]"])
def test_labels_may_be_of_any_type_of_pandas(kind):
    shown = pd.DataFrame(SHOWN)
    typed = shown.assign(query=shown["query"].astype(kind), visit=shown["visit"].astype(kind))
    assert read(typed).match(ROWS).row.tolist() == [3, 1, 1, 3, 2, 0]


def test_propensities_are_estimated_read_from_a_column_or_equal(library):
    look = [1.0, 0.5, 1.0, 0.5, 1.0, 1.0]
    assert read(SHOWN | {"look": look}, library, propensity="look").propensity.tolist() == look
    assert read(SHOWN, library).propensity.tolist() == [1.0] * 6
    estimated = read(SHOWN, library, propensity=None)
    arrays = (estimated.session, estimated.row, estimated.position, estimated.clicked)
    expected = ClickLog.from_arrays(*arrays).propensity
    np.testing.assert_array_equal(estimated.propensity, expected)
    np.testing.assert_array_equal(read(SHOWN, library).with_propensity().propensity, expected)


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"rank": [1, np.nan, 1, 2, 1, 1]}, "Column 'rank' has a missing value"),
        ({"rank": [0, 1, 0, 1, 0, 0]}, "Column 'rank' must be at least 1, .* entry 0 is 0; add 1 if the log"),
        (
            {"rank": [1, -2, 1, 2, 1, 1]},
            r"Column 'rank' must be at least 1, the top of the list; entry 1 is -2\.",
        ),
        ({"rank": [1, 1.5, 1, 2, 1, 1]}, r"Column 'rank' must contain integers; entry 1 is 1\.5"),
        (
            {"rank": 1_700_000_000 + np.arange(6)},
            "entry 5 is 1700000005, which looks like a time stamp or an id",
        ),
        ({"rank": np.arange(2**63, 2**63 + 6, dtype=np.uint64)}, "which looks like a time stamp"),
        (
            {"rank": pd.Timestamp("2026-01-05")},
            "Column 'rank' must contain integers, .* contains dates or times",
        ),
        (
            {"rank": list("abcdef")},
            "Column 'rank' must contain integers, one per result shown; entry 0 is 'a'",
        ),
        ({"click": [0, 3, 1, 0, 1, 0]}, "Column 'click' must be 0 or 1; entry 1 is 3"),
        ({"click": ["no", "yes", "yes", "no", "yes", "no"]}, "Column 'click' must contain integers, .* 'no'"),
        (
            {"click": [0] * 6},
            "Column 'click' has no clicks: there is nothing to learn unless some results were c",
        ),
        (
            {"click": [1] * 6},
            "has only clicks: there is nothing to learn unless some results were not clicked",
        ),
        ({"click": [0, None, 1, 0, 1, 0]}, "Column 'click' has a missing value in row 1"),
        ({"query": ["hats", None, "hats", "hats", "a", "a"]}, "Column 'query' has a missing value in row 1"),
        (
            {"doc": [7, 7, 8, 7, 7, 9]},
            "Entries 0 and 1 .counting from 0. are the same result in one session: a log has",
        ),
        (
            {"rank": [1, 1, 1, 2, 1, 1]},
            "Entries 0 and 1 .counting from 0. are different results at position 1 of one session",
        ),
    ],
)
def test_a_bad_column_is_one_sentence(changed, message):
    with pytest.raises(DataError, match=message) as refused:
        read(SHOWN | changed)
    assert "\n" not in str(refused.value)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_a_position_that_is_nan_but_not_null_is_missing(make):
    with pytest.raises(DataError, match=r"Column 'rank' has a missing value"):
        read(SHOWN | {"rank": [1.0, np.nan, 1.0, 2.0, 1.0, 1.0]}, make)


def test_an_unknown_column_is_named_with_a_suggestion(library):
    with pytest.raises(DataError, match="The table has no column 'sesion'; did you mean 'session'"):
        read({**SHOWN, "session": SHOWN["visit"]}, library, session="sesion")


def test_a_log_that_needs_more_exploration_says_that_it_can_go_uncorrected():
    columns = {key: values[:2] for key, values in SHOWN.items()}
    with pytest.raises(DataError, match=r"the log needs more exploration or known propensities \(1 for no"):
        read(columns, propensity=None)
    assert read(columns).propensity.tolist() == [1.0, 1.0]


def test_results_without_features_are_counted_and_left_out_but_tell_where_users_look():
    log = read(SHOWN, propensity=None)
    with pytest.warns(UserWarning, match="1 of 6 results shown, and 1 of 4 documents, are not in the data"):
        kept = log.match(ROWS.select([1, 2, 3]))
    assert kept.row.tolist() == [2, 0, 0, 2, 1]
    np.testing.assert_array_equal(kept.propensity, log.propensity[:5])


def test_a_log_of_other_documents_shows_a_name_from_both_sides():
    elsewhere = RankingData.from_arrays(np.eye(2), [0, 0], qid=["coats"] * 2, docs=["u1", "u2"])
    expected = "the log starts with the document '7' of the query 'hats', the data with 'u1' of 'coats'"
    with pytest.raises(DataError, match=expected):
        read(SHOWN).match(elsewhere)


@pytest.mark.parametrize(
    "data, message",
    [
        (ROWS.select([0, 1, 1, 2, 3]), "The query 'hats' of the data contains the document '8' 2 times"),
        (RankingData.from_arrays(np.eye(2), [0, 1], ["hats"] * 2), "the data has no document labels"),
        (RankingData.from_arrays(np.eye(2), [0, 1], docs=[7, 8]), "the data has no query labels"),
    ],
)
def test_data_in_which_a_result_cannot_be_found_is_one_sentence(data, message):
    with pytest.raises(DataError, match=message):
        read(SHOWN).match(data)


def test_a_log_that_names_documents_must_be_matched_before_it_is_learned_from():
    log = read(SHOWN)
    for learn in (lambda: pairs_from_clicks(log), lambda: rows_from_clicks(log, ROWS)):
        with pytest.raises(DataError, match=r"The log names documents; log.match\(data\) finds their rows"):
            learn()
    with pytest.raises(DataError, match="refers to rows by number, so there are no labels to match"):
        log.match(ROWS).match(ROWS)


@pytest.mark.parametrize("size", [2, 5, 20])
def test_duplicates_are_found_as_brute_force_finds_them(size):
    rng = np.random.default_rng(size)
    for _ in range(200):
        session, row = rng.integers(0, 4, size), rng.integers(0, 12, size)
        seen, expected = {}, None
        for entry, key in enumerate(zip(session.tolist(), row.tolist(), strict=True)):
            if key in seen:
                expected = (seen[key], entry)
                break
            seen[key] = entry
        arguments = (session, row, np.arange(1, size + 1), np.arange(size) % 2, 1.0)
        if expected is None:
            assert ClickLog.from_arrays(*arguments).row.tolist() == row.tolist()
        else:
            first, second = expected
            with pytest.raises(
                DataError, match=f"^Entries {first} and {second} .counting from 0. are the same"
            ):
                ClickLog.from_arrays(*arguments)


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
    rows, weight = rows_from_clicks(log, data, prior_clicks=prior)
    clicks, exposure = click_counts(log, data)
    shown = exposure > 0
    expected = exposure[shown] * clicks.sum() / exposure.sum()
    np.testing.assert_array_equal(rows.X, data.X[shown])
    np.testing.assert_array_equal(rows.qid, data.qid[shown])
    np.testing.assert_array_equal(rows.docs, data.docs[shown])
    np.testing.assert_allclose(rows.y, clicks[shown] / expected)
    np.testing.assert_allclose(weight, expected / (expected + prior))
    # An average row is labelled 1.
    np.testing.assert_allclose(np.average(rows.y, weights=expected), 1.0)


def test_labels_do_not_depend_on_the_scale_of_the_propensities(simulated):
    data, log = simulated
    once, half = (rows_from_clicks(replace(log, propensity=log.propensity * s), data) for s in (1.0, 0.5))
    np.testing.assert_allclose(once.data.y, half.data.y)
    np.testing.assert_allclose(once.weight, half.weight)


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
    with pytest.raises(DataError, match=r"No row has 1000 expected clicks \(min_expected\); the most are"):
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
    corrected, plain = (rows_from_clicks(log.with_propensity(p), data).data.y for p in (None, 1.0))
    attraction = 0.05 + 0.95 * (2**y - 1) / 7
    np.testing.assert_allclose(corrected / corrected[0], attraction / attraction[0], atol=0.03)
    assert np.abs(plain / plain[0] - attraction / attraction[0]).max() > 0.15


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
    models = [RankRLS().fit(rows.X, rows.y, rows.qid, sample_weight=w) for rows, w in (found, expected)]
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
    assert found.data.X.dtype == changed.X.dtype
    assert abs(found.data.X - form(data.X)[shown]).max() == 0
    np.testing.assert_allclose(found.data.y, expected.data.y[place])
    np.testing.assert_allclose(found.weight, expected.weight[place])
