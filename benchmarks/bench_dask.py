"""Rows on Dask workers: time until training can start, cost per iteration, and a cost model."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.dask_start import N_FEATURES as N_DENSE
from benchmarks.dask_start import bench_start
from benchmarks.peers.comparing import one_thread
from benchmarks.rcv1_shaped import N_FEATURES, generate
from benchmarks.tables import Table, show
from benchmarks.timing import best_times, header, sized
from rankwise import RankingData, RankRLS
from rankwise.cluster.engine import Tally
from rankwise.cluster.parted_products import NormalPart, multiplied
from rankwise.config import config_context
from rankwise.dask import DistributedData
from rankwise.dask.clusters import connected
from rankwise.operators.design import MatrixDesign
from rankwise.ridge.squared import loss_on_scores, losses_on_scores
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem

N_ROUNDS = 15
N_CORES = len(os.sched_getaffinity(0))
# What the model is asked about: rows, features that a row has, workers, and iterations.
FAR_ROWS, FAR_WORKERS, N_ITERATIONS = 10**8, (10, 100), 100


def run() -> None:
    bench_start()
    m = sized(400_000)
    text = generate(m)
    rows = RankingData.from_arrays(text.X, text.label, np.arange(m) // 500)
    header(f"an iteration of conjugate gradient, {m:,} x {N_FEATURES:,} text, workers of 1 thread")
    table = Table(
        "dask-iterations",
        "workers",
        "one process, ms",
        "workers, ms",
        "times as fast",
        "slowest worker alone, ms",
        "over it: best and median, ms",
    )
    bench_model({number: bench_iterations(rows, number, table) for number in (1, 2, 4)})


@dataclass(frozen=True)
class Iteration:
    """Seconds of a product with ``XᵀLX``, those of the slowest worker, and those of a message."""

    wall: float
    compute: float
    empty: float
    per_byte: float
    n_entries: int


def bench_iterations(rows: RankingData, number: int, table: Table) -> Iteration:
    """Target, for 2 workers: 12 ms over the slower worker; 1.4 times as fast as one process."""
    v = np.random.default_rng(0).normal(size=N_FEATURES)
    design = MatrixDesign(rows.X)
    loss_here = loss_on_scores(Problem(rows.X, rows.y, rows.queries, None), Ties.KEEP, Weighting.EXAMPLE)
    with config_context(n_threads=1):
        here = design.normal_operator(loss_here.differences)
    with connected(f"local:{number}"), one_thread():
        (loss,) = losses_on_scores(DistributedData.from_data(rows).problem(), Ties.KEEP, Weighting.EXAMPLE)
        parts = loss.normal().parts
        found: list[tuple[float, float]] = []

        def on_workers() -> None:
            start = time.perf_counter()
            notes = parts.total(timed_product, v).notes
            found.append((time.perf_counter() - start, max(notes)))

        on_workers()
        found.clear()
        best = best_times({"here": lambda: here(v), "workers": on_workers}, N_ROUNDS)
        small = best_times({"": lambda: parts.total(echo, np.zeros(1))}, N_ROUNDS)[""]
        large = best_times({"": lambda: parts.total(echo, np.zeros(1 << 18))}, N_ROUNDS)[""]
    wall, compute = min(found)
    over = [1e3 * (wall - compute) for wall, compute in found]
    table.add(
        str(number),
        f"{1e3 * best['here']:.1f}",
        f"{1e3 * wall:.1f}",
        f"{best['here'] / wall:.2f}",
        f"{1e3 * compute:.1f}",
        f"{min(over):.1f} and {np.median(over):.1f}",
    )
    per_byte = max(0.0, large - small) / (2 * 8 * (1 << 18) * number)
    return Iteration(wall, compute, small, per_byte, rows.X.nnz)


def timed_product(part: NormalPart, v: np.ndarray) -> Tally:
    """A product, and the time that it took in this process, which has one part."""
    start = time.perf_counter()
    total = multiplied(part, v).total
    return Tally(total, (time.perf_counter() - start,))


def echo(part: NormalPart, v: np.ndarray) -> np.ndarray:
    return v


@dataclass(frozen=True)
class Model:
    """Seconds per entry and product, per pass, per worker in it, per byte, and per multiply-add."""

    entry: float
    a_pass: float
    worker: float
    byte: float
    multiply_add: float

    def iteration(
        self, n_entries: float, n_features: int, n_workers: int, n_cores: int | None = None
    ) -> float:
        """One product on all workers; fewer cores than workers take turns."""
        compute = self.entry * n_entries / min(n_workers, n_cores or n_workers)
        return compute + self.communication(n_features, n_workers)

    def communication(self, n_numbers: float, n_workers: int) -> float:
        """n numbers to each worker and back, one worker after the other: the client has one connection."""
        return self.a_pass + n_workers * (self.worker + 2.0 * 8.0 * n_numbers * self.byte)

    def moments(self, n_rows: float, n_features: int, n_workers: int) -> float:
        """The moments of all parts, their sum, and the closed form."""
        n = float(n_features)
        compute = self.multiply_add * (n_rows * n**2 / n_workers + n**3)
        return compute + self.communication(n**2 / 2.0, n_workers)


def bench_model(measured: dict[int, Iteration]) -> None:
    """No target: constants, how well they predict, and what they say about larger data."""
    one, four = measured[1], measured[4]
    worker = max(0.0, (four.empty - one.empty) / 3.0)
    model = Model(
        entry=one.compute / one.n_entries,
        a_pass=max(0.0, one.empty - worker),
        worker=worker,
        byte=float(np.median([found.per_byte for found in measured.values()])),
        multiply_add=seconds_per_multiply_add(),
    )
    header("the cost model")
    show(
        "dask-constants",
        ["constant", "value"],
        [
            ["`entry`: per stored entry and product", f"{1e9 * model.entry:.2f} ns"],
            ["`pass`: per pass", f"{1e3 * model.a_pass:.1f} ms"],
            ["`worker`: per worker in a pass", f"{1e3 * model.worker:.1f} ms"],
            ["`byte`: per byte", f"{1e9 * model.byte:.2f} ns"],
            ["`multiply_add`: per multiply-add of moments", f"{1e9 * model.multiply_add:.3f} ns"],
        ],
    )
    show(
        "dask-predictions",
        ["workers", "iteration, ms", "predicted, ms"],
        [
            [str(number), f"{1e3 * found.wall:.1f}", f"{1e3 * predicted(model, found, number):.1f}"]
            for number, found in measured.items()
        ],
    )
    foresee(model)


def predicted(model: Model, found: Iteration, number: int) -> float:
    return model.iteration(found.n_entries, N_FEATURES, number, N_CORES)


def seconds_per_multiply_add() -> float:
    rng = np.random.default_rng(0)
    m = sized(100_000)
    X, y, qid = rng.normal(size=(m, N_DENSE)), rng.integers(0, 3, m).astype(float), np.arange(m) // 100
    with one_thread():
        best = best_times({"": lambda: RankRLS(solver="primal").fit(X, y, qid)}, 3)[""]
    return best / (m * N_DENSE**2)


def foresee(model: Model) -> None:
    header(f"forecast for {FAR_ROWS:,} rows, {N_ITERATIONS} iterations or moments")
    rows = []
    for name, n_features, per_row in (
        ("136 dense features", 136, 136),
        ("47,152 words, 75 per row", N_FEATURES, 75),
    ):
        for number in FAR_WORKERS:
            iterations = N_ITERATIONS * model.iteration(FAR_ROWS * per_row, n_features, number)
            sent = N_ITERATIONS * model.communication(n_features, number) / iterations
            moments = model.moments(FAR_ROWS, n_features, number)
            rows.append([name, str(number), f"{iterations:,.0f}", f"{sent:.0%}", f"{moments:,.0f}"])
    show("dask-forecast", ["rows", "workers", "iterations, s", "of it sent", "moments, s"], rows)
    rows = []
    for number in FAR_WORKERS:
        few = largest(
            lambda n, p=number: (
                model.moments(FAR_ROWS, n, p) < N_ITERATIONS * model.iteration(FAR_ROWS * n, n, p)
            )
        )
        sparse = largest(lambda n, p=number: model.communication(n, p) < model.entry * FAR_ROWS * 75 / p)
        rows.append([str(number), f"{few:,}", f"{sparse:,}"])
    show(
        "dask-limits",
        [
            "workers",
            "moments take less time up to ... dense features",
            "most of an iteration on 75 words per row is sent from ... words on",
        ],
        rows,
    )


def largest(holds: Callable[[int], bool]) -> int:
    """The largest number of features, to two digits, up to which something holds."""
    found = 0
    for exponent in range(1, 8):
        for n in range(10, 100):
            if not holds(n * 10 ** (exponent - 1)):
                return found
            found = n * 10 ** (exponent - 1)
    return found
