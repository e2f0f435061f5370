"""The page of live judging in a real browser: keys become judgments, and the order is that of a refit."""

import os
import time
from urllib.parse import urlsplit

import numpy as np
import pytest

import rankwise
from browser import Browser, find_chromium
from judging import ask, judging, start_of
from rankwise.judging.starting import start_without_model
from test_live_model import refit

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(find_chromium(), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


class Page:
    """What a rater sees and presses."""

    def __init__(self, browser, server):
        self.browser, self.version = browser, 0
        browser("Page.navigate", url="about:blank")  # the page before asks no more
        browser.js("new Promise((done) => setTimeout(done, 50))")
        browser.events.clear()
        browser("Page.navigate", url=server.address)
        self.wait("document.body && document.body.dataset.version !== undefined")

    def wait(self, condition):
        end = time.monotonic() + 20
        while not self.browser.js(condition):
            assert time.monotonic() < end, f"never: {condition}"
            time.sleep(0.005)

    def press(self, key):
        """Press a key, and wait for what it leads to."""
        self.browser.press(key, text=key if len(key) == 1 else None)
        self.browser.js("work.then(() => 0)")

    def js(self, expression):
        return self.browser.js(expression)

    def docs(self):
        return self.js("[...document.querySelectorAll('.docs > li .title')].map((one) => one.title)")


def order_by_refit(session, query):
    """The documents of a query in the order of a fit from scratch, and their scores."""
    X, queries = session.collection.X, session.collection.queries
    rows = queries.rows_of(session.collection.query(query))
    coef = refit(X, queries.query_of_row(), session.model.said, session.model.alpha)
    return rows, None if coef is None else X[rows] @ coef


def test_the_order_after_each_of_200_judgments_is_that_of_a_refit(browser, tmp_path):
    with judging(tmp_path / "journal", start_of(30)) as (session, server):
        page, rng, compared = Page(browser, server), np.random.default_rng(0), 0
        while session.version < 200:
            if not page.js("view.task !== null"):
                page.press("n")
            if rng.random() < 0.1:
                page.press("p")
            if session.version and rng.random() < 0.05:
                page.press("u")
            else:
                pairs = page.js("pairs")
                page.press(rng.choice(["ArrowLeft", "ArrowRight", "=", "s"] if pairs else list("01234s")))
            query = page.js("view.query")
            rows, scores = order_by_refit(session, query)
            if scores is None:
                continue
            place = {session.collection.docs[row]: k for k, row in enumerate(rows.tolist())}
            shown = scores[[place[doc] for doc in page.js("view.docs.map((one) => one.doc)")]]
            assert (np.diff(shown) <= 1e-9 * np.ptp(scores)).all(), session.version
            if not page.js("pairs"):
                assert page.docs() == page.js("view.docs.map((one) => one.doc)")
            compared += 1
        assert compared > 150
        assert page.js("document.querySelector('#problem').hidden")
        assert not browser.complaints()


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"quoted\" 'twice' `thrice` &amp; {{7*7}}",
    "\u202eright to left\u202c \u2028\x00\x1b[31m",
    "long " * 500,
    "../../etc/passwd?#%2e",
]


def test_names_and_titles_are_shown_as_text_and_nothing_is_loaded(browser, tmp_path):
    rng, n = np.random.default_rng(0), 8
    queries = [f"{HOSTILE[k // n % len(HOSTILE)]}{k // n}" for k in range(6 * n)]
    docs = [f"{HOSTILE[k % len(HOSTILE)]}{k}" for k in range(6 * n)]
    names = [f"{HOSTILE[k]}{k}" for k in range(4)]
    data = rankwise.RankingData.from_arrays(
        rng.normal(size=(6 * n, 4)), np.zeros(6 * n), queries, docs, names
    )
    start = start_without_model(data, shown={HOSTILE[1]: docs, HOSTILE[0]: queries})
    with judging(tmp_path / "journal", start, rater=HOSTILE[0]) as (session, server):
        page = Page(browser, server)
        for key in ("1", "4", "p", "ArrowLeft", "p", "n", "3", "0", "u"):
            page.press(key)
        assert session.version == 6
        page.wait("document.querySelector('.entries li') !== null")
        shown = page.js("document.querySelector('.docs .title').textContent")
        assert shown.replace("\\u", "") != ""
        assert page.js("document.querySelectorAll('img, iframe, main script').length") == 0
        assert page.js("document.documentElement.scrollWidth <= innerWidth")
        page.browser.resize(400, 800, mobile=True)
        assert page.js("document.documentElement.scrollWidth <= innerWidth")
        assert {urlsplit(url).hostname for url in browser.requests()} == {"127.0.0.1"}
        assert not browser.complaints()


