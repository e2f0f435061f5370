"""The page of a report, opened in Chromium: it draws, answers clicks and keys, and loads nothing."""

import json
import re

import numpy as np
import pytest

import rankwise
from browser import browser, count, number, shown
from rankwise.errors import ParameterError
from rankwise.report.make_report import embedded, page

__all__ = ["browser"]  # a fixture

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"quoted\" 'twice' `thrice` &amp; \\u0041",
    "two\nlines\r\n\tand a tab",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd",
    "long " * 2000,
    "\u2028\0\x1b[31m",
    "{{7*7}} ${7*7}",
]


@pytest.fixture(scope="module")
def parts():
    return rankwise.make_search_data(70, random_state=6).split(0.6)


@pytest.fixture(scope="module")
def report(parts):
    training, test = parts
    models = {
        "title": test.X[:, 0],
        "ridge": rankwise.RankRLS().fit(training),
        "chosen": rankwise.RankRLSCV(alphas=[0.01, 1.0, 100.0, 1e4]).fit(training),
    }
    return rankwise.make_report(models, test, training=training, title="three rankers")


@pytest.fixture(scope="module")
def hostile(parts):
    """A report in which every name tries to be something else."""
    training, test = parts
    names = [f"{HOSTILE[k % len(HOSTILE)]}{k}" for k in range(test.n_features)]
    queries = {
        label: f"{HOSTILE[k % len(HOSTILE)]}{k}" for k, label in enumerate(test.queries.labels.tolist())
    }
    docs = [f"{HOSTILE[k % len(HOSTILE)]}{k}" for k in range(test.n_rows)]
    fit, judged = (
        rankwise.RankingData.from_arrays(part.X, part.y, qid, named, names)
        for part, qid, named in (
            (training, training.qid, training.docs),
            (test, [queries[label] for label in test.qid.tolist()], docs),
        )
    )
    models = {HOSTILE[1]: rankwise.RankRLS().fit(fit)}
    models |= {name: judged.X[:, k] for k, name in enumerate(HOSTILE) if name not in models}
    return rankwise.make_report(models, judged, training=fit, title=HOSTILE[1])


@pytest.fixture
def opened(browser, report, tmp_path):
    """The browser with the report of three rankers, which must not have complained afterwards."""
    report.save(tmp_path / "report.html")
    browser.resize(1000, 900)
    browser.open(tmp_path / "report.html")
    yield browser
    assert browser.complaints() == []
    assert browser.requests() == [(tmp_path / "report.html").as_uri()]


def choose(browser, control, value):
    where = json.dumps(f"[data-control={control}]")
    browser.js(
        f"(() => {{ const c = document.querySelector({where}); c.value = {json.dumps(value)};"
        "c.dispatchEvent(new Event(c.tagName === 'INPUT' ? 'input' : 'change')); })()"
    )


def test_the_page_says_what_the_facts_say(opened, report):
    facts = report.facts
    answer = [*shown(opened, "h1"), *shown(opened, ".answer p:not(.about)")]
    assert [sentence.replace("\xa0", " ") for sentence in answer] == facts["answer"]
    assert shown(opened, ".about")[0].startswith("three rankers · 28 queries · ")
    cells = shown(opened, "#quality td")
    for name, means in facts["means"].items():
        for measure, mean in means.items():
            assert f"{mean:.4f} ± {facts['margins'][name][measure]:.4f}" in cells
    titles = shown(opened, "h2")
    assert titles == [
        "Quality",
        "Significance",
        "Wins and losses",
        "Columns",
        "Choice of alpha",
        "Calibration",
        "Number of training queries",
        "Data",
        "Judgments and features to check",
        "Not shown",
        "How it was made",
    ]


def test_every_chart_has_marks_and_a_description(opened, report):
    marks = opened.js(
        "[...document.querySelectorAll('svg')].map((s) => s.querySelectorAll('rect, circle, path').length)"
    )
    assert len(marks) >= 7
    assert min(marks) > 0
    assert opened.js("[...document.querySelectorAll('svg')].every((s) => s.getAttribute('aria-label'))")
    counted = [c for c in report.facts["queries"]["changes"]["ndcg@10"]["ridge"] if c is not None]
    assert count(opened, "#wins-and-losses rect.bar") == len(counted)


