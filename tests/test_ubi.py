"""Logs of User Behavior Insights become click logs."""

import json
import lzma

import numpy as np
import pandas as pd
import pytest

from rankwise.clicks import ClickLog
from rankwise.errors import FileFormatError
from rankwise.readers.ubi import load_ubi


def event(query_id, action, doc=None, place=None, **more):
    attributes = None if doc is None else {"object": {"object_id": doc}, "position": {"ordinal": place}}
    return {"query_id": query_id, "action_name": action, "event_attributes": attributes, **more}


ENTRIES = [
    # Events may come before their query, whose text they need not have. Positions count from 0.
    event("1", "impression", "a", 0),
    event("1", "impression", "b", 1),
    event("1", "impression", "b", 1),
    event("1", "click", "b", 1),
    event("1", "click", "b", 1),
    event("1", "purchase", "b"),
    {"query_id": "1", "user_query": "red shoes"},
    # Sorted by the user: two results at one place are two pages.
    event("2", "impression", "a", 0, user_query="red shoes"),
    event("2", "impression", "c", 0, user_query="red shoes"),
    event("2", "search"),
    # Without impressions, what the engine returned was shown; and what was clicked, in any case.
    {"query_id": "3", "user_query": "hat", "query_response_hit_ids": ["h1", 7]},
    event("3", "click", "7", 0),
    event("3", "click", "h9", 4),
    # Unknown: a query without text, an action on what was not shown.
    event("4", "click", "a", 0),
    event("1", "purchase", "z"),
]
EXPECTED = [
    ("1/1", "red shoes", "b", 2, 1, 1),
    ("1/1", "red shoes", "a", 1, 0, 0),
    ("2/1", "red shoes", "a", 1, 0, 0),
    ("2/2", "red shoes", "c", 1, 0, 0),
    ("3/1", "hat", "7", 2, 1, 0),
    ("3/1", "hat", "h9", 5, 1, 0),
    ("3/1", "hat", "h1", 1, 0, 0),
]


def written(path, form):
    lines = [json.dumps(entry) for entry in ENTRIES]
    if form == "bulk":
        lines = [line for entry in lines for line in ('{"index": {"_index": "ubi_events"}}', entry)]
    elif form == "exported":
        lines = [json.dumps({"_index": "ubi", "_source": entry}) for entry in ENTRIES]
    elif form == "one list":
        lines = [json.dumps(ENTRIES, indent=1)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["lines", "bulk", "exported", "one list"])
def test_queries_and_events_are_results_shown_and_what_was_done_with_them(tmp_path, form):
    path = written(tmp_path / "ubi.ndjson", form)
    with pytest.warns(UserWarning, match="2 actions on results that were not shown are left out"):
        table = load_ubi(path)
    assert table.column_names == ["session", "qid", "doc", "position", "click", "purchase"]
    assert sorted(zip(*table.to_pydict().values(), strict=True)) == sorted(EXPECTED)


@pytest.mark.filterwarnings("ignore:.*actions on results")
def test_positions_of_an_application_that_counts_from_1_stay(tmp_path):
    entries = [
        event(str(q), "impression", f"d{place}", place, application="one", user_query="x")
        for q in range(3)
        for place in (1, 2)
    ]
    entries += [
        event("9", "impression", "d0", 0, application="zero", user_query="x"),
        event("9", "click", "d0", 0, application="zero"),
    ]
    path = tmp_path / "ubi.ndjson"
    path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    assert load_ubi(path)["position"].to_pylist() == [1, 2] * 3 + [1]


@pytest.mark.filterwarnings("ignore:.*actions on results")
def test_signals_of_a_log_are_its_actions(tmp_path):
    path = written(tmp_path / "ubi.ndjson", "bulk")
    assert repr(ClickLog.from_ubi(path, propensity=1.0)) == "ClickLog(4 sessions, 7 results shown, 3 clicks)"
    log = ClickLog.from_ubi(path, clicked={"click": 1, "purchase": 5}, propensity=1.0)
    assert sorted(log.value) == [0, 0, 0, 0, 1, 1, 6]
    with pytest.raises(FileFormatError, match=r"ubi.ndjson: .*no column 'buy'"):
        ClickLog.from_ubi(path, clicked="buy")


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "the file is empty; expected queries and events as JSON"),
        ("[1]", "expected an object; found '1'"),
        ('{"a": 1}\n{"query_id":', "line 2: not valid JSON"),
        ('{"query_id": "1", "user_query": "x"}', "no query with a text has results"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path, text, message):
    (tmp_path / "ubi.ndjson").write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message):
        ClickLog.from_ubi(tmp_path / "ubi.ndjson")


@pytest.mark.filterwarnings("ignore:.*actions on results")
def test_the_sample_of_opensearch_is_read_as_pandas_counts_it(shared_data):
    path = shared_data / "ubi" / "ubi_queries_events.ndjson.xz"
    if not path.exists():
        pytest.skip("the log is not here")
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    entries = [json.loads(line) for line in lines]
    events = pd.DataFrame([entry for entry in entries if entry.get("application") == "esci_ubi_sample"])
    events = events[events["action_name"].notna()]
    table = load_ubi(path).to_pandas()
    own = table[table["session"].str.rpartition("/")[0].isin(events["query_id"])]
    counts = events["action_name"].value_counts()
    assert len(own) == counts["impression"]
    assert own["click"].sum() == counts["click"]
    np.testing.assert_array_equal(np.bincount(own["position"])[1:], [200] * 5)
