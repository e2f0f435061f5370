"""Judges simulated by known labels: NDCG@10 on other queries by the number of judgments, and which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import Table
from benchmarks.timing import header, quick, real_data
from rankwise import RankingData, RankRLSCV, load_letor
from rankwise.judging.live_model import LiveModel, Said
from rankwise.judging.session import IN_A_ROW, Session
from rankwise.judging.starting import Start, start_without_model
from rankwise.metrics import evaluate

N_DRAWS = 2 if quick else 10
BUDGETS = (20, 50, 100) if quick else (20, 50, 100, 200, 400, 800)
MEASURE, CLOSE = "ndcg@10", 0.01
# Of the movies, so many queries are drawn for judging, and as many to measure on.
N_MOVIE_QUERIES = 60 if quick else 300
FIGURE = Path(__file__).parent.parent / ("build" if quick else "docs") / "judging-curves.svg"

Judge = Callable[[Start, NDArray, NDArray, np.random.Generator], Iterator[NDArray]]


@dataclass(frozen=True)
class Draw:
    """Queries to judge, in which no order of documents tells anything, and others to measure on.

    Attributes
    ----------
    judged, measured : RankingData
    engine : array
        The score of each row to judge by the engine that is in use.
    """

    judged: RankingData
    measured: RankingData
    engine: NDArray

    @classmethod
    def of(cls, data: RankingData, engine: NDArray, seed: int) -> Draw:
        rng = np.random.default_rng(seed)
        labels = rng.permutation(data.queries.labels)[: 2 * N_MOVIE_QUERIES]
        chosen = set(labels[: len(labels) // 2].tolist())
        others = set(labels[len(labels) // 2 :].tolist())
        row = rng.permutation(data.n_rows)
        judged = row[[label in chosen for label in data.qid[row].tolist()]]
        return cls(data.select(judged), data.select(queries=others), engine[judged])


def run() -> None:
    header(f"Live judging by simulated judges, {N_DRAWS} draws of queries")
    folder = real_data()
    if folder is None:
        return
    columns = [f"{MEASURE} after {budget}" for budget in BUDGETS]
    table = Table("judging", "data", "judged next", *columns, f"within {CLOSE:g} of all labels after")
    curves: dict[str, dict[str, NDArray]] = {}
    for name, read in {"OHSUMED": ohsumed, "movies": movies}.items():
        data, engine = read(folder)
        draws = [Draw.of(data, engine, seed) for seed in range(N_DRAWS)]
        whole = np.array([by_all_labels(draw) for draw in draws])
        curves[name] = {"all labels": whole}
        for strategy, judge in STRATEGIES.items():
            found = np.array([values(draw, judge, seed) for seed, draw in enumerate(draws)])
            curves[name][strategy] = found
            cells = (with_margin(column, whole) for column in found.T)
            table.add(name, strategy, *cells, needed(found.mean(axis=0), whole.mean()))
        table.add(name, "all labels", *[""] * (len(BUDGETS) - 1), f"{whole.mean():.3f}", "")
    draw_figure(curves)


def with_margin(found: NDArray, whole: NDArray) -> str:
    """The mean over draws, and a 95 % interval of its difference from all labels, which draws share."""
    margin = 2.26 * (found - whole).std(ddof=1) / np.sqrt(len(found))
    return f"{found.mean():.3f} ± {margin:.3f}"


def needed(means: NDArray, whole: float) -> str:
    """The first of the budgets from which on the mean is close to that of all labels."""
    far = np.flatnonzero(means < whole - CLOSE)
    first = 0 if len(far) == 0 else int(far[-1]) + 1
    return f"{BUDGETS[first]}" if first < len(BUDGETS) else f"more than {BUDGETS[-1]}"


def by_all_labels(draw: Draw) -> float:
    start = started(draw)
    data = RankingData.from_arrays(start.collection.X, draw.judged.y, draw.judged.qid)
    model = RankRLSCV().fit(data)
    return measured(draw, start, model.coef_)


def started(draw: Draw) -> Start:
    return start_without_model(draw.judged, shown={})


def values(draw: Draw, judge: Judge, seed: int) -> list[float]:
    """The measure at each of the budgets."""
    start = started(draw)
    found, models = [], judge(start, draw.judged.y, draw.engine, np.random.default_rng([seed, 1]))
    for n, coef in enumerate(models, start=1):
        if n in BUDGETS:
            found.append(measured(draw, start, coef))
        if n == BUDGETS[-1]:
            break
    return found


def measured(draw: Draw, start: Start, coef: NDArray) -> float:
    return evaluate(draw.measured.y, draw.measured.X @ coef, draw.measured.qid, MEASURE).means[MEASURE]


def in_memory() -> Any:
    """A journal that is nowhere on a disk."""
    entries: list[Any] = []
    return SimpleNamespace(entries=entries, append=entries.append, path="memory")


def as_the_page_proposes(
    start: Start, y: NDArray, engine: NDArray, rng: np.random.Generator, *, pairs: bool = False
) -> Iterator[NDArray]:
    """Judge whatever a session asks for."""
    grades = np.unique(y)
    session = Session(start, in_memory(), "simulated", grades, random_state=int(rng.integers(2**31)))
    asked = {"pairs": pairs, "blind": True}
    view = session.next(asked)
    while not view["done"]:
        if view["task"] is None:
            view = session.next(asked | {"query": view["query"], "other": True})
            continue
        query, docs = view["query"], view["task"]["docs"]
        grade = [float(y[start.collection.row(query, doc)]) for doc in docs]
        said: dict[str, Any] = {"kind": "grade", "grade": grade[0]}
        if pairs:
            said = {"kind": "same" if grade[0] == grade[1] else "above"}
            docs = docs if grade[0] >= grade[1] else docs[::-1]
        view = session.judge(asked | said | {"query": query, "docs": docs})
        yield session.model.coef


def comparing(start: Start, y: NDArray, engine: NDArray, rng: np.random.Generator) -> Iterator[NDArray]:
    """The same with pairs, each one judgment."""
    return as_the_page_proposes(start, y, engine, rng, pairs=True)


def in_order(
    start: Start, y: NDArray, rng: np.random.Generator, scores: Callable[[LiveModel, NDArray], NDArray]
) -> Iterator[NDArray]:
    """Judge the first documents without a grade, by some scores, of queries drawn at random."""
    queries, live = start.collection.queries, start.model
    while True:
        for query in rng.permutation(queries.n_queries).tolist():
            rows = queries.rows_of(query)
            for _ in range(IN_A_ROW):
                graded = live.said.get(query, Said()).rows
                left = rows[~np.isin(rows, graded)]
                if len(left) == 0:
                    break
                chosen = np.append(graded, left[np.argmax(scores(live, left))])
                live.say(query, Said(chosen, y[chosen]))
                yield live.coef


def by_live_order(start: Start, y: NDArray, engine: NDArray, rng: np.random.Generator) -> Iterator[NDArray]:
    return in_order(start, y, rng, lambda live, rows: live.scores(rows))


def at_random(start: Start, y: NDArray, engine: NDArray, rng: np.random.Generator) -> Iterator[NDArray]:
    return in_order(start, y, rng, lambda live, rows: rng.random(len(rows)))


def by_engine(start: Start, y: NDArray, engine: NDArray, rng: np.random.Generator) -> Iterator[NDArray]:
    return in_order(start, y, rng, lambda live, rows: engine[rows])


STRATEGIES: dict[str, Judge] = {
    "what the page proposes": as_the_page_proposes,
    "pairs that the page proposes": comparing,
    "the top of the live order": by_live_order,
    "the engine's top ten": by_engine,
    "at random": at_random,
}


def ohsumed(folder: Path) -> tuple[RankingData, NDArray]:
    """Scaled features; the engine sorts by BM25 of title and abstract, the 21st."""
    folds = sorted((folder / "ohsumed_letor2").glob("Fold*"))
    data = RankingData.concat(load_letor(fold / "testset.txt.xz") for fold in folds).scale_per_query()
    return data, np.asarray(data.X[:, 20])


def movies(folder: Path) -> tuple[RankingData, NDArray]:
    """Scaled signals; the engine sorts by BM25 of title and overview."""
    from benchmarks.movies import signals

    rows = signals(folder / "movies")
    engine = rows.X[:, 0] + rows.X[:, 1]
    docs = [str(row) for row in range(len(rows.y))]
    skewed = np.log1p(np.maximum(rows.X, 0.0))
    data = RankingData.from_arrays(skewed, rows.y, rows.qid, docs).scale_per_query()
    differ = np.minimum.reduceat(data.y, data.queries.offsets[:-1]) < np.maximum.reduceat(
        data.y, data.queries.offsets[:-1]
    )
    kept = np.isin(data.qid, data.queries.labels[differ & (data.queries.sizes > 1)])
    return data.select(kept), engine[kept]


def draw_figure(curves: dict[str, dict[str, NDArray]]) -> None:
    """One panel per data set: the mean over draws of each strategy by the number of judgments."""
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    panels = figure.subplots(1, len(curves))
    for panel, (name, found) in zip(panels, curves.items(), strict=True):
        whole = found["all labels"].mean()
        panel.axhline(whole, color="0.3", linestyle="--", label="all labels")
        panel.axhspan(whole - CLOSE, whole, color="0.9")
        for strategy in STRATEGIES:
            panel.plot(BUDGETS, found[strategy].mean(axis=0), marker="o", markersize=3, label=strategy)
        panel.set(title=name, xlabel="judgments", ylabel="NDCG@10 on other queries", xscale="log")
        panel.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
        panel.minorticks_off()
    panels[-1].legend(frameon=False, fontsize=8)
    FIGURE.parent.mkdir(exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": FIGURE.stem}):  # the same file for the same numbers
        figure.savefig(FIGURE, metadata={"Date": None})
    print(f"\nDrawn: {FIGURE.parent.name}/{FIGURE.name}")
