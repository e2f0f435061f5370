"""Changes by segments of queries: planted losses are named, and intervals cover."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import done, folder, refused
from rankwise import DataError, make_search_data
from rankwise.preferences.queries import group_rows
from rankwise.report.segments import segment_facts
from rankwise.rows.column import column_of_objects

__all__ = ["done", "folder", "refused"]  # fixtures


def facts_of(gains, **columns):
    queries = group_rows(np.arange(len(gains)), len(gains))
    of = {name: column_of_objects(list(values)) for name, values in columns.items()}
    return segment_facts({"ndcg": {"new": list(gains)}}, queries, of)


def test_a_segment_that_loses_is_named_and_small_ones_are_pooled():
    rng = np.random.default_rng(0)
    device = rng.choice(["phone", "laptop", "tablet", "watch", "tv"], 600, p=[0.5, 0.3, 0.16, 0.02, 0.02])
    gains = rng.normal(0.0, 0.1, 600) - 0.08 * (device == "tablet")
    found = {fact["segment"]: fact for fact in facts_of(gains, device=device)}
    assert list(found) == ["phone", "laptop", "tablet", "others (2)"]
    assert {name: fact["verdict"] for name, fact in found.items() if fact["verdict"]} == {"tablet": "loses"}
    assert found["tablet"]["gain"] == pytest.approx(gains[device == "tablet"].mean())
    assert sum(fact["queries"] for fact in found.values()) == 600


def test_numbers_are_cut_into_bins_and_queries_without_a_value_do_not_count():
    gains = np.append(np.random.default_rng(0).normal(size=200), np.nan)
    found = facts_of(gains, length=np.append(np.arange(200.0), 3.0), grade=np.arange(201) % 3)
    assert len([fact for fact in found if fact["column"] == "length"]) == 5
    assert [fact["segment"] for fact in found if fact["column"] == "grade"] == ["0", "1", "2"]
    assert sum(fact["queries"] for fact in found) == 400


def test_intervals_cover_and_no_segment_loses_by_chance():
    rng, covered, named = np.random.default_rng(0), [], 0
    for _ in range(40):
        device = rng.choice(["a", "b", "c", "d"], 400)
        found = facts_of(rng.normal(0.01, 0.1, 400), device=device)
        covered += [abs(fact["gain"] - 0.01) <= fact["margin"] for fact in found]
        named += any(fact["verdict"] == "loses" for fact in found)
    assert 0.9 < np.mean(covered) < 0.99
    assert named <= 4


def test_columns_that_differ_within_a_query_are_refused():
    with pytest.raises(DataError, match="'price' differs within a query"):
        segment_facts({}, group_rows([1, 1], 2), {"price": column_of_objects([1.0, 2.0])})


def test_the_command_divides_queries_by_columns_of_the_table(done, refused, folder, tmp_path):
    data = make_search_data(60, random_state=4)
    mobile = data.queries.query_of_row() % 2 == 0
    rows = pd.DataFrame({"qid": data.qid, "label": data.y, "mobile": mobile, "x": np.arange(data.n_rows)})
    rows.to_csv(tmp_path / "test.csv", index=False)
    for name, scores in (("good", data.y), ("half", np.where(mobile, data.y, -data.y))):
        (tmp_path / name).write_text("".join(f"{score}\n" for score in scores), encoding="utf-8")
    command = ["compare", tmp_path / "good", tmp_path / "half", "--data", tmp_path / "test.csv"]
    segments = json.loads(done(*command, "--by", "mobile", "--measures", "ndcg@10", "--json"))["segments"]
    assert {fact["segment"]: fact["verdict"] for fact in segments} == {"true": "", "false": "loses"}
    relevant = rows.groupby("qid").agg({"label": "max", "mobile": "first"}).query("label > 0")
    assert {fact["segment"] == "true": fact["queries"] for fact in segments} == dict(
        relevant["mobile"].value_counts()
    )
    assert "Changes against good by segment" in done(*command, "--by", "mobile")
    assert "'x' differs within a query" in refused(*command, "--by", "x", code=1)
    lost = ["compare", "model", "test.txt", "--data", "test.txt", "--by", "mobile"]
    assert refused(*lost, code=1)