def test_two_tabs_show_each_others_judgments(browser, tmp_path):
    with judging(tmp_path / "journal") as (session, server):
        page = Page(browser, server)
        said = {
            "query": page.js("view.query"),
            "docs": [page.js("view.docs[0].doc")],
            "kind": "grade",
            "grade": 3,
        }
        ask(server, "judge", said)
        page.wait("view.docs.some((one) => one.grade === 3)")
        page.press("2")
        assert session.version == 2


def test_the_page_says_when_nothing_is_accepted(browser, tmp_path, monkeypatch):
    with judging(tmp_path / "journal") as (session, server):
        page = Page(browser, server)
        with monkeypatch.context() as full:
            write, ours = os.write, session.journal._handle
            full.setattr(os, "write", lambda to, line: write(to, line[:7] if to == ours else line))
            page.press("3")
        assert "Nothing more is accepted" in page.js("document.querySelector('#problem').textContent")
        assert session.version == 0
        page.press("3")
        assert session.version == 1
        assert page.js("document.querySelector('#problem').hidden")
    page.press("1")
    assert "The session has ended" in page.js("document.querySelector('#problem').textContent")


def test_a_complaint_stays_until_the_rater_does_something_else(browser, tmp_path):
    with judging(tmp_path / "journal") as (session, server):
        page = Page(browser, server)
        page.js("watch(1e6)")
        name = page.js("view.query")
        page.js("document.querySelector('#query').value = 'nowhere'")
        page.js("document.querySelector('#query').dispatchEvent(new Event('change')); work.then(() => 0)")
        complaint = "document.querySelector('#problem').textContent"
        assert "no query 'nowhere'" in page.js(complaint)
        assert page.js("document.querySelector('#query').value") == name
        page.js("state = null; watch(0)")
        page.wait("state !== null")
        assert "no query 'nowhere'" in page.js(complaint)
        page.press("9")
        assert page.js(complaint) == "The grades are 0 1 2 3 4."
        page.press("3")
        assert page.js(complaint) == ""
        assert session.version == 1


def test_a_key_that_is_held_down_judges_once(browser, tmp_path):
    with judging(tmp_path / "journal") as (session, server):
        page = Page(browser, server)
        page.press("3")
        for _ in range(5):
            browser("Input.dispatchKeyEvent", type="keyDown", key="3", text="3", autoRepeat=True)
        page.js("work.then(() => 0)")
        assert session.version == 1


def test_the_page_says_what_it_does_not_show_and_when_all_is_judged(browser, tmp_path):
    data = rankwise.RankingData.from_arrays(
        np.arange(151.0)[:, None], np.zeros(151), ["long"] * 150 + ["one"], np.arange(151)
    )
    start = start_without_model(data, shown={"title": [f"Number {k}" for k in range(151)]})
    with judging(tmp_path / "journal", start) as (session, server):
        session.judge({"query": "one", "docs": ["150"], "kind": "skip"})
        page = Page(browser, server)
        assert "50 more documents are not shown." in page.js("document.querySelector('#work').textContent")
        for doc in range(150):
            session.judge({"query": "long", "docs": [str(doc)], "kind": "grade", "grade": doc % 5})
        page.press("n")
        assert page.js("document.querySelector('#work').textContent") == "Everything is judged."
        assert "next query" not in page.js("document.querySelector('#said').textContent")
        page.press("u")
        assert session.version == 152
        page.js("next({ query: 'one' })")  # what is the same in all documents of a query is said once
        assert page.js("document.querySelector('.docs .title').textContent") == "Number 150"
