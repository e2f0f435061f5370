"""Closed-form RankRLS: all alphas vs. one decomposition, leave-query-out vs. refits and fits, fit vs. XᵀX."""

import subprocess
import sys
import time
import tracemalloc

import numpy as np
from scipy import linalg, sparse

from benchmarks.tables import headline
from benchmarks.timing import best_times, header, sized
from rankwise import KernelRankRLS, KernelRankRLSCV, RankRLS, RankRLSCV
from rankwise.metrics import get_measure
from rankwise.operators.kernel import Kernel, KernelName
from rankwise.preferences.queries import group_rows
from rankwise.ridge.closed_form import DualFamily, PrimalFamily
from rankwise.ridge.kernel_spaces import BasisSpace, KernelSpace
from rankwise.ridge.spaces import LinearSpace
from rankwise.ridge.squared import losses_on_scores
from rankwise.threads import one_blas_thread
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem

ALPHAS = 2.0 ** np.arange(-15, 16)


def make(m: int, n: int, query_size: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = np.digitize(X[:, : min(n, 5)].sum(axis=1) + rng.normal(size=m), [-1.0, 1.0]).astype(float)
    return X, y, np.arange(m) // query_size


def loss_of(X, y, qid):
    problem = Problem(X, y, group_rows(qid, len(y)), None)
    return losses_on_scores(problem, Ties.KEEP, Weighting.EXAMPLE)[0]


def seconds_of(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def processor_seconds(call, repeats: int = 3) -> float:
    return best_times({"": call}, repeats, time.process_time)[""]


def report_alphas(name: str, make_family, repeats: int) -> None:
    """Target: all 31 alphas in at most 1.5 times the decomposition they share."""
    best = {"decomposition": np.inf, "solutions": np.inf, "one alpha": np.inf}
    for _ in range(repeats):
        family = make_family()
        best["decomposition"] = min(best["decomposition"], seconds_of(family.decompose))
        best["solutions"] = min(best["solutions"], seconds_of(lambda f=family: f.solve(ALPHAS)))
        fresh = make_family()
        best["one alpha"] = min(best["one alpha"], seconds_of(lambda f=fresh: f.solve(ALPHAS[15:16])))
    ratio = (best["decomposition"] + best["solutions"]) / best["decomposition"]
    cells = f"{best['decomposition']:9.3f} {best['solutions']:9.3f} {ratio:7.3f} {best['one alpha']:10.3f}"
    print(f"{name:34} {cells}")


def bench_alphas() -> None:
    header("31 alphas: decomposition, all solutions from it, (sum) / decomposition, one alpha by Cholesky; s")
    print(f"{'':34} {'decompose':>9} {'solve all':>9} {'ratio':>7} {'one alpha':>10}")
    X, y, qid = make(sized(200_000), 136, 100)
    loss = loss_of(X, y, qid)
    report_alphas(f"primal, {len(y):,} x 136", lambda: PrimalFamily(LinearSpace(X), loss), 3)
    X, y, qid = make(sized(2_500), 20, 5)
    rbf = Kernel(KernelName.RBF, 0.05)
    kernel, loss = KernelSpace(X, rbf), loss_of(X, y, qid)
    _ = kernel.kernel_matrix  # which is not part of the decomposition
    report_alphas(f"dual, {len(y):,} rows", lambda: DualFamily(kernel, loss), 1)
    X, y, qid = make(sized(10_000), 20, 20)
    basis = np.arange(0, len(y), 4)
    sparse_space, loss = BasisSpace(X, rbf, basis), loss_of(X, y, qid)
    report_alphas(
        f"sparse, {len(y):,} rows, {len(basis):,} basis", lambda: PrimalFamily(sparse_space, loss), 1
    )


def bench_basis() -> None:
    """Targets: at most 150 MB beyond X."""
    m = sized(200_000)
    header(f"KernelRankRLS(basis=500), {m:,} x 50: seconds, and MB beyond X (in its own process)")
    script = (
        "import resource, time, numpy as np; from rankwise import KernelRankRLS\n"
        f"rng, m = np.random.default_rng(0), {m}; X = rng.normal(size=(m, 50)); qid = np.arange(m) // 50\n"
        "y = np.round(X[:, 0] + rng.normal(size=m)); model = KernelRankRLS(gamma=0.02, basis=500)\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "model.fit(X[:1000], y[:1000], qid[:1000]); before, start = peak(), time.perf_counter()\n"
        "model.fit(X, y, qid); print(f'{time.perf_counter() - start:.2f} s, {peak() - before:.0f} MB')"
    )
    for _ in range(2):
        print(
            subprocess.run(
                [sys.executable, "-c", script], encoding="utf-8", capture_output=True, check=True
            ).stdout,
            end="",
        )


def bench_basis_bound() -> None:
    """Target: at most 1.5 times 2 m r² multiplications: the features of a row, and the Gram matrix."""
    m = sized(266_643)
    header(f"KernelRankRLS(basis=r), {m:,} x 15, against 2 m r² multiplications; processor s")
    X, y, qid = make(m, 15, 24)
    for r in (500, 2_000):
        rows, square = np.random.default_rng(0).normal(size=(2_000, r)), np.ones((r, r))
        with one_blas_thread():
            product = best_times({"": lambda rows=rows, square=square: rows @ square}, 3, time.process_time)[
                ""
            ]
        model = KernelRankRLS(gamma=0.05, basis=min(r, m), random_state=0)
        fit = best_times({"": lambda model=model: model.fit(X, y, qid)}, 1, time.process_time)[""]
        bound = 2 * product * m / len(rows)
        print(f"r = {r:5,}  fit {fit:6.2f}  bound {bound:6.2f}  ratio {fit / bound:.2f}", flush=True)


def bench_leave_query_out() -> None:
    """Target: leave-query-out over 31 alphas at least 50 times as fast as refitting 106 x 31 times."""
    X, y, qid = make(sized(16_140), 25, 153)
    queries, sample = np.unique(qid), 3
    header(f"Leave-query-out, {len(y):,} x 25 in {len(queries)} queries (OHSUMED's shape), 31 alphas; s")

    def refit() -> None:
        for q in queries[:: len(queries) // sample][:sample]:
            rest = qid != q
            for alpha in ALPHAS:
                RankRLS(alpha).fit(X[rest], y[rest], qid[rest]).predict(X[~rest])

    chosen = RankRLSCV(ALPHAS)
    measured = best_times({"exact": lambda: chosen.fit(X, y, qid), "refit": refit}, repeats=3)
    exact, whole = measured["exact"], measured["refit"] * len(queries) / sample
    print(f"RankRLSCV.fit including measures {exact:.3f}; refitting {whole:.1f} (from {sample} queries);")
    print(f"ratio {whole / exact:.0f}")
    headline(
        f"leave-query-out over {len(queries)} queries for {len(ALPHAS)} alphas",
        f"{exact:.2f} s",
        f"refitting takes about {whole / exact:.0f} times as long",
    )
    held = np.empty(len(y))
    for q in queries:
        rest = qid != q
        held[~rest] = RankRLS(1.0).fit(X[rest], y[rest], qid[rest]).predict(X[~rest])
    gap = chosen.scores_[0, 15] - get_measure("pairwise_error")(y, held, qid)
    print(f"difference between the measures of the two at alpha = 1: {abs(gap):.1e}")


def bench_choice_of_alpha() -> None:
    """Target: leave-query-out over 31 alphas in at most 10 fits, with 1,000 queries of 100 rows."""
    X, y, qid = make(sized(100_000), 136, 100)
    header(f"RankRLSCV, {len(y):,} x 136, 31 alphas, leave-query-out, against one fit; s")
    measured = best_times(
        {"fit": lambda: RankRLS().fit(X, y, qid), "choice": lambda: RankRLSCV(ALPHAS).fit(X, y, qid)}
    )
    ratio = measured["choice"] / measured["fit"]
    print(f"RankRLS {measured['fit']:.3f}  RankRLSCV {measured['choice']:.3f}  ratio {ratio:.1f}")


def bench_kernel_choice() -> None:
    """Targets, with 3,000 rows: at most 0.45 (eval_set) and 0.6 (leave-query-out) of one eigendecomposition
    and what was built on it; the eigendecomposition alone is measured here."""
    X, y, qid = make(sized(3_000), 20, 10)
    header(f"KernelRankRLSCV, {len(y):,} rows, 31 alphas, against one eigendecomposition; s")
    held_out, K = make(sized(1_000), 20, 10, seed=1), Kernel(KernelName.RBF, 0.05)(X, X)
    model = KernelRankRLSCV(ALPHAS, gamma=0.05)
    measured = best_times(
        {
            "eigh": lambda: linalg.eigh(K),
            "eval_set": lambda: model.fit(X, y, qid, eval_set=held_out),
            "leave-query-out": lambda: model.fit(X, y, qid),
        },
        repeats=3,
    )
    print("  ".join(f"{name} {seconds:.2f}" for name, seconds in measured.items()))
    print(
        f"ratios to eigh: eval_set {measured['eval_set'] / measured['eigh']:.2f}, "
        f"leave-query-out {measured['leave-query-out'] / measured['eigh']:.2f}"
    )


def bench_one_pass() -> None:
    """Targets: fit in at most twice the time of X.T @ X, with less than a tenth of X in extra memory."""
    X, y, qid = make(sized(1_000_000), 136, 100)
    header(f"Primal fit, {len(y):,} x 136 dense, against X.T @ X; s")
    for name, groups in (("queries of 100 rows", qid), ("one global ranking", None)):
        measured = best_times({"gram": lambda: X.T @ X, "fit": lambda g=groups: RankRLS().fit(X, y, g)}, 3)
        tracemalloc.start()
        RankRLS().fit(X, y, groups)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        ratio, extra = measured["fit"] / measured["gram"], peak / X.nbytes
        print(f"{name:22} X.T @ X {measured['gram']:.3f}  fit {measured['fit']:.3f}  ratio {ratio:.2f}")
        print(f"{'':22} peak extra memory {extra:.1%} of X")
        if groups is qid:
            headline(f"RankRLS, {len(y):,} × 136", f"{measured['fit']:.1f} s", f"{ratio:.1f} times `X.T @ X`")


def bench_sparse() -> None:
    """Target: a sparse X never becomes dense."""
    m = sized(100_000)
    header(f"Primal fit, CSR {m:,} x 2,000 with 50 non-zeros per row; s")
    rng = np.random.default_rng(0)
    X = sparse.random(m, 2_000, density=0.025, format="csr", random_state=rng)
    y, qid = rng.normal(size=m), np.arange(m) // 100
    model = RankRLS(solver="primal")
    tracemalloc.start()
    model.fit(X, y, qid)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    seconds = seconds_of(lambda: model.fit(X, y, qid))
    dense = X.shape[0] * X.shape[1] * 8
    print(f"fit {seconds:.2f}  peak extra memory {peak / 1e6:.0f} MB; dense X would be {dense / 1e6:.0f} MB")


def bench_basis_against_all() -> None:
    header("KernelRankRLS, 2,000 rows: all rows against 200 basis vectors; s")
    X, y, qid = make(2_000, 20, 20)
    alternatives = {
        "all rows": lambda: KernelRankRLS().fit(X, y, qid),
        "basis": lambda: KernelRankRLS(basis=200, random_state=0).fit(X, y, qid),
    }
    measured = best_times(alternatives, repeats=2)
    print("  ".join(f"{name} {seconds:.3f}" for name, seconds in measured.items()))


def run() -> None:
    bench_leave_query_out()
    bench_choice_of_alpha()
    bench_kernel_choice()
    bench_one_pass()
    bench_sparse()
    bench_basis_against_all()
    bench_alphas()
    bench_basis()
    bench_basis_bound()
