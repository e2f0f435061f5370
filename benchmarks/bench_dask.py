"""Rows on Dask workers: time until training can start, cost per iteration, and a cost model."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.dask_start import N_FEATURES as N_DENSE
from benchmarks.dask_start import N_PARTS, bench_start, workers
from benchmarks.peers.comparing import one_thread
from benchmarks.rcv1_shaped import N_FEATURES, generate
from benchmarks.timing import best_times, header, sized
from rankwise import RankingData, RankRLS, save_store
from rankwise.dask import DistributedData
from rankwise.losses.squared import loss_on_scores, losses_on_scores
from rankwise.operators.design import MatrixDesign
from rankwise.parts.normal import NormalPart, multiplied
from rankwise.parts.tree import Tally
from rankwise.types import Ties, Weighting

N_ROUNDS = 15
N_CORES = len(os.sched_getaffinity(0))
# What the model is asked about: rows, features that a row has, workers, and iterations.
FAR_ROWS, FAR_WORKERS, N_ITERATIONS = 10**8, (10, 100), 100


def run() -> None:
    bench_start()
    with TemporaryDirectory() as folder:
        rows = stored_text(Path(folder))
        measured = {n: bench_iterations(Path(folder), n, rows) for n in (1, 2, 4)}
    bench_model(measured)


@dataclass(frozen=True)
class Iteration:
    """Seconds of a product with ``XᵀLX``, those of the slowest worker, and those of a message."""

    wall: float
    compute: float
    empty: float
    per_byte: float
    n_entries: int


def stored_text(folder: Path) -> RankingData:
    """Text in stores, which workers map into memory; also here, for one process."""
    m = sized(400_000)
    text = generate(m)
    rows = RankingData.from_arrays(text.X, text.label, np.arange(m) // 500)
    ends = np.linspace(0, m, N_PARTS + 1).astype(int)
    for part in range(N_PARTS):
        save_store(rows.select(slice(ends[part], ends[part + 1])), folder / f"{part}.store")
    return rows


def bench_iterations(folder: Path, number: int, rows: RankingData) -> Iteration:
    """Target, for 2 workers: 12 ms over the slower worker; 1.4 times as fast as one process."""
    header(f"conjugate gradient, {rows.n_rows:,} x {N_FEATURES:,} text, {number} workers of 1 thread; ms")
    v = np.random.default_rng(0).normal(size=N_FEATURES)
    design = MatrixDesign(rows.X, n_threads=1)
    with workers(number), one_thread():
        data = DistributedData.from_files(folder / "*.store", merge_queries=True)
        (loss,) = losses_on_scores(data.problem(), Ties.KEEP, Weighting.EXAMPLE)
        parts = loss.normal().parts
        here = design.normal_operator(
            loss_on_scores(problem_of(rows), Ties.KEEP, Weighting.EXAMPLE).differences
        )
        found: list[tuple[float, float]] = []

        def on_workers() -> None:
            start = time.perf_counter()
            notes = parts.total(timed_product, v).notes
            found.append((time.perf_counter() - start, slowest(notes)))

        on_workers()
        found.clear()
        alternatives = {"here": lambda: here(v), "workers": on_workers}
        best = best_times(alternatives, N_ROUNDS)
        over = min(wall - compute for wall, compute in found)
        typical = float(np.median([wall - compute for wall, compute in found]))
        wall, compute = min(found)
        small = best_times({"": lambda: parts.total(echo, np.zeros(1))}, 2 * N_ROUNDS)[""]
        large = best_times({"": lambda: parts.total(echo, np.zeros(1 << 18))}, N_ROUNDS)[""]
    print(f"{'one process, 1 thread':44} {1e3 * best['here']:8.1f}")
    print(f"{f'{number} workers':44} {1e3 * wall:8.1f}   {best['here'] / wall:.2f} times as fast")
    print(f"{'slowest worker alone':44} {1e3 * compute:8.1f}")
    print(f"{'over the slowest worker: best, median':44} {1e3 * over:8.1f} {1e3 * typical:8.1f}")
    print(f"{'a pass that does nothing':44} {1e3 * small:8.1f}", flush=True)
    per_byte = max(0.0, large - small) / (2 * 8 * (1 << 18) * number)
    return Iteration(wall, compute, small, per_byte, rows.X.nnz)


def problem_of(rows: RankingData) -> Any:
    from rankwise.validation import Problem

    return Problem(rows.X, rows.y, rows.queries, None)


def timed_product(part: NormalPart, v: np.ndarray) -> Tally:
    """A product, and the time that it took in this process."""
    start = time.perf_counter()
    total = multiplied(part, v).total
    return Tally(total, ((os.getpid(), time.perf_counter() - start),))


def slowest(notes: tuple[tuple[int, float], ...]) -> float:
    """The longest time of a process, whose parts take their turns."""
    seconds: dict[int, float] = {}
    for process, taken in notes:
        seconds[process] = seconds.get(process, 0.0) + taken
    return max(seconds.values())


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
    print(f"per stored entry and product {1e9 * model.entry:10.2f} ns")
    print(f"per pass                     {1e3 * model.a_pass:10.2f} ms, {1e3 * model.worker:.2f} per worker")
    print(f"per byte                     {1e9 * model.byte:10.2f} ns")
    print(f"per multiply-add of moments  {1e9 * model.multiply_add:10.3f} ns")
    print(f"\n{'workers':>8} {'iteration, ms':>14} {'predicted':>10}   on {N_CORES} cores")
    for number, found in measured.items():
        predicted = model.iteration(found.n_entries, N_FEATURES, number, N_CORES)
        print(f"{number:8} {1e3 * found.wall:14.1f} {1e3 * predicted:10.1f}")
    foresee(model)


def seconds_per_multiply_add() -> float:
    rng = np.random.default_rng(0)
    m = sized(100_000)
    X, y, qid = rng.normal(size=(m, N_DENSE)), rng.integers(0, 3, m).astype(float), np.arange(m) // 100
    with one_thread():
        best = best_times({"": lambda: RankRLS(solver="primal").fit(X, y, qid)}, 3)[""]
    return best / (m * N_DENSE**2)


def foresee(model: Model) -> None:
    print(f"\n{FAR_ROWS:,} rows, {N_ITERATIONS} iterations or moments:")
    print(f"{'':34} {'workers':>8} {'iterations, s':>14} {'of it sent':>11} {'moments, s':>11}")
    for name, n_features, per_row in (
        ("136 dense features", 136, 136),
        ("47,152 words, 75 per row", N_FEATURES, 75),
    ):
        for number in FAR_WORKERS:
            iterations = N_ITERATIONS * model.iteration(FAR_ROWS * per_row, n_features, number)
            sent = N_ITERATIONS * model.communication(n_features, number) / iterations
            moments = model.moments(FAR_ROWS, n_features, number)
            print(f"{name:34} {number:8} {iterations:14.0f} {sent:11.0%} {moments:11.0f}")
    for number in FAR_WORKERS:
        few = largest(
            lambda n, p=number: (
                model.moments(FAR_ROWS, n, p) < N_ITERATIONS * model.iteration(FAR_ROWS * n, n, p)
            )
        )
        print(f"{number} workers: moments take less time up to {few:,} dense features")
        sparse = largest(lambda n, p=number: model.communication(n, p) < model.entry * FAR_ROWS * 75 / p)
        print(
            f"{number} workers: most of an iteration on 75 words per row is sent from {sparse:,} features on"
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
