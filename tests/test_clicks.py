"""Click logs as people have them: frames, checked and matched to rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rankwise import (
    ClickLog,
    DataError,
    RankingData,
    pairs_from_clicks,
    rows_from_clicks,
)

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
