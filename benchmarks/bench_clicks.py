"""Learning from clicks: where correcting for position bias helps, does nothing, or hurts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import rankwise
from benchmarks.tables import show
from benchmarks.timing import header, quick, sized
from rankwise import DataError, RankingData, RankRLS, make_search_data
from rankwise.clicks import ClickLog, make_click_log
from rankwise.metrics import ndcg
from rankwise.rendering import text_table

N_QUERIES = 200  # to learn from, and as many again to measure on
REPEATS = 3 if quick else 12
EXPLORATION = (0.0, 0.1, 0.3, 1.0, 3.0)
USERS = {
    "many sessions": {"n_sessions": sized(20_000), "position_bias": 1.0},
    "few sessions": {"n_sessions": sized(2_000), "position_bias": 1.0},
    "no position bias": {"n_sessions": sized(20_000), "position_bias": 0.0},
}
# A smaller change of NDCG@10 is nothing, however certain it is.
LEAST_CHANGE = 0.002
FIGURE = Path(__file__).parent.parent / ("build" if quick else "docs") / "click-regimes.svg"
COLUMNS = ("engine", "exploration", "NDCG@10", "plain", "corrected", "change", "error", "verdict", "evident")


@dataclass(frozen=True)
class Regime:
    """Repeats with one engine, exploration and kind of users; NaN where no bias can be estimated.

    NDCG@10 is that of the engine, and on other queries those of models learned from its log; `evident` says
    whether held-out sessions show the position bias.
    """

    engine: np.ndarray
    plain: np.ndarray
    corrected: np.ndarray
    evident: np.ndarray

    @property
    def change(self) -> tuple[float, float]:
        """The mean change by the correction and its standard error."""
        change = self.corrected - self.plain
        return float(change.mean()), float(change.std(ddof=1) / np.sqrt(len(change)))

    @property
    def verdict(self) -> str:
        mean, error = self.change
        if np.isnan(mean):
            return "unknown"
        if abs(mean) < max(2 * error, LEAST_CHANGE):
            return "nothing"
        return "helps" if mean > 0 else "hurts"


Map = dict[tuple[str, float], Regime]


def run() -> None:
    header(f"Position bias correction, NDCG@10 on {N_QUERIES} other queries, {REPEATS} repeats")
    maps: dict[str, Map] = {}
    for name, users in USERS.items():
        maps[name] = {(e, x): regime(e, x, users) for e in engines() for x in EXPLORATION}
        print(f"\n{name}: {users['n_sessions']:,} sessions")
        print(
            text_table(COLUMNS, [line_of(*place, found) for place, found in maps[name].items()]), flush=True
        )
    compare_forms("title and body match", exploration=0.3)
    draw(maps)


@cache
def engines() -> dict[str, Callable[[RankingData], Any]]:
    """The engines that write the log, from useless to perfect."""
    judged = make_search_data(2 * N_QUERIES, random_state=10_000)
    ranker = RankRLS().fit(judged.X, judged.y, judged.qid)
    title, body = (judged.feature_names.index(name) for name in ("title_bm25", "body_bm25"))
    return {
        "random": lambda data: np.random.default_rng(0).normal(size=data.n_rows),
        "title match": lambda data: data.X[:, title],
        "title and body match": lambda data: data.X[:, title] + data.X[:, body],
        "ranker trained on grades": lambda data: ranker.predict(data.X),
        "the grades themselves": lambda data: data.y,
    }


@cache
def split(repeat: int) -> tuple[RankingData, RankingData]:
    return make_search_data(2 * N_QUERIES, random_state=repeat).split(0.5, random_state=repeat)


def log_of(engine: str, exploration: float, users: dict[str, Any], repeat: int) -> ClickLog:
    train, _ = split(repeat)
    scores = engines()[engine](train)
    return make_click_log(train, scores, exploration=exploration, random_state=repeat, **users)


def regime(engine: str, exploration: float, users: dict[str, Any]) -> Regime:
    results = []
    for repeat in range(REPEATS):
        train, test = split(repeat)
        log = log_of(engine, exploration, users, repeat)
        strength = ndcg(train.y, engines()[engine](train), train.qid, k=10)
        plain = measured(from_rows(train, log.with_propensity(1.0)), test)
        results.append([strength, plain, *corrected_and_evident(train, test, log)])
    return Regime(*np.array(results).T)


def corrected_and_evident(train: RankingData, test: RankingData, log: ClickLog) -> tuple[float, float]:
    """With propensities estimated from the clicks, as those of a real log must be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            corrected = measured(from_rows(train, log.with_propensity()), test)
            return corrected, float(rankwise.clicks.click_likelihood(log).has_bias)
        except DataError:
            return np.nan, np.nan


