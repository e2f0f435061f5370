"""Live judging in Chromium: from key to new order at 10,000 rows, memory, and the picture in the docs."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tests.browser import Browser, find_chromium
from tests.judging import judging

from benchmarks.tables import show
from benchmarks.timing import header, quick, sized
from rankwise import RankingData
from rankwise.judging.server import JudgingServer
from rankwise.judging.starting import Start, start_without_model
from rankwise.rows.table import table_of

N_ROWS, N_FEATURES, QUERY_SIZE = sized(10_000), 136, 50
N_TIMED, N_FOR_MEMORY = (40, 100) if quick else (200, 2_000)
PICTURE = Path(__file__).parent.parent / ("build" if quick else "docs") / "live-judging.png"
# An invented shop.
KINDS = {"trail shoes": 90.0, "rain jacket": 120.0, "tent": 250.0, "head lamp": 30.0, "backpack": 80.0}
TRAITS = ("light", "warm", "red", "blue", "small", "classic")
BRANDS = ("Acme", "Nord", "Zeta")


def run() -> None:
    header(f"Live judging of {N_ROWS:,} rows with {N_FEATURES} features")
    executable = find_chromium()
    if executable is None:
        print("Chromium is not installed.")
        return
    with TemporaryDirectory() as folder:
        browser = Browser(executable, Path(folder) / "profile")
        try:
            show("judging-page", ("", "measured"), measured(Path(folder), browser))
            take_picture(Path(folder), browser)
        finally:
            browser.close()


def measured(folder: Path, browser: Browser) -> Iterator[tuple[str, str]]:
    """Milliseconds of judgments made by keys, and megabytes after many."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(N_ROWS, N_FEATURES)), np.arange(N_ROWS) // QUERY_SIZE
    docs = [f"document {row}" for row in range(N_ROWS)]
    data = RankingData.from_arrays(X, np.zeros(N_ROWS), qid, docs)
    with judging(folder / "timed", start_without_model(data, shown={})) as (session, server):
        open_page(browser, server)
        judge_by_keys(browser, N_TIMED, lambda: str(rng.integers(5)))
        spent = browser.js("performance.getEntriesByName('judged').map((one) => one.duration)")
        yield (
            f"from key to new order, {len(spent)} judgments",
            f"median {np.median(spent):.0f} ms, 95 % within {np.quantile(spent, 0.95):.0f} ms",
        )
        said = {"query": browser.js("view.query"), "kind": "grade"}
        docs = browser.js("view.docs.map((one) => one.doc)")
        sizes = []
        for k in range(N_FOR_MEMORY):
            session.judge(said | {"docs": [docs[k % len(docs)]], "grade": k % 5})
            if 4 * (k + 1) % N_FOR_MEMORY == 0:
                sizes.append(resident())
        after = ", ".join(f"{k * N_FOR_MEMORY // 4:,}" for k in (1, 2, 3, 4))
        yield f"memory of the process after {after} more", ", ".join(f"{size:.0f}" for size in sizes) + " MB"


def resident() -> float:
    pages = Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]
    return int(pages) * resource.getpagesize() / 2**20


def open_page(browser: Browser, server: JudgingServer) -> None:
    browser("Page.navigate", url=server.address)
    while not browser.js("document.body && document.body.dataset.version !== undefined"):
        pass


def judge_by_keys(browser: Browser, n_judgments: int, key: Callable[[], str]) -> None:
    for _ in range(n_judgments):
        if not browser.js("view.task !== null"):
            press(browser, "n")
        press(browser, key())


def press(browser: Browser, key: str) -> None:
    browser.press(key, text=key)
    browser.js("work.then(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))")


def take_picture(folder: Path, browser: Browser) -> None:
    """Judge some of the shop, as someone would who reads titles, and save what is then seen."""
    with judging(folder / "shop", shop()) as (session, server):
        open_page(browser, server)
        wanted = "view.docs.find((one) => one.doc === cursor).shown.title"
        for _ in range(123):
            if not browser.js("view.task !== null"):
                press(browser, "n")
            title, query = set(browser.js(wanted).split()), set(browser.js("view.query").split())
            press(browser, str(min(4, 2 * len(title & query) - len(title & {"warm", "red"}))).lstrip("-"))
        while browser.js("document.querySelector('#quality p') === null"):
            pass
        session.measure(0.0)
        browser.js("new Promise((done) => setTimeout(done, 1000))")
        browser.picture(PICTURE, 1280)
    print(f"wrote {PICTURE}")


def shop() -> Start:
    """Products for queries, with a match of titles, a price, a brand and stars."""
    rng = np.random.default_rng(4)
    rows: dict[str, list[object]] = {name: [] for name in ("title", "price", "brand", "stars", "match")}
    queries, docs = [], []
    wanted = [f"{trait} {kind}" for kind in KINDS for trait in TRAITS]
    for q, query in enumerate(wanted):
        for d in range(10):
            kind = query.split(" ", 1)[1] if rng.random() < 0.6 else str(rng.choice(list(KINDS)))
            title = f"{' '.join(rng.choice(TRAITS, 2, replace=False))} {kind}"
            queries.append(query)
            docs.append(f"sku-{q:02}{d}")
            rows["title"].append(title)
            rows["price"].append(round(float(KINDS[kind] * rng.lognormal(0.0, 0.4)), 2))
            rows["brand"].append(str(rng.choice(BRANDS)))
            rows["stars"].append(round(float(rng.uniform(2.0, 5.0)), 1))
            rows["match"].append(len(set(title.split()) & set(query.split())) + float(rng.normal(0.0, 0.2)))
    shown = {name: [str(value) for value in rows[name]] for name in ("title", "price", "brand")}
    columns = {name: values for name, values in rows.items() if name != "title"}
    import pandas

    data = RankingData.from_arrays(table_of(pandas.DataFrame(columns)), np.zeros(len(docs)), queries, docs)
    return start_without_model(data, "auto", shown=shown)
