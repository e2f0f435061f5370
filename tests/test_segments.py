"""Quality by segments of queries: planted losses are named, intervals cover, and pages show them."""

import json

import numpy as np
import pandas as pd
import pytest

from browser import browser, count, shown
from command_line import done, folder, refused
from rankwise import DataError, make_report, make_search_data
from rankwise.preferences.queries import group_rows
from rankwise.report.segments import segment_facts
from rankwise.rows.column import column_of_objects

__all__ = ["browser", "done", "folder", "refused"]  # fixtures


def facts_of(gains, **columns):
    queries = group_rows(np.arange(len(gains)), len(gains))
    of = {name: column_of_objects(list(values)) for name, values in columns.items()}
    values = {"ndcg": {"old": np.full(len(gains), 0.5), "new": 0.5 + gains}}
    return segment_facts({"values": values, "changes": {"ndcg": {"new": gains}}}, queries, of)


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


def test_dates_are_cut_into_bins_whose_names_differ():
    gains = np.random.default_rng(0).normal(size=200)
    days = np.datetime64("2026-01-01", "us") + np.arange(200) * np.timedelta64(1, "D")
    near = 1e6 + np.arange(200) * 1e-3
    found = facts_of(gains, first_seen=days.tolist(), near=near)
    assert found[0]["segment"].startswith("2026-")
    assert all(39 <= fact["queries"] <= 41 for fact in found)
    assert len({fact["segment"] for fact in found}) == 10


def test_a_single_ranker_has_means_with_intervals():
    values = np.random.default_rng(0).random(60)
    queries = group_rows(np.arange(60), 60)
    per_query = {"values": {"ndcg": {"only": values}}, "changes": {"ndcg": {}}}
    [fact] = segment_facts(per_query, queries, {"shop": column_of_objects(["main"] * 60)})
    assert fact["mean"] == pytest.approx(values.mean())
    assert fact["margin"] == pytest.approx(2.0 * values.std(ddof=1) / 60**0.5, rel=0.01)
    assert "gain" not in fact


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
    with pytest.raises(DataError, match="'price' varies within a query"):
        segment_facts({}, group_rows([1, 1], 2), {"price": column_of_objects([1.0, 2.0])})
    with pytest.raises(DataError, match="'price' has 3 values, but the data has 2 rows"):
        segment_facts({}, group_rows([1, 1], 2), {"price": column_of_objects([1.0, 2.0, 2.0])})


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A table of queries on two devices, and scores of which some are poor on laptops."""
    folder = tmp_path_factory.mktemp("shop")
    data = make_search_data(60, random_state=4)
    mobile = data.queries.query_of_row() % 2 == 0
    rows = pd.DataFrame({"qid": data.qid, "label": data.y, "mobile": mobile, "x": np.arange(data.n_rows)})
    rows.to_csv(folder / "test.csv", index=False)
    for name, scores in (("good", data.y), ("half", np.where(mobile, data.y, -data.y))):
        (folder / name).write_text("".join(f"{score}\n" for score in scores), encoding="utf-8")
    return folder


def test_the_command_divides_queries_by_columns_of_the_table(done, refused, shop):
    command = ["compare", shop / "good", shop / "half", "--data", shop / "test.csv"]
    facts = json.loads(done(*command, "--by", "mobile", "--measures", "ndcg@10", "--json"))
    segments = facts["segments"]
    assert {fact["segment"]: fact["verdict"] for fact in segments} == {"true": "", "false": "loses"}
    assert "half clearly loses ndcg@10 in: mobile false" in " ".join(facts["answer"])
    rows = pd.read_csv(shop / "test.csv")
    relevant = rows.groupby("qid").agg({"label": "max", "mobile": "first"}).query("label > 0")
    assert {fact["segment"] == "true": fact["queries"] for fact in segments} == dict(
        relevant["mobile"].value_counts()
    )
    assert "Changes against good by segment" in done(*command, "--by", "mobile")
    assert "| mobile | false | ndcg@10 | `half` |" in done(*command, "--by", "mobile", "--markdown")
    assert "'x' varies within a query" in refused(*command, "--by", "x", code=1)
    assert refused("compare", "model", "test.txt", "--data", "test.txt", "--by", "mobile", code=1)


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_shows_segments_in_any_window(done, shop, browser, tmp_path, width):
    command = ["report", shop / "good", shop / "half", "--data", shop / "test.csv", "--by", "mobile"]
    facts = json.loads(done(*command, "--out", tmp_path / "page.html", "--json"))
    browser.resize(width, 900, mobile=width == 400)
    browser.open(tmp_path / "page.html")
    first = [fact for fact in facts["segments"] if fact["measure"] == "ndcg@10"]
    assert shown(browser, "#segments tbody th") == [fact["segment"] for fact in first]
    assert shown(browser, "#segments .down") == ["loses"]
    assert count(browser, "#segments circle") == 2
    browser.js(
        "(() => { const c = document.querySelector('[data-control=\"segments by\"]'); c.value = 'map';"
        "c.dispatchEvent(new Event('change')); })()"
    )
    assert f"{facts['segments'][2]['mean']:.4f}" in shown(browser, "#segments td")
    assert browser.js("document.documentElement.scrollWidth") <= width
    assert browser.complaints() == []


def test_the_page_of_a_single_ranker_shows_its_means(done, shop, browser, tmp_path):
    command = ["report", shop / "half", "--data", shop / "test.csv", "--by", "mobile", "--json"]
    facts = json.loads(done(*command, "--out", tmp_path / "page.html"))
    browser.resize(1000, 900)
    browser.open(tmp_path / "page.html")
    mean = facts["segments"][0]["mean"]
    assert shown(browser, "#segments td:last-child")[0].startswith(f"{mean:.4f} ± ")
    assert browser.complaints() == []


def test_reports_in_python_take_a_frame():
    data = make_search_data(50, random_state=4)
    device = np.where(data.queries.query_of_row() % 2, "phone", "laptop")
    models = {"first": data.X[:, 0], "second": data.X[:, 1]}
    facts = make_report(models, data, by=pd.DataFrame({"device": device})).facts
    assert {fact["segment"] for fact in facts["segments"]} == {"phone", "laptop"}