def from_rows(train: RankingData, log: ClickLog) -> RankRLS:
    return RankRLS().fit(rankwise.clicks.rows_from_clicks(log, train))


def from_exposure(train: RankingData, log: ClickLog) -> RankRLS:
    rows = rankwise.clicks.rows_from_clicks(log, train, prior_clicks=1e9)
    weight = rows.sample_weight
    return RankRLS().fit(rows.X, rows.y, rows.qid, sample_weight=weight / weight.mean())


def from_pairs(train: RankingData, log: ClickLog) -> RankRLS:
    return RankRLS().fit_preferences(train.X, rankwise.clicks.pairs_from_clicks(log))


def from_grades(train: RankingData, log: ClickLog) -> RankRLS:
    rows = rankwise.clicks.grades_from_clicks(log, train)
    return RankRLS().fit(rows.X, rows.y, rows.qid)


FORMS = {
    "rows": from_rows,
    "rows weighted by exposure alone": from_exposure,
    "pairs": from_pairs,
    "grades": from_grades,
}


def measured(model: RankRLS, test: RankingData) -> float:
    return ndcg(test.y, model.predict(test.X), test.qid, k=10)


def compare_forms(engine: str, exploration: float) -> None:
    """Rows, pairs and grades from the same logs."""
    columns, lines = ["learned from"], {form: [form] for form in FORMS}
    for name, users in USERS.items():
        found: dict[str, list[list[float]]] = {form: [] for form in FORMS}
        for repeat in range(REPEATS):
            train, test = split(repeat)
            log = log_of(engine, exploration, users, repeat)
            logs = (log.with_propensity(1.0), log.with_propensity())
            for form, learn in FORMS.items():
                found[form].append([measured(learn(train, log), test) for log in logs])
        columns += [f"{name}, plain", "corrected"]
        for form, values in found.items():
            lines[form] += [f"{mean:.3f}" for mean in np.mean(values, axis=0)]
    print(f"\n{engine}, exploration {exploration:g}")
    show("click-forms", columns, lines.values())


def line_of(engine: str, exploration: float, found: Regime) -> tuple[Any, ...]:
    means = (float(part.mean()) for part in (found.engine, found.plain, found.corrected))
    evident = f"{int(np.nansum(found.evident))}/{REPEATS}"
    return engine, f"{exploration:g}", *means, *found.change, found.verdict, evident


def draw(maps: dict[str, Map]) -> None:
    """One panel per kind of users: engines by exploration, coloured by the change of NDCG@10."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.2), layout="constrained")
    panels = figure.subplots(1, len(maps), sharey=True)
    for panel, (title, found) in zip(panels, maps.items(), strict=True):
        change = np.array([[found[engine, x].change[0] for x in EXPLORATION] for engine in engines()])
        image = panel.imshow(change, cmap="RdBu", vmin=-0.05, vmax=0.05)
        for (row, column), (_, cell) in zip(np.ndindex(change.shape), found.items(), strict=True):
            text = "?" if cell.verdict == "unknown" else f"{cell.change[0]:+.3f}"
            weight = "bold" if cell.verdict in ("helps", "hurts") else "normal"
            panel.text(column, row, text, ha="center", va="center", weight=weight, fontsize=9)
        panel.set(title=title, xlabel="exploration")
        panel.set_xticks(range(len(EXPLORATION)), [f"{x:g}" for x in EXPLORATION])
        strength = [found[engine, EXPLORATION[0]].engine.mean() for engine in engines()]
        names = [f"{engine}\nNDCG@10 {s:.2f}" for engine, s in zip(engines(), strength, strict=True)]
        panel.set_yticks(range(len(names)), names)
    figure.colorbar(image, ax=panels, label="change of NDCG@10 by the correction")
    FIGURE.parent.mkdir(exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": FIGURE.stem}):  # the same file for the same numbers
        figure.savefig(FIGURE, metadata={"Date": None})
    print(f"\nDrawn: {FIGURE.parent.name}/{FIGURE.name}")
