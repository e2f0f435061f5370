"""The regularization path: optimality between breakpoints, cost in QP solves, large cases, selection.

Real data sets are used if available (see benchmarks/path_data.py).
"""

import multiprocessing
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.path_data import SOURCES, kernel_of, load, with_duplicates
from benchmarks.tables import headline
from benchmarks.timing import best_times, header, quick, real_data, sized
from rankwise import RankSVMPath
from rankwise.path.graphs import PreferenceGraph, full_graph, reduced_graph
from rankwise.path.svm_path import SVMPath, duality_gap, ranking_svm_path
from rankwise.preferences.queries import one_query

# The guarantees of the path.
MAX_GAP, MAX_VIOLATION, MAX_QP_SOLVES, MAX_SELECTION = 1e-8, 1e-7, 10.0, 0.2
GRAPHS = {"reduced": reduced_graph, "full": full_graph}
# General solvers can handle full graphs of up to this many pairs.
MAX_QP_PAIRS = 500 if quick else 2000


def follow(K: np.ndarray, graph: PreferenceGraph, share: float) -> tuple[SVMPath, float]:
    start = time.perf_counter()
    path = ranking_svm_path(K, graph, reach=share)
    return path, time.perf_counter() - start


def general_solver(K: np.ndarray, graph: PreferenceGraph, level: float) -> tuple[float, float]:
    """The dual optimum from an interior-point solver, and the time it took."""
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


@dataclass(frozen=True)
class Checked:
    """A path's certificate and, where a general solver can handle the problem, a comparison with it."""

    violation: float
    gap: float
    qp_solves: float = np.nan
    qp_difference: float = np.nan


def check_optimality(name: str, X: np.ndarray, y: np.ndarray, kind: str, kernel: str) -> Checked:
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
    checked = Checked(violation=float(path.violations.max()), gap=gap)
    if graph.n_pairs > MAX_QP_PAIRS:
        print(f"{line}{'–':>9}{'–':>9}{'–':>11}")
        return checked
    level = float(levels[0])
    optimum, qp_seconds = general_solver(K, graph, level)
    a = path.multipliers_at(level)
    rows = graph.adjoint(a)
    ours = float(a.sum() - rows @ K @ rows / (2 * level))
    difference = abs(ours - optimum) / abs(optimum)
    print(f"{line}{qp_seconds:>9.2f}{seconds / qp_seconds:>9.2f}{difference:>11.0e}")
    return replace(checked, qp_solves=seconds / qp_seconds, qp_difference=difference)


