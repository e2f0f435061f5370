"""The regularization path: optimality between breakpoints, its cost in QP solves, large cases, selection.

The real data sets are used when RANKWISE_SHARED names their folder (see benchmarks/path_data.py).
"""

import os
import resource
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.path_data import SOURCES, kernel_of, load, with_duplicates
from benchmarks.timing import best_times, header
from rankwise import RankSVMPath
from rankwise.preferences.graphs import PreferenceGraph, full_graph, reduced_graph
from rankwise.preferences.queries import one_query
from rankwise.solvers.svm_path import SVMPath, duality_gap, ranking_svm_path
from rankwise.threads import resolve_threads

GRAPHS = {"reduced": reduced_graph, "full": full_graph}
# General solvers take full graphs up to this many pairs.
MAX_QP_PAIRS = 2000


def follow(K: np.ndarray, graph: PreferenceGraph, share: float) -> tuple[SVMPath, float]:
    start = time.perf_counter()
    path = ranking_svm_path(K, graph, min_level=lambda level: share * level, n_threads=resolve_threads())
    return path, time.perf_counter() - start


def general_solver(K: np.ndarray, graph: PreferenceGraph, level: float) -> tuple[float, float]:
    """The dual optimum from an interior-point solver, and its time."""
    import clarabel

    m = graph.n_pairs
    P = np.zeros((m, graph.n_rows))
    P[np.arange(m), graph.better] += 1.0
    P[np.arange(m), graph.worse] -= 1.0
    Q = sparse.triu(P @ K @ P.T / level).tocsc()
    box = sparse.vstack([sparse.eye(m), -sparse.eye(m)]).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    bounds = np.concatenate([graph.weight, np.zeros(m)])
    start = time.perf_counter()
    solver = clarabel.DefaultSolver(Q, -np.ones(m), box, bounds, [clarabel.NonnegativeConeT(2 * m)], settings)
    optimum = -solver.solve().obj_val
    return optimum, time.perf_counter() - start


def check_optimality(name: str, X: np.ndarray, y: np.ndarray, kind: str, kernel: str) -> None:
    K = np.ascontiguousarray(kernel_of(kernel)(X))
    graph = GRAPHS[kind](one_query(len(y)), y)
    path, seconds = follow(K, graph, 0.01)
    rng = np.random.default_rng(0)
    levels = np.exp(rng.uniform(np.log(path.levels[-1]), np.log(path.levels[0]), 50))
    gap = max(abs(duality_gap(K, graph, path.multipliers_at(level), level)) for level in levels)
    line = (
        f"{name:<10}{kind:<9}{kernel:<8}{len(y):>6}{graph.n_pairs:>9}{path.n_breakpoints:>9}"
        f"{path.active_sizes.max():>8}{path.violations.max():>10.0e}{gap:>10.0e}{seconds:>9.2f}"
    )
    if graph.n_pairs > MAX_QP_PAIRS:
        print(f"{line}{'–':>9}{'–':>9}{'–':>11}")
        return
    level = float(levels[0])
    optimum, qp_seconds = general_solver(K, graph, level)
    a = path.multipliers_at(level)
    rows = graph.adjoint(a)
    ours = float(a.sum() - rows @ K @ rows / (2 * level))
    print(f"{line}{qp_seconds:>9.2f}{seconds / qp_seconds:>9.2f}{abs(ours - optimum) / abs(optimum):>11.0e}")


def on_real_data(folder: Path) -> None:
    print("Duplicated rows added, path to 1 % of λ⁰; violation at breakpoints, gap at 50 random levels")
    print(
        f"{'data':<10}{'graph':<9}{'kernel':<8}{'rows':>6}{'pairs':>9}{'breaks':>9}{'active':>8}{'violation':>10}"
        f"{'gap':>10}{'seconds':>9}{'QP s':>9}{'path/QP':>9}{'objective':>11}"
    )
    for name in SOURCES:
        X, y = with_duplicates(*load(name, folder))
        few = np.random.default_rng(0).permutation(len(y))[:60]
        for kernel in ("rbf", "linear"):
            check_optimality(name, X, y, "reduced", kernel)
            check_optimality(f"{name[:5]}/60", *with_duplicates(X[few], y[few]), "full", kernel)
            check_optimality(name, X, y, "full", kernel)


def on_two_thousand_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = np.round(2 * X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=2000))
    K = np.ascontiguousarray(kernel_of("rbf")(X))
    graph = reduced_graph(one_query(len(y)), y)
    path, seconds = follow(K, graph, 0.01)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\n2,000 rows, rbf, reduced: {graph.n_pairs} pairs, {path.n_breakpoints} breakpoints, "
        f"{path.active_sizes.max()} active, violation {path.violations.max():.0e}, {seconds:.1f} s; "
        f"peak memory of this process {peak:.2f} GB"
    )


def selection_share() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = np.round(X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=600))
    for graph, size in (("reduced", 500), ("full", 100), ("full", 200)):
        model = RankSVMPath(graph=graph).fit(X[:20], y[:20]).select(X[500:], y[500:])
        times = best_times(
            {
                "path": lambda model=model, size=size: model.fit(X[:size], y[:size]),
                "selection": lambda model=model: model.select(X[500:], y[500:]),
            },
            repeats=3,
        )
        print(
            f"selection on 100 rows, {graph} graph of {model.n_pairs_} pairs, {model.n_events_} breakpoints: "
            f"path {times['path']:.3f} s, selection {times['selection']:.3f} s, "
            f"{times['selection'] / times['path']:.0%}"
        )


def run() -> None:
    header("regularization path")
    on_two_thousand_rows()
    selection_share()
    if "RANKWISE_SHARED" in os.environ:
        on_real_data(Path(os.environ["RANKWISE_SHARED"]))