def test_filters_filter_and_orders_order(opened, report):
    queries = report.facts["queries"]
    changes = queries["changes"]["ndcg@10"]["ridge"]
    choose(opened, "show", "worse")
    worse = sorted(change for change in changes if change is not None and change < 0)
    assert count(opened, "#wins-and-losses rect.bar") == len(worse)
    choose(opened, "order", "losses")
    first = shown(opened, "tr.query td:last-child")[0]
    assert first == f"{worse[0]:.4f}".replace("-", "−")
    choose(opened, "show", "all")
    choose(opened, "find", queries["label"][3])
    expected = [label for label in queries["label"] if queries["label"][3] in label]
    assert sorted(shown(opened, "tr.query th")) == sorted(expected)[:20]
    choose(opened, "find", "")
    choose(opened, "ranker", "chosen")
    assert shown(opened, "table.queries th")[3] == "chosen"
    choose(opened, "measure", "pairwise_error")
    choose(opened, "show", "better")
    gains = [c for c in queries["changes"]["pairwise_error"]["chosen"] if c is not None and c > 0]
    assert count(opened, "#wins-and-losses rect.bar") == len(gains)


def test_a_click_opens_a_query_and_two_rows_are_explained(opened, report):
    opened.js("document.querySelector('tr.query button').click()")
    assert shown(opened, ".lists h4") == ["ideal order", "title", "ridge", "chosen"]
    for place in (0, 2):
        opened.js(f"document.querySelectorAll('.lists section:nth-child(3) button')[{place}].click()")
    assert count(opened, ".why section") == 2
    for model in ("ridge", "chosen"):
        table = f'[data-model="{model}"] tr'
        parts = [number(text) for text in shown(opened, f"{table} td:nth-child(4)")]
        assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=1e-4 * len(parts))
        above, below = (number(shown(opened, f"{table}:last-child td:nth-child({k})")[0]) for k in (2, 3))
        assert parts[-1] == pytest.approx(above - below, abs=2e-4)
        assert parts[-1] >= 0  # contributions are to the row that is above
    assert "better with probability" in shown(opened, ".probability")[0]  # only one model is calibrated
    opened.js("document.querySelector('tr.query button').click()")
    assert count(opened, "tr.detail") == 0


def test_a_bar_opens_its_query(opened, report):
    opened.js("document.querySelectorAll('rect.bar')[5].dispatchEvent(new MouseEvent('click'))")
    assert count(opened, "tr.detail") == 1


def test_everything_can_be_reached_with_the_keyboard(opened, report):
    opened.js("document.querySelector('[data-control=find]').focus()")
    opened.press("Tab")
    assert opened.js("document.activeElement.dataset.query") is not None
    opened.press("Enter", text="\r")
    assert count(opened, "tr.detail") == 1
    assert opened.js("document.activeElement.getAttribute('aria-expanded')") == "true"
    opened.press("Tab")
    opened.press(" ", "Space", text=" ")
    assert opened.js("document.activeElement.getAttribute('aria-pressed')") == "true"
    opened.press("Tab")
    opened.press(" ", "Space", text=" ")
    assert count(opened, ".why section") == 2
    curve = report.facts["choices"]["chosen"]
    opened.js("document.querySelector('#choice-of-alpha svg').focus()")
    for _ in curve["alphas"]:
        opened.press("ArrowLeft")
    opened.press("ArrowRight")
    assert f"{curve['scores'][0][1]:.4f}" in shown(opened, "#choice-of-alpha .readout")[0]
    opened.js("document.querySelector('nav a[href=\"#data\"]').click()")
    assert opened.js("document.activeElement.textContent") == "Data"


def test_chosen_rows_stay_chosen_while_other_queries_are_opened(opened):
    opened.js("document.querySelector('tr.query button').click()")
    for place in (0, 1):
        opened.js(f"document.querySelectorAll('.lists section:nth-child(3) button')[{place}].click()")
    before = shown(opened, ".difference")
    opened.js("document.querySelectorAll('tr.query button.open')[1].click()")
    assert count(opened, "tr.detail") == 2
    assert shown(opened, ".difference") == before


def test_queries_that_do_not_count_are_named_with_the_reason(opened, report):
    measure = report.facts["measures"][0]
    assert measure["left_out"] > 0
    assert f"{measure['left_out']} for ndcg@10 ({measure['reason']})" in "".join(shown(opened, "#quality p"))
    choose(opened, "show", "uncounted")
    assert count(opened, "tr.query") == measure["left_out"]
    assert set(shown(opened, "tr.query td:last-child")) == {"not counted"}