def few_rows(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As many random rows, some of them duplicated, as a general solver can handle with the full graph."""
    order = np.random.default_rng(0).permutation(len(y))
    for n in range(60, 2, -1):
        few = with_duplicates(X[order[:n]], y[order[:n]])
        if full_graph(one_query(len(few[1])), few[1]).n_pairs <= MAX_QP_PAIRS:
            return few
    raise ValueError("No sample is small enough.")


def on_real_data(folder: Path) -> float:
    """The largest time of a path, in those of a general solver at one level."""
    print("\nWith duplicate rows, path to 1 % of λ⁰; violation at breakpoints, gap at 50 random levels")
    print(
        f"{'data':<10}{'graph':<9}{'kernel':<8}{'rows':>6}{'pairs':>9}{'breaks':>9}{'active':>8}{'violation':>10}"
        f"{'gap':>10}{'seconds':>9}{'QP s':>9}{'path/QP':>9}{'objective':>11}"
    )
    results = []
    for name in SOURCES:
        X, y = with_duplicates(*load(name, folder))
        few = few_rows(X, y)
        for kernel in ("rbf", "linear"):
            results.append(check_optimality(name, X, y, "reduced", kernel))
            results.append(check_optimality(f"{name[:5]}/{len(few[1])}", *few, "full", kernel))
            if not quick:
                results.append(check_optimality(name, X, y, "full", kernel))
    print("Maximum over all data sets:")
    against("gap", max(r.gap for r in results), MAX_GAP, ".0e")
    against("violation", max(r.violation for r in results), MAX_VIOLATION, ".0e")
    most = float(np.nanmax([r.qp_solves for r in results]))
    against("path in QP solves", most, MAX_QP_SOLVES, ".2f")
    against("objective against the QP's", np.nanmax([r.qp_difference for r in results]), MAX_GAP, ".0e")
    return most


def against(what: str, value: float, target: float, form: str) -> None:
    verdict = "met" if value <= target else "MISSED"
    print(f"  {what:<28}{value:>10{form}}   target {target:{form}}: {verdict}")


def on_many_rows(m: int) -> float:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 10))
    y = np.round(2 * X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=len(X)))
    K = np.ascontiguousarray(kernel_of("rbf")(X))
    graph = reduced_graph(one_query(len(y)), y)
    path, seconds = follow(K, graph, 0.01)
    # Not getrusage, which includes the memory that the parent used at the fork.
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 2**20
    print(
        f"\n{len(y):,} rows, rbf, reduced: {graph.n_pairs} pairs, {path.n_breakpoints} breakpoints, "
        f"{path.active_sizes.max()} active, violation {path.violations.max():.0e}, {seconds:.1f} s; "
        f"peak memory of this process {peak:.2f} GB"
    )
    against("minutes", seconds / 60, 5.0, ".2f")
    against("GB", peak, 1.0, ".2f")
    sys.stdout.flush()
    return seconds


def selection_share(
    name: str, graph: str, train: tuple[np.ndarray, np.ndarray], validation: tuple[np.ndarray, np.ndarray]
) -> float:
    """Print the CPU time of a selection; return what the breakpoints take of it, as a share of the path's.

    The rest is the same for a path with one breakpoint: checks, kernel values of the validation rows, and the
    calibration of the model that is chosen.
    """
    model = RankSVMPath(graph=graph, weighting="pair").fit(*train)
    one = RankSVMPath(graph=graph, weighting="pair", alpha_min=1e9).fit(*train)
    alternatives = {
        "path": lambda: model.fit(*train),
        "selection": lambda: model.select(*validation),
        "one": lambda: one.select(*validation),
    }
    repeats = 5 if model.n_events_ > 2000 else 100
    with threadpool_limits(1, user_api="blas"):
        times = best_times(alternatives, repeats, clock=time.process_time)
    share = (times["selection"] - times["one"]) / times["path"]
    path, selection, fixed = (1e3 * times[what] for what in alternatives)
    print(
        f"  {name:<10}{graph:<9}{model.n_pairs_:>7}{len(validation[1]):>6}{model.n_events_ + 1:>8}"
        f"{path:>9.2f}{selection:>11.2f}{fixed:>7.2f}{selection / path:>7.0%}{share:>7.0%}"
    )
    return share


def selection(folder: Path | None) -> None:
    print("\nSelection over all breakpoints, CPU milliseconds; fixed: with a single breakpoint")
    print("Shares of the path: of the whole selection, and of what is not fixed")
    print("  data      graph      pairs  rows  breaks     path  selection  fixed  whole   rest")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = np.round(X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=600))
    shares = [
        selection_share("made", graph, (X[:size], y[:size]), (X[500:], y[500:]))
        for graph, size in (("reduced", 500), ("full", 100), ("full", 200))
    ]
    for name, source in SOURCES.items() if folder is not None else ():
        X, y = load(name, folder)
        order = np.random.default_rng(0).permutation(len(y))
        train, validation, _ = np.split(order[: sum(source.sizes)], np.cumsum(source.sizes)[:-1])
        shares.append(selection_share(name, "reduced", (X[train], y[train]), (X[validation], y[validation])))
    against("(selection - fixed) / path", max(shares), MAX_SELECTION, ".2f")


def run() -> None:
    header("regularization path")
    folder = real_data()
    # In a separate process, whose memory no other benchmark has used.
    sys.stdout.flush()
    with multiprocessing.get_context("spawn").Pool(1) as alone:
        seconds = alone.apply(on_many_rows, (sized(2000),))
    selection(folder)
    if folder is not None:
        most = on_real_data(folder)
        headline(
            f"kernel RankSVM for every alpha, {sized(2000):,} rows, reduced graph",
            f"{seconds:.1f} s",
            f"on smaller data with both, at most {most:.0%} of a general QP at one alpha",
        )
