"""RankSVM on many kinds of data: products with X, and the share of time in the quadratic program.

The constants of the solvers are judged on all of these data sets, so that none is tuned to one kind.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.rcv1_shaped import generate
from benchmarks.tables import show
from benchmarks.timing import header, real_data, sized
from rankwise import load_letor, make_search_data, qid_from_group_sizes
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.svm import planes
from rankwise.svm.bundle import minimize_bundle
from rankwise.svm.hinge import QueryHinge
from rankwise.svm.newton import minimize_newton
from rankwise.svm.rows_risk import RowsRisk
from rankwise.types import Floats, Matrix, Ties, Weighting

ALPHAS = (1e-1, 1e-3, 1e-5, 1e-7)
SHOWN_ALPHAS = (1e-3, 1e-7)
MAX_SHARE = 0.3
Rows = tuple[Matrix, Floats, object]


def dense(n_rows: int, n_features: int, change: Callable[[Floats], Floats]) -> Rows:
    """One query with noisy linear labels; `change` degrades the features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    signal = X @ rng.normal(size=n_features)
    return change(X), signal / signal.std() + rng.normal(size=n_rows), None


def correlated(X: Floats) -> Floats:
    return 0.99 * np.random.default_rng(1).normal(size=(len(X), 1)) + 0.14 * X


def search_data() -> Rows:
    data = make_search_data(sized(2_000))
    return data.X, data.y, data.qid


def text() -> Rows:
    X = generate(sized(32_000) + 1).X
    return X[:-1], np.asarray((X[:-1] @ X[[-1]].T).todense()).ravel(), None


def queries_of_two() -> Rows:
    X, y, _ = dense(2 * sized(1_000_000), 10, lambda X: X)
    return X, y, np.arange(len(y)) // 2


def letor(path: Path, with_queries: bool = True) -> Rows:
    data = load_letor(path)
    return data.X, data.y, data.qid if with_queries else None


def lightgbm_example(folder: Path) -> Rows:
    X, y, _ = letor(folder / "rank.train.xz", with_queries=False)
    return X, y, qid_from_group_sizes(np.loadtxt(folder / "rank.train.query.xz", dtype=int))


def kinds() -> Iterator[tuple[str, Rows]]:
    scales = np.logspace(0, -3, 200)
    yield "dense, one scale", dense(2_000, 200, lambda X: X)
    yield "dense, scales 1 to 1e-3", dense(2_000, 200, lambda X: X * scales)
    yield "dense, correlated 0.98", dense(2_000, 200, correlated)
    yield "dense, each feature 4 times", dense(2_000, 50, lambda X: np.hstack([X] * 4))
    yield "one query of 200,000", dense(sized(200_000), 20, lambda X: X * scales[::10])
    yield "queries of 2, a million", queries_of_two()
    yield "simulated search, raw", search_data()
    yield "RCV1-shaped text", text()
    folder = real_data()
    if folder is not None:
        yield "OHSUMED, raw", letor(folder / "ohsumed_letor2/Fold1/trainingset.txt.xz")
        yield "LightGBM's example", lightgbm_example(folder / "lightgbm_lambdarank")
        yield "parses", letor(folder / "parses/rank_train.light.xz")
        reuters = folder / "reuters21578/reuters_all_ltc_earn.svm.xz"
        yield "Reuters-21578", letor(reuters, with_queries=False)


@dataclass
class TimedProgram:
    """The quadratic program over the planes, and the time it took."""

    solve: Callable[[Floats, Floats, Floats], Floats]
    seconds: float = 0.0

    def __call__(self, H: Floats, b: Floats, start: Floats) -> Floats:
        begin = time.process_time()
        x = self.solve(H, b, start)
        self.seconds += time.process_time() - begin
        return x


def compare(design: MatrixDesign, loss: QueryHinge, alpha: float) -> tuple[str, str]:
    """What to print about both losses, and their products for the page."""
    risk = RowsRisk(design, loss)
    plain, program = planes.minimize_on_simplex, TimedProgram(planes.minimize_on_simplex)
    planes.minimize_on_simplex = program
    begin = time.process_time()
    hinge = minimize_bundle(risk, alpha, max_iter=200)
    middle = time.process_time()
    planes.minimize_on_simplex = plain
    squared = minimize_newton(risk, alpha, max_iter=100)
    end = time.process_time()
    share = program.seconds / (middle - begin)
    mark = "*" if share > MAX_SHARE else " "
    first = f"{hinge.n_products:8}  {middle - begin:6.2f}  {share:5.0%}{mark}  {hinge.gap:7.0e}"
    cells = f"{first}  | {squared.n_products:8}  {end - middle:6.2f}  {squared.gap:7.0e}"
    return cells, f"{hinge.n_products:,} ({squared.n_products:,})"


def run() -> None:
    header("RankSVM to gap 1e-3 on many kinds of data; CPU seconds")
    print(f"{'':27}  {'':6}  {'hinge':>8}  {'':6}  {'':6}  {'':7}  | {'squared':>8}")
    print(
        f"{'data':27}  {'alpha':>6}  {'products':>8}  {'s':>6}  {'program':>7} {'gap':>7}"
        f"  | {'products':>8}  {'s':>6}  {'gap':>7}"
    )
    products: dict[tuple[str, str], list[str]] = {}
    for name, (X, y, qid) in kinds():
        queries = group_rows(qid, len(y))
        loss = QueryHinge(QueryDifferences(queries, y, ties=Ties.DROP, weighting=Weighting.QUERY))
        design = MatrixDesign(X)
        for alpha in ALPHAS:
            cells, both = compare(design, loss, alpha)
            print(f"{name:27}  {alpha:6.0e}  {cells}", flush=True)
            if alpha in SHOWN_ALPHAS:
                products.setdefault((name, f"{X.shape[0]:,} × {X.shape[1]:,}"), []).append(both)
    print(f"* more than {MAX_SHARE:.0%} of the time in the quadratic program")
    print("\nProducts, with those of the squared hinge in parentheses")
    columns = ("data", "rows × features", *(f"alpha {alpha:.0e}" for alpha in SHOWN_ALPHAS))
    show("kinds", columns, [(*kind, *counts) for kind, counts in products.items()])