def test_the_queries_of_a_single_ranker_are_listed_from_the_poorest_whatever_the_measure(
    browser, parts, tmp_path
):
    test = parts[1]
    alone = rankwise.make_report({"title": test.X[:, 0]}, test, measures=["ndcg@10", "pairwise_error"])
    alone.save(tmp_path / "alone.html")
    browser.open(tmp_path / "alone.html")
    for measure, worst in (("ndcg@10", min), ("pairwise_error", max)):
        choose(browser, "measure", measure)
        values = [v for v in alone.facts["queries"]["values"][measure]["title"] if v is not None]
        assert shown(browser, "tr.query td:last-child")[0] == f"{worst(values):.4f}"
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def learned(parts):
    """Models with a surface, a path, functions of columns and a feature path."""
    training, test = parts
    few = training.select(queries=training.queries.labels[:5].tolist())
    models = {
        "cg": rankwise.RankRLSCV(alphas=[0.0, 0.1, 10.0, 1e3], solver="cg", early_stopping=True),
        "spline": rankwise.RankRLS(columns="spline").fit(training),
        "few": rankwise.RankRLSPath(max_features=3, measure="ndcg@10").fit(training),
        "path": rankwise.RankSVMPath(gamma=1e-6, graph="reduced").fit(few).select(few),
    }
    models["cg"].fit(training, eval_set=test)
    return rankwise.make_report(models, test, training=training)


def test_what_models_learned_is_drawn(browser, learned, tmp_path):
    learned.save(tmp_path / "learned.html")
    browser.resize(1000, 900)
    browser.open(tmp_path / "learned.html")
    facts = learned.facts
    drawn = [shape for shape in facts["shapes"]["spline"] if shape["points"]]
    assert count(browser, "#functions-of-columns svg") == len(drawn) > 3
    assert count(browser, "#functions-of-columns .band") == len(drawn)
    rows = shown(browser, "#number-of-features tr.best th")
    assert int(rows[0]) == facts["sizes"]["few"]["chosen"]
    assert count(browser, "#choice-of-alpha svg") == 4  # two curves, a surface, and pairs on the margin
    assert browser.complaints() == []
    assert len(browser.requests()) == 1


def test_a_surface_shows_its_chosen_point_and_its_values(browser, learned, tmp_path):
    learned.save(tmp_path / "learned.html")
    browser.resize(1000, 900)
    browser.open(tmp_path / "learned.html")
    surface = learned.facts["choices"]["cg"]["surface"]
    alpha, iteration = surface["chosen"]["alpha"], surface["chosen"]["iteration"]
    row, column = surface["alphas"].index(alpha), surface["iterations"].index(iteration)
    assert surface["values"][row][column] == min(map(min, surface["values"]))
    picture = "[...document.querySelectorAll('#choice-of-alpha svg')].find((s) => s.querySelector('.cell'))"

    def read():
        return browser.js(f"{picture}.nextSibling.textContent")

    assert read() == f"alpha {alpha:g}, iteration {iteration}: {surface['values'][row][column]:.4f}"
    assert browser.js(f"{picture}.querySelectorAll('circle.chosen').length") == 1
    browser.js(f"{picture}.scrollIntoView()")
    x, y = browser.js(
        f"(() => {{ const box = {picture}.querySelector('.cell').getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    browser("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert read() == f"alpha 0, iteration 1: {surface['values'][0][0]:.4f}"
    browser.js(f"{picture}.focus()")
    browser.press("ArrowDown")
    browser.press("ArrowRight")
    assert read() == f"alpha 0.1, iteration 2: {surface['values'][1][1]:.4f}"


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_enough_contrast_in_light_and_dark(opened, dark):
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    opened("Emulation.setEmulatedMedia", features=scheme)
    names = ["ink", "soft", "up", "down", "mark", *(f"series-{k}" for k in range(8)), "ground", "panel"]
    style = "getComputedStyle(document.documentElement)"
    colors = {name: opened.js(f"{style}.getPropertyValue('--{name}').trim()") for name in names}
    opened("Emulation.setEmulatedMedia", features=[])
    light = {name: luminance(color) for name, color in colors.items()}
    assert (light["ground"] < 0.05) == dark
    for below in ("ground", "panel"):
        for name in names[:5]:
            assert contrast(light[name], light[below]) >= 4.5, (name, below)
        for name in names[5:-2]:
            assert contrast(light[name], light[below]) >= 3.0, (name, below)


def luminance(color):
    """Relative luminance, as WCAG defines it."""
    channels = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one, other):
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


