"""Large-scale RankRLS on RCV1-shaped text: one pass per product, all alphas and iterations from one run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from benchmarks.rcv1_shaped import generate
from benchmarks.tables import Table, headline
from benchmarks.timing import best_times, header, sized
from rankwise.config import config_context
from rankwise.held_out import HeldOut
from rankwise.metrics import get_measure
from rankwise.operators.design import MatrixDesign
from rankwise.operators.native_rows import NativeRows
from rankwise.operators.normal import normal_operator
from rankwise.operators.renumbering import frequency_order, renumbered
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import Queries, group_rows, one_query
from rankwise.readers.store import save_store
from rankwise.ridge.cg_result import ShiftedCGResult
from rankwise.ridge.shifted_cg import shifted_cg
from rankwise.rows.ranking import RankingData

THREADS = 2
ROWS, QUERY_ROWS = sized(400_000), 100
REVIEW_ROWS, REVIEW_WORDS = sized(20_000), 28_000
SURFACE_ROWS, VALIDATION_ROWS = sized(100_000), sized(8_149)
ALPHAS = 2.0 ** np.arange(-10, 11)
AGREEMENT_ROWS = sized(20_000)
SLOPE_ROWS = [sized(m) for m in (50_000, 100_000, 200_000, 400_000, 800_000)]
# The interpreter and its libraries take about 200 MB, so the store must be large.
LEAST_LIMIT = 300 << 20


@config_context(n_threads=THREADS)
def run() -> None:
    text = generate(max(*SLOPE_ROWS, ROWS))
    table = Table(
        "sparse-product", "times as fast as SciPy on one thread", *map(threads_in_words, (1, THREADS))
    )
    products(table, sparse.csr_matrix(text.X[:ROWS]))
    # Longer rows of fewer words, as in film reviews: two documents in one.
    reviews = generate(2 * REVIEW_ROWS, n_features=REVIEW_WORDS).X
    products(table, sparse.csr_matrix(reviews[:REVIEW_ROWS] + reviews[REVIEW_ROWS:]))
    renumbering(sparse.csr_matrix(text.X[:ROWS]))
    surface(sparse.csr_matrix(text.X[:SURFACE_ROWS]), text.label[:SURFACE_ROWS])
    agreement(sparse.csr_matrix(text.X[:AGREEMENT_ROWS]), text.label[:AGREEMENT_ROWS])
    slope(text.X)
    larger_than_memory(text.X, text.label, copies=2)


def queries_of(m: int, size: int | None) -> Queries:
    return one_query(m) if size is None else group_rows(np.arange(m) // size, m)


def threads_in_words(n: int) -> str:
    return "1 thread" if n == 1 else f"{n} threads"


def products(table: Table, X: sparse.csr_matrix) -> None:
    header(
        f"X'LXv on {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz / X.shape[0]:.0f} per row; "
        f"SciPy {scipy.__version__}"
    )
    m, n = X.shape
    single = X.astype(np.float32)
    v = np.random.default_rng(0).normal(size=n)

    def two_products(size: int | None) -> np.ndarray:
        scores = (X @ v).reshape(-1, size or m)
        return X.T @ (scores - scores.mean(axis=1, keepdims=True)).ravel()

    pool = ThreadPoolExecutor(THREADS)
    parts = np.array_split(X.data, THREADS)

    def read() -> None:
        list(pool.map(np.sum, parts))

    alternatives = {"read": read}
    bytes_of = {"read": X.data.nbytes}
    rankings = {"one global ranking": None, f"queries of {QUERY_ROWS}": QUERY_ROWS}
    for name, size in rankings.items():
        F = QueryDifferences(queries_of(m, size), np.zeros(m))
        alternatives[f"{name}: scipy float64"] = lambda size=size: two_products(size)
        for matrix in (X, single):
            for threads in (1, THREADS):
                with config_context(n_threads=threads):
                    product = MatrixDesign(matrix).normal_operator(F)
                label = f"{name}: {matrix.dtype}, {threads} threads"
                alternatives[label] = lambda product=product: product(v)
                bytes_of[label] = matrix.data.nbytes + matrix.indices.nbytes
                error = np.abs(product(v) - two_products(size)).max() / np.abs(two_products(size)).max()
                assert error < (1e-10 if matrix is X else 1e-5), error
    with pool:
        times = best_times(alternatives, repeats=25)
    bandwidth = bytes_of["read"] / times["read"]
    print(f"read bandwidth, {THREADS} threads: {bandwidth / 1e9:.1f} GB/s")
    for label, seconds in times.items():
        if label in bytes_of and label != "read":
            baseline = times[label.split(":")[0] + ": scipy float64"]
            share = bytes_of[label] / seconds / bandwidth
            print(
                f"{label:44s} {1e3 * seconds:7.1f} ms   {baseline / seconds:5.2f} x scipy "
                f"({1e3 * baseline:.1f} ms)   {share:4.0%} of bandwidth"
            )
    for name in rankings:
        for matrix in (X, single):
            ratios = (
                times[f"{name}: scipy float64"] / times[f"{name}: {matrix.dtype}, {threads} threads"]
                for threads in (1, THREADS)
            )
            what = f"{m:,} × {n:,}, {X.nnz / m:.0f} per row, {name}, {matrix.dtype}"
            table.add(what, *(f"{ratio:.2f}" for ratio in ratios))


def renumbering(X: sparse.csr_matrix) -> None:
    """What renumbering the columns by frequency costs, and what each product gains from it."""
    header(f"columns renumbered by frequency, {X.shape[0]:,} x {X.shape[1]:,}, {THREADS} threads")
    order = frequency_order(X)
    if order is None:
        print("skipped: too few entries per column")
        return
    v = np.random.default_rng(0).normal(size=X.shape[1])
    F = QueryDifferences(one_query(X.shape[0]), np.zeros(X.shape[0]))
    plain = NativeRows(X)
    other = NativeRows(renumbered(X, order), column_order=order)
    before, after = normal_operator(F, plain), normal_operator(F, other)
    calls = {
        "renumber": lambda: renumbered(X, frequency_order(X)),
        "before": lambda: before(v),
        "after": lambda: after(v),
    }
    ms = {name: 1e3 * seconds for name, seconds in best_times(calls, repeats=15).items()}
    gain = ms["before"] - ms["after"]
    print(
        f"product {ms['before']:.1f} ms, renumbered {ms['after']:.1f} ms: {ms['before'] / ms['after']:.2f} x"
    )
    if gain > 0:
        print(f"renumbering {ms['renumber']:.1f} ms: pays after {ms['renumber'] / gain:.1f} products")


def surface(X: sparse.csr_matrix, y: np.ndarray) -> None:
    held = generate(VALIDATION_ROWS, seed=0, first_block=1_000)
    header(f"{len(ALPHAS)} alphas x all iterations, {X.shape[0]:,} rows, {VALIDATION_ROWS:,} for validation")
    design, held_design = MatrixDesign(X), MatrixDesign(held.X)
    F = QueryDifferences(one_query(len(y)), y)
    product, right = design.normal_operator(F), design.adjoint(F.laplacian(y))
    error = get_measure("pairwise_error").prepare(held.label)
    judged = {"held_out": HeldOut(held_design.X, error), "scores": held_design.scores}

    def surface_of(alphas: np.ndarray, **judged: Any) -> ShiftedCGResult:
        return shifted_cg(product, right, alphas, **judged)

    times = best_times(
        {"whole": lambda: surface_of(ALPHAS, **judged), "single": lambda: surface_of(ALPHAS[:1])}, repeats=3
    )
    whole, smallest = surface_of(ALPHAS, **judged), surface_of(ALPHAS[:1])
    whole_time, single_time = times["whole"], times["single"]
    start = time.perf_counter()
    peer, peer_products = scipy_runs(X, right, held.X, error)
    peer_time = time.perf_counter() - start

    gap = max(difference(w, p) for w, p in zip(whole.solutions, peer, strict=True))
    print(f"surface:            {whole_time:7.2f} s, {whole.n_iterations} products")
    print(f"smallest alpha:     {single_time:7.2f} s, {smallest.n_iterations} products, not validated")
    print(f"21 SciPy runs:      {peer_time:7.2f} s, {peer_products} products")
    print(f"surface / smallest alpha: {whole_time / single_time:.2f}   (at most 1.6)")
    print(f"SciPy / surface:          {peer_time / whole_time:.1f}   (at least 10)")
    print(f"largest difference from SciPy's coefficients, both stopped at 1e-5: {gap:.1e}")
    headline(
        f"{len(ALPHAS)} alphas × all iterations, text of {X.shape[0]:,} × {X.shape[1]:,}",
        f"{whole_time:.1f} s",
        f"{len(ALPHAS)} runs of SciPy's `cg` take {peer_time / whole_time:.0f} times as long",
    )
    for name in ("tikhonov", "by_iteration", "hybrid"):
        reading = getattr(whole, name)()
        where = f"alpha {reading.alpha:<10g} iterations {reading.n_iter:3d}"
        print(f"  {name:13s} {where}  error {reading.value:.4f}")


def scipy_runs(
    X: sparse.csr_matrix, right: np.ndarray, held: sparse.csr_array, error: object
) -> tuple[list[np.ndarray], int]:
    """The straightforward SciPy solution: one run per alpha, validated in every iteration."""
    runs = [
        scipy_run(X, right, float(alpha), rtol=1e-5, maxiter=500, each=lambda w: error(held @ w))
        for alpha in ALPHAS
    ]
    return [solution for solution, _ in runs], sum(count for _, count in runs)


def scipy_run(
    X: sparse.csr_matrix, right: np.ndarray, alpha: float, *, rtol: float, maxiter: int, each: object = None
) -> tuple[np.ndarray, int]:
    """The solution for one alpha on one global ranking, and the number of products."""
    count = 0

    def normal(v: np.ndarray) -> np.ndarray:
        nonlocal count
        count += 1
        scores = X @ v
        return X.T @ (scores - scores.mean()) + alpha * v

    operator = LinearOperator((X.shape[1], X.shape[1]), matvec=normal, dtype=float)
    return cg(operator, right, rtol=rtol, maxiter=maxiter, callback=each)[0], count


def difference(u: np.ndarray, v: np.ndarray) -> float:
    """The largest difference, relative to the largest coefficient."""
    return float(np.abs(u - v).max() / np.abs(v).max())


def agreement(X: sparse.csr_matrix, y: np.ndarray) -> None:
    """Compare the surface's coefficients with separate SciPy runs, after equal iterations and converged.

    In exact arithmetic, the iterates are the same. In floating point, conjugate gradient loses orthogonality,
    and rounding errors grow with the iterations until they are damped at convergence. Comparing SciPy with
    itself, on the same rows in a different order, shows by how much.
    """
    header(f"coefficients of the surface against separate SciPy runs, {X.shape[0]:,} rows")
    design, F = MatrixDesign(X), QueryDifferences(one_query(len(y)), y)
    product, right = design.normal_operator(F), design.adjoint(F.laplacian(y))
    other_order = X[np.random.default_rng(0).permutation(len(y))]
    paper = shifted_cg(product, right, ALPHAS)
    tight = shifted_cg(product, right, ALPHAS, tol=1e-10, max_iter=2_000)
    print("   alpha   iterations to 1e-5, SciPy's   after as many, SciPy, reordered     at 1e-10")
    for k in range(0, len(ALPHAS), 2):
        alpha, n_iter = float(ALPHAS[k]), int(paper.n_iter[k])
        _, to_tolerance = scipy_run(X, right, alpha, rtol=1e-5, maxiter=500)
        alike, _ = scipy_run(X, right, alpha, rtol=0.0, maxiter=n_iter)
        control, _ = scipy_run(other_order, right, alpha, rtol=0.0, maxiter=n_iter)
        converged, _ = scipy_run(X, right, alpha, rtol=1e-10, maxiter=2_000)
        print(
            f"{alpha:10.4g} {n_iter:14d} {to_tolerance:12d} {difference(paper.solutions[k], alike):15.1e} "
            f"{difference(control, alike):20.1e} {difference(tight.solutions[k], converged):10.1e}"
        )


def slope(X: sparse.csr_array) -> None:
    header("time per iteration against the number of rows")
    v = np.random.default_rng(0).normal(size=X.shape[1])
    alternatives = {}
    for m in SLOPE_ROWS:
        F = QueryDifferences(queries_of(m, QUERY_ROWS), np.zeros(m))
        product = MatrixDesign(sparse.csr_matrix(X[:m])).normal_operator(F)
        alternatives[str(m)] = lambda product=product: product(v)
    times = best_times(alternatives, repeats=7)
    for m, seconds in times.items():
        print(f"{int(m):9,d} rows {1e3 * seconds:8.1f} ms")
    fitted = np.polyfit(np.log(SLOPE_ROWS), np.log(list(times.values())), 1)[0]
    print(f"slope of log time against log rows: {fitted:.3f}   (at most 1.05)")


LIMITED = """
import resource, sys, time
from rankwise import RankRLS, open_store
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
data = open_store(sys.argv[1])
start = time.perf_counter()
model = RankRLS(alpha=float(sys.argv[3]), solver="cg").fit(data.X, data.y, data.qid)
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(f"{model.n_iter_} iterations in {time.perf_counter() - start:.1f} s, peak RSS {peak / 1024:.0f} MB")
"""


def larger_than_memory(X: sparse.csr_array, y: np.ndarray, copies: int) -> None:
    header("training on a store under a memory limit (RLIMIT_DATA)")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        rows = sparse.csr_matrix(sparse.vstack([X] * copies, format="csr"))
        save_store(RankingData(rows, np.tile(y, copies), one_query(rows.shape[0])), store)
        del rows
        size = sum(file.stat().st_size for file in store.iterdir())
        limit = size // 4
        if limit < LEAST_LIMIT:
            print(f"skipped: a store of {size / 2**20:.0f} MB is too small for a meaningful limit")
            return
        print(f"store {size / 2**20:.0f} MB, limit {limit / 2**20:.0f} MB:", end=" ", flush=True)
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "RANKWISE_NUM_THREADS": str(THREADS)}
        subprocess.run(
            [sys.executable, "-c", LIMITED, str(store), str(limit), "100"], check=True, env=environment
        )
