"""The page of a report, for those who read only the first line, follow a link, or look for a title."""

import json

import numpy as np
import pytest

import rankwise
from browser import browser, count, number, shown
from rankwise.report.facts import compared_facts

__all__ = ["browser"]  # a fixture


@pytest.fixture(scope="module")
def parts():
    return rankwise.make_search_data(60, random_state=4).split(0.5)


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a report, which must not complain."""

    def open_page(report, width=1280):
        report.save(tmp_path / "report.html")
        browser.resize(width, 900)
        browser.open(tmp_path / "report.html")
        return browser

    yield open_page
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def report(parts):
    training, test = parts
    names = {str(query): f"text of {query}" for query in test.queries.labels}
    names |= {doc: f"Title of {doc}" for doc in test.docs.tolist()}
    rankers = {
        "title": test.X[:, 0],
        "again": 2.0 * test.X[:, 0],
        "kernel": rankwise.KernelRankRLS(gamma=1e-3).fit(training),
        "model": rankwise.RankRLS().fit(training),
        "spline": rankwise.RankRLS(columns="spline").fit(training),
    }
    return rankwise.make_report(rankers, test, training=training, titles=names)


def decided(changes, measure="pairwise_error"):
    """The verdict on a new ranker that turns the only pair of queries for better (1) or worse (-1)."""
    qid = np.repeat(np.arange(len(changes)), 2)
    y = np.tile([1, 0], len(changes))
    flip = np.repeat(changes, 2)
    old = np.where(flip > 0, 1 - y, y)
    new = np.where(flip < 0, 1 - y, y)
    data = rankwise.RankingData.from_arrays(np.zeros((len(y), 1)), y, qid)
    facts, _ = compared_facts({"old": old, "new": new}, data, [measure])
    return facts["verdict"]["decision"], facts["answer"][0]


@pytest.mark.parametrize(
    ("changes", "decision", "sentence"),
    [
        ([1] * 20 + [-1], "better", ", 20 queries better, 1 worse: ship it."),
        ([-1] * 20 + [1], "worse", ", 1 query better, 20 worse: keep old."),
        ([1, -1] * 8 + [1], "unclear", ", 9 queries better, 8 worse: no reason to switch."),
        ([0] * 9, "equal", "new and old have the same pairwise_error on all 9 queries."),
    ],
)
def test_the_verdict_follows_the_test_whatever_the_direction_of_the_measure(changes, decision, sentence):
    for measure in ("pairwise_error", "ndcg@10"):
        found, said = decided(np.array(changes), measure)
        assert found == decision
        assert said.endswith(sentence.replace("pairwise_error", measure))


def test_without_a_baseline_the_two_best_are_compared_whichever_way_they_were_tested(parts):
    test = parts[1]
    rankers = {"worst": -test.X[:, 0], "best": test.y, "middle": test.X[:, 0]}
    facts, _ = compared_facts(rankers, test, ["ndcg@10"], every_pair=True)
    verdict = facts["verdict"]
    assert (verdict["ranker"], verdict["against"], verdict["decision"]) == ("best", "middle", "better")
    assert verdict["n_better"] > verdict["n_worse"] == 0
    assert verdict["difference"] > 0
    assert facts["answer"][0].endswith("0 worse.")


def test_the_first_line_is_the_verdict_and_its_ranker_is_chosen_below(opened, report):
    page, verdict = opened(report), report.facts["verdict"]
    assert [title.replace("\xa0", " ") for title in shown(page, "h1")] == report.facts["answer"][:1]
    assert page.js("document.querySelector('[data-control=ranker]').value") == verdict["ranker"] != "again"
    drawn = [count(page, f".answer rect.{kind}") for kind in ("up", "down")]
    assert drawn == [verdict["n_better"] + verdict["n_equal"], verdict["n_worse"]]
    assert page.js("document.querySelectorAll('th:not([scope])').length") == 0


@pytest.mark.parametrize("width", [1280, 1000])
def test_tables_fit_the_window_with_an_opened_query(opened, report, width):
    page = opened(report, width)
    page.js("document.querySelector('tr.query button').click()")
    for place in (0, 1):
        page.js(f"document.querySelectorAll('.lists section:nth-child(3) button')[{place}].click()")
    assert count(page, ".why table") >= 2
    # Six lists side by side may scroll, with an edge that shows it.
    tables = "[...document.querySelectorAll('.wide:not(.lists)')]"
    cut = f"{tables}.filter((e) => e.scrollWidth > e.clientWidth).length"
    assert page.js(cut) == 0


def test_contributions_are_to_the_row_that_is_above_and_no_rounding_is_shown(opened, report):
    page = opened(report)
    page.js("document.querySelector('tr.query button').click()")
    for place in (1, 0):
        page.js(f"document.querySelectorAll('.lists section:nth-child(2) button')[{place}].click()")
    differences = [number(text) for text in shown(page, ".why .difference")]
    assert len(differences) == 2
    assert min(differences) >= 0
    shares = [abs(number(text)) for text in shown(page, ".why td:nth-child(4)")]
    assert min(share for share in shares if share) > 1e-9
    assert count(page, ".why details") > 0


def test_a_link_opens_its_query(opened, report, browser, tmp_path):
    page = opened(report)
    page.js("document.querySelector('tr.query button').click()")
    link = page.js("document.querySelector('tr.detail a').getAttribute('href')")
    last = report.facts["queries"]["label"][-1]
    assert link.startswith("#query=")
    page.js(f"location.hash = '#query={last}'")
    page.js("new Promise((done) => setTimeout(done, 50))")
    assert "text of " + last in "".join(shown(page, "tr.query:has([aria-expanded=true]) bdi"))


def test_titles_are_shown_and_searched(opened, report):
    page = opened(report)
    label = report.facts["queries"]["label"][2]
    page.js(
        "(() => { const c = document.querySelector('[data-control=find]');"
        f"c.value = {json.dumps('TEXT OF ' + label)}; c.dispatchEvent(new Event('input')); }})()"
    )
    assert f"text of {label}" in shown(page, "tr.query bdi")
    page.js("document.querySelector('tr.query button').click()")
    assert all(text.startswith("Title of doc") for text in shown(page, ".lists li bdi"))


def test_missing_sections_say_why(opened, report):
    said = " ".join(shown(opened(report), "#not-shown li"))
    assert "Columns: title, again, kernel: scores are not sums over columns" in said
    assert "Choice of alpha: kernel, model, spline: alpha was given" in said
    assert "Number of training queries: kernel, model, spline: not drawn" in said
    assert "if there are at least 32." in said


def test_dates_have_an_axis_of_dates(opened):
    pandas = pytest.importorskip("pandas")
    days = pandas.Timestamp("2019-03-01") + pandas.to_timedelta(np.arange(120) * 20, unit="D")
    frame = pandas.DataFrame({"released": days, "query": np.repeat(np.arange(20), 6)})
    frame["grade"] = (np.arange(120) % 6) // 2
    frame["price"] = 3.0 ** (np.arange(120) % 7)
    data = rankwise.RankingData.from_frame(frame, label="grade", qid="query", as_table=True)
    model = rankwise.RankRLS(columns={"released": "date", "price": "log"}).fit(data)
    page = opened(rankwise.make_report({"m": model}, data))
    texts = shown(page, "#functions-of-columns svg text")
    assert {"2020", "2022", "2024"} <= set(texts)
    assert {"10", "100"} <= set(texts)
