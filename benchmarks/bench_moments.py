"""Moments: exact splits, updates and forgetting, the time of an update, and progressive validation."""

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.comparing import is_installed
from benchmarks.tables import show
from benchmarks.timing import best_times, header, real_data, sized
from rankwise import Moments, QuerySizes, RankingData, RankRLS, RankRLSCV, load_letor
from rankwise.metrics import get_measure
from rankwise.types import Ties, Weighting

N_PARTS, N_UPDATES, N_BATCHES, N_TREES = 5, 50, 10, 100
ALPHAS = 2.0 ** np.arange(-15, 16)
MEASURE = "ndcg@10"


def run() -> None:
    folder = real_data()
    if folder is not None:
        first, _ = fold(folder, 1)
        split, updated = bench_splits(first), bench_updates(first)
        rows = f"rows of fold 1 ({first.n_rows:,}, {first.queries.n_queries} queries)"
        distances = {
            f"{rows} cut at random into {N_PARTS} parts": split,
            f"{N_UPDATES} random `partial_fit` and `forget` of queries": updated,
        }
        columns = ("", "distance from one fit, largest of all ties × weightings")
        show("distances", columns, [(what, f"{far:.1e}") for what, far in distances.items()])
        bench_stream(folder)
    bench_open_queries()
    bench_time()


def fold(folder: Path, number: int) -> tuple[RankingData, RankingData]:
    """Training and validation queries together, and the test queries."""
    path = folder / "ohsumed_letor2" / f"Fold{number}"
    names = {name: next(path.glob(f"{name}*")) for name in ("training", "validation", "test")}
    parts = {name: load_letor(file, dense=True).scale_per_query() for name, file in names.items()}
    train, valid = parts["training"], parts["validation"]
    arrays = ([getattr(part, name) for part in (train, valid)] for name in ("X", "y", "qid"))
    return RankingData.from_arrays(*map(np.concatenate, arrays)), parts["test"]


def distance(ours: RankRLS, theirs: RankRLS) -> float:
    return float(np.abs(ours.coef_ - theirs.coef_).max())


def bench_splits(data: RankingData) -> float:
    """Target: 1e-10. Return the largest distance."""
    header(f"OHSUMED, {data.n_rows:,} rows cut at random into {N_PARTS} parts: distance from one fit")
    part = np.random.default_rng(0).integers(0, N_PARTS, data.n_rows)
    rows = [np.flatnonzero(part == number) for number in range(N_PARTS)]
    sizes = QuerySizes.of(data.y, data.qid)
    print(f"{'ties':6} {'weighting':10} {'scatter carried':>16} {'sizes told':>12}")
    largest = 0.0
    for ties, weighting in product(map(str, Ties), map(str, Weighting)):
        fitted = RankRLS(ties=ties, weighting=weighting, solver="primal").fit(data.X, data.y, data.qid)
        off = []
        for told in (None, sizes):
            options = {"ties": ties, "weighting": weighting, "open_queries": True, "sizes": told}
            parts = [Moments.of(data.select(some), **options) for some in rows]
            total = parts[0]
            for other in parts[1:]:
                total += other
            off.append(distance(RankRLS.from_moments(total.close()), fitted))
        print(f"{ties:6} {weighting:10} {off[0]:16.1e} {off[1]:12.1e}")
        largest = max(largest, *off)
    return largest


def bench_open_queries() -> None:
    """Target: 4 µs per query and part, of merging and closing."""
    n_queries, size = sized(20_000), 8
    header(
        f"{n_queries:,} queries of {size} rows, cut across {N_PARTS} parts; processor µs per query and part"
    )
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(n_queries * size, 20)), np.repeat(np.arange(n_queries), size)
    y, part = rng.integers(0, 3, len(X)).astype(float), rng.integers(0, N_PARTS, len(X))
    print(f"{'ties':6} {'weighting':10} {'formed':>7} {'merged':>7} {'closed':>7}")
    for ties, weighting, told in (
        ("keep", "example", None),
        ("keep", "pair", QuerySizes.of(y, qid)),
        ("drop", "example", QuerySizes.of(y, qid)),
    ):
        options = {"ties": ties, "weighting": weighting, "open_queries": True, "sizes": told}
        made: dict[str, Any] = {}

        def form(made=made, options=options) -> None:
            chosen = (part == number for number in range(N_PARTS))
            made["parts"] = [Moments.of(X[rows], y[rows], qid[rows], **options) for rows in chosen]

        def merge(made=made) -> None:
            made["total"] = sum(made["parts"][1:], start=made["parts"][0])

        steps = {"form": form, "merge": merge, "close": lambda made=made: made["total"].close()}
        best = best_times(steps, 3, time.process_time)
        n_parts = sum(len(one.open_queries) for one in made["parts"])
        print(f"{ties:6} {weighting:10} " + " ".join(f"{1e6 * s / n_parts:7.1f}" for s in best.values()))