@pytest.mark.parametrize("width", [400, 1000])
def test_no_page_is_wider_than_its_window(opened, tmp_path, width):
    opened.resize(width, 900, mobile=width == 400)
    opened.open(tmp_path / "report.html")
    opened.js("document.querySelector('tr.query button').click()")
    assert opened.js("document.documentElement.scrollWidth") <= width
    opened.resize(1000, 900)


def test_names_are_text_whatever_they_contain(browser, hostile, tmp_path):
    hostile.save(tmp_path / "hostile.html")
    browser.open(tmp_path / "hostile.html")
    browser.js("[...document.querySelectorAll('tr.query button')].slice(0, 5).forEach((b) => b.click())")
    for place in (0, 1):
        browser.js(f"document.querySelectorAll('.lists section:nth-child(1) button')[{place}].click()")
    assert shown(browser, ".about")[0].startswith(HOSTILE[1])
    assert count(browser, "main script, main img") == 0
    assert count(browser, ".why section") > 0
    assert "two\\u000alines" in "".join(shown(browser, "tr.query bdi"))
    visible = browser.js("[...document.querySelectorAll('main bdi')].map((e) => e.textContent).join('')")
    assert "\u202e" not in visible
    assert "\\u202eright to left" in visible
    assert browser.js("document.documentElement.scrollWidth") <= 1000
    assert browser.complaints() == []
    assert len(browser.requests()) == 1


def test_long_names_of_rankers_are_cut_and_must_stay_different(hostile, parts):
    assert max(len(model["name"]) for model in hostile.facts["models"]) == 200
    test = parts[1]
    with pytest.raises(ParameterError, match="must differ in their first 199 characters"):
        rankwise.make_report({"a" * 300: test.X[:, 0], "a" * 301: test.X[:, 1]}, test)


def test_facts_in_the_page_cannot_end_their_element(hostile):
    text = embedded(hostile.facts)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == hostile.facts
    found = re.findall("<(/?script|img)", page(hostile.facts))
    assert found == ["script", "/script", "script", "/script"]
    embedded({"half": "\ud800"}).encode("utf-8")


def test_long_names_are_cut_in_the_facts(hostile):
    for query in hostile.facts["lists"]["queries"]:
        assert max(map(len, query["docs"])) <= 200
    assert max(map(len, hostile.facts["queries"]["label"])) <= 200


def test_a_notebook_shows_the_page(browser, report, tmp_path):
    (tmp_path / "notebook.html").write_text(f"<meta charset=utf-8>{report._repr_html_()}", encoding="utf-8")
    browser.open(tmp_path / "notebook.html")
    inside = "document.querySelector('iframe').contentDocument.querySelector('.about').textContent"
    assert browser.js(inside).startswith("three rankers · ")
    assert browser.complaints() == []


def test_an_executed_notebook_holds_the_page():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    lines = ["import rankwise", "data = rankwise.make_search_data(8, random_state=0)"]
    lines += ['rankwise.make_report({"title": data.X[:, 0]}, data, title="in a notebook")']
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("\n".join(lines))])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    (output,) = notebook.cells[0].outputs
    assert output["data"]["text/html"].startswith("<iframe srcdoc=")
    assert "in a notebook" in output["data"]["text/html"]
    assert output["data"]["text/plain"] == "Report(title on 8 queries)"


def test_five_rankers_on_many_long_queries_stay_small(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000 * 100, 10))
    y = np.digitize(X[:, 0] + rng.normal(size=len(X)), [0.5, 1.5])
    data = rankwise.RankingData.from_arrays(X, y, np.repeat(np.arange(1000), 100))
    models = {f"model {k}": rankwise.RankRLS(10.0**k).fit(data) for k in range(5)}
    report = rankwise.make_report(models, data)
    report.save(tmp_path / "large.html")
    assert (tmp_path / "large.html").stat().st_size < 6_000_000
    seconds = browser.open(tmp_path / "large.html")
    print(f"made in {report.facts['origin']['seconds']} s, opened in {seconds:.2f} s")
    lists = report.facts["lists"]
    assert 20 < len(lists["queries"]) < lists["n_queries"] == 1000
    assert browser.js("document.querySelectorAll('rect.bar').length") == 1000
    assert browser.complaints() == []