def bench_updates(data: RankingData) -> float:
    """Target: 1e-8, and the bound holds. Return the largest distance."""
    header(f"OHSUMED, {N_UPDATES} random updates: distance from a fit of what is left, and the bound")
    labels = data.queries.labels
    print(f"{'ties':6} {'weighting':10} {'learned':>8} {'distance':>9} {'bound':>9}")
    largest = 0.0
    for ties, weighting in product(map(str, Ties), map(str, Weighting)):
        rng = np.random.default_rng(1)
        learned = set(labels[: len(labels) // 2].tolist())
        some = data.select(queries=learned)
        model = RankRLS(ties=ties, weighting=weighting, solver="primal").fit(some.X, some.y, some.qid)
        for label in rng.choice(labels, N_UPDATES).tolist():
            query = data.select(queries=[label])
            update = model.forget if label in learned else model.partial_fit
            update(query.X, query.y, query.qid)
            learned ^= {label}
        left = data.select(queries=learned)
        fitted = RankRLS(ties=ties, weighting=weighting, solver="primal").fit(left.X, left.y, left.qid)
        off = float(np.linalg.norm(model.coef_ - fitted.coef_))
        print(f"{ties:6} {weighting:10} {len(learned):8} {off:9.1e} {model.coef_error_:9.1e}")
        largest = max(largest, off)
    return largest


def bench_time() -> None:
    """Target: an update in at most 3 % of the time of a refit."""
    m, n, size = sized(1_000_000), 136, 100
    header(f"100 queries of {size} rows added to a model of {m:,} x {n}; processor time, s")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m + 100 * size, n))
    y = np.digitize(X[:, :5].sum(axis=1) + rng.normal(size=len(X)), [-1.0, 1.0]).astype(float)
    qid = np.arange(len(X)) // size
    old = RankRLS(solver="primal").fit(X[:m], y[:m], qid[:m])
    learned, _ = old.model_, old.moments_

    def update() -> None:
        old.model_ = learned
        old.partial_fit(X[m:], y[m:], qid[m:])

    def refit() -> RankRLS:
        return RankRLS(solver="primal").fit(X, y, qid)

    best = best_times({"update": update, "refit": refit}, 3, time.process_time)
    ratio = best["update"] / best["refit"]
    print(f"update {best['update']:.3f}, refit {best['refit']:.3f}, ratio {ratio:.4f}")
    print(f"distance from the refit {distance(old, refit()):.1e}, bound {old.coef_error_:.1e}")


def bench_stream(folder: Path) -> None:
    """No target: what is learned from a stream next to what is learned from everything."""
    header(f"OHSUMED as a stream of {N_BATCHES} batches, means over 5 folds: {MEASURE} on test queries")
    values: dict[str, list[float]] = {}
    alphas: dict[str, list[float]] = {}
    for number in range(1, 6):
        data, test = fold(folder, number)
        for name, scores, alpha in learned_from(data, test):
            values.setdefault(name, []).append(get_measure(MEASURE)(test.y, scores, test.qid))
            alphas.setdefault(name, []).append(np.log2(alpha))
    lines = []
    for name, found in values.items():
        exponents = ", ".join(f"{exponent:.0f}" for exponent in alphas[name] if np.isfinite(exponent))
        lines.append((name, f"{np.mean(found):.3f}", exponents))
    show("stream", ("", MEASURE.upper(), "log₂ alpha, by fold"), lines)


def learned_from(data: RankingData, test: RankingData) -> Iterator[tuple[str, np.ndarray, float]]:
    labels = np.random.default_rng(0).permutation(data.queries.labels)
    batches = [data.select(queries=some.tolist()) for some in np.array_split(labels, N_BATCHES)]
    for half_life in (None, 3.0):
        model = RankRLSCV(ALPHAS, measure=MEASURE, half_life=half_life)
        for batch in batches:
            model.partial_fit(batch.X, batch.y, batch.qid)
        old = "" if half_life is None else f", half-life of {half_life:g} batches"
        yield f"`RankRLSCV.partial_fit`, progressive validation{old}", model.predict(test.X), model.alpha_
    model = RankRLSCV(ALPHAS, measure=MEASURE).fit(data.X, data.y, data.qid)
    yield "`RankRLSCV.fit`, leave-query-out on everything", model.predict(test.X), model.alpha_
    if is_installed("lightgbm", "lightgbm"):
        yield (
            f"LightGBM, {N_TREES} trees of the first batch, `refit` on each other batch",
            refitted(batches, test),
            np.nan,
        )
        yield f"LightGBM, {N_TREES} trees, on everything", trees(data).predict(test.X), np.nan


def sorted_rows(data: RankingData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows by query, their labels, and the sizes of the queries."""
    queries = data.queries
    return queries.grouped(data.X), queries.grouped(data.y).astype(int), queries.sizes


def trees(data: RankingData):
    from lightgbm import LGBMRanker

    X, y, sizes = sorted_rows(data)
    return LGBMRanker(n_estimators=N_TREES, n_jobs=1, verbose=-1).fit(X, y, group=sizes)


def refitted(batches: list[RankingData], test: RankingData) -> np.ndarray:
    """Trees of the first batch, whose leaves follow the others: what LightGBM offers for updates."""
    booster = trees(batches[0]).booster_
    for batch in batches[1:]:
        X, y, sizes = sorted_rows(batch)
        booster = booster.refit(X, y, group=sizes)
    return booster.predict(test.X)
