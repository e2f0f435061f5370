"""RankSVM: the hinge oracle vs. one sort, and training with a certificate on RCV1-shaped text."""

import time

import numpy as np

from benchmarks.bench_ranksvm_kinds import lightgbm_example
from benchmarks.rcv1_shaped import generate
from benchmarks.tables import headline
from benchmarks.timing import best_times, header, real_data, sized
from rankwise import RankRLSCV, RankSVM, RankSVMCV
from rankwise.config import config_context
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import Queries, one_query
from rankwise.svm.bundle import minimize_bundle
from rankwise.svm.hinge import QueryHinge
from rankwise.svm.hinge_family import bundle_grid
from rankwise.svm.newton import minimize_newton
from rankwise.svm.rows_risk import RowsRisk
from rankwise.types import Floats, Ties, Weighting

N_THREADS = 2


def hinge(y: Floats, queries: Queries | None = None) -> QueryHinge:
    queries = one_query(len(y)) if queries is None else queries
    differences = QueryDifferences(queries, y, ties=Ties.DROP, weighting=Weighting.QUERY)
    return QueryHinge(differences)


def text(n_rows: int) -> tuple[MatrixDesign, Floats]:
    """Rows, with their inner products with one extra row as labels (paper D, section 4)."""
    X = generate(n_rows + 1).X
    y = np.asarray((X[:-1] @ X[[-1]].T).todense()).ravel()
    return MatrixDesign(X[:-1]), y


def bench_oracle() -> None:
    """Target: at most five times np.argsort of the scores at 512,000 rows, slope at most 1.12."""
    header(f"one value of the hinge (risk, gradient), real-valued labels, {N_THREADS} threads; ms")
    print(f"{'rows':>9}  {'np.argsort':>10}  {'hinge':>8}  {'ratio':>6}  {'squared':>8}  {'H·v':>8}")
    rng, times = np.random.default_rng(0), []
    sizes = [sized(m) for m in (32_000, 128_000, 512_000, 1_000_000)]
    for m in sizes:
        loss, scores = hinge(rng.normal(size=m)), 2.0 * rng.normal(size=m)
        squared = loss.squared_value(scores)
        calls = {
            "sort": lambda scores=scores: np.argsort(scores),
            "hinge": lambda loss=loss, scores=scores: loss.value(scores),
            "squared": lambda loss=loss, scores=scores: loss.squared_value(scores),
            "product": lambda squared=squared, scores=scores: squared.curvature(scores),
        }
        ms = {name: 1e3 * seconds for name, seconds in best_times(calls, repeats=7).items()}
        cells = f"{ms['hinge']:8.2f}  {ms['hinge'] / ms['sort']:6.2f}  {ms['squared']:8.2f}"
        print(f"{m:9,}  {ms['sort']:10.2f}  {cells}  {ms['product']:8.2f}")
        times.append(ms["hinge"])
    print(f"hinge time grows as rows^{np.polyfit(np.log(sizes), np.log(times), 1)[0]:.2f}")


def bench_queries() -> None:
    """One query of a million rows, and a million queries of two rows."""
    header(f"the hinge on extreme shapes, {N_THREADS} threads; ms")
    rng = np.random.default_rng(1)
    for sizes in ([sized(1_000_000)], [2] * sized(1_000_000), [100] * sized(20_000)):
        m = sum(sizes)
        queries = Queries(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
        loss, scores = hinge(rng.integers(0, 5, m).astype(float), queries), rng.normal(size=m)
        seconds = best_times({"hinge": lambda loss=loss, scores=scores: loss.value(scores)})["hinge"]
        print(f"{len(sizes):9,} queries of {sizes[0]:9,} rows  {1e3 * seconds:8.2f}")


def bench_training() -> None:
    """Targets: 512,000 rows in under 30 products and 12 s; 128,000 at alpha 1e-7 in at most 90 products."""
    header(f"training to gap 1e-3, RCV1-shaped text, {N_THREADS} threads")
    print(f"{'rows':>8}  {'alpha':>6}  {'loss':>8}  {'s':>6}  {'products':>8}  {'objective':>9}  {'gap':>8}")
    runs = {"hinge": minimize_bundle, "squared": minimize_newton}
    for full_size, alpha, name in (
        (32_000, 1e-5, "squared"),
        (128_000, 1e-5, "hinge"),
        (128_000, 1e-7, "hinge"),
        (512_000, 1e-5, "hinge"),
        (512_000, 1e-5, "squared"),
    ):
        n_rows = sized(full_size)
        design, y = text(n_rows)
        loss = hinge(y)
        start = time.perf_counter()
        result = runs[name](RowsRisk(design, loss), alpha, tol=1e-3)
        seconds = time.perf_counter() - start
        cells = f"{seconds:6.2f}  {result.n_products:8}  {result.objective:9.5f}  {result.gap:8.1e}"
        print(f"{n_rows:8,}  {alpha:6.0e}  {name:>8}  {cells}")
        if (full_size, name) == (512_000, "hinge"):
            task = f"RankSVM, text of {n_rows:,} × {design.X.shape[1]:,}, gap 10⁻³"
            headline(task, f"{seconds:.1f} s", f"{result.n_products} products with X")


def bench_small() -> None:
    """Whole fits, with validation, against as many of SciPy's products, which leave nothing to prepare."""
    header("RankSVM.fit, squared hinge, on few rows of RCV1-shaped text; ms")
    print(f"{'rows':>8}  {'alpha':>6}  {'fit':>8}  {'products':>8}  {'SciPy':>8}  {'ratio':>6}")
    for m in (8_000, 32_000):
        design, y = text(sized(m))
        X, w = design.X, np.ones(design.shape[1])
        for alpha in (1e-3, 1e-5, 1e-7):
            model = RankSVM(alpha=alpha, loss="squared_hinge")
            calls = {
                "fit": lambda model=model, X=X, y=y: model.fit(X, y),
                "SciPy": lambda X=X, w=w: X.T @ (X @ w),
            }
            ms = {name: 1e3 * seconds for name, seconds in best_times(calls, repeats=10).items()}
            peer = ms["SciPy"] * model.n_products_ / 2
            cells = f"{ms['fit']:8.1f}  {model.n_products_:8}  {peer:8.1f}  {ms['fit'] / peer:6.2f}"
            print(f"{len(y):8,}  {alpha:6.0e}  {cells}")


def bench_grid() -> None:
    """Target: 13 alphas from 1e-3 to 1e-7 in at most 2.5 times the time of the hardest alone."""
    design, y = text(sized(32_000))
    header(f"a grid of 13 alphas against its smallest alone, {len(y):,} rows, {N_THREADS} threads")
    risk, alphas = RowsRisk(design, hinge(y)), np.logspace(-3, -7, 13)
    products = {}

    def alone() -> None:
        products["alone"] = minimize_bundle(risk, alphas[-1]).n_products

    def grid() -> None:
        path = bundle_grid(risk, alphas, tol=1e-3, max_iter=1000)
        products["grid"] = sum(result.n_products for result in path)

    seconds = best_times({"alone": alone, "grid": grid}, repeats=2)
    for name in products:
        print(f"{name:>5}  {seconds[name]:6.2f} s  {products[name]:4} products")
    print(
        f"ratio  {seconds['grid'] / seconds['alone']:.2f} in time, "
        f"{products['grid'] / products['alone']:.2f} in products"
    )


def bench_search() -> None:
    """Target: 2 s with early stopping, and the choice of the whole grid."""
    folder = real_data()
    if folder is None:
        return
    X, y, qid = lightgbm_example(folder / "lightgbm_lambdarank")
    header(f"RankSVMCV, 15 alphas, 5 folds, LightGBM's example of {X.shape[0]:,} × {X.shape[1]:,}")
    searches = {
        "RankSVMCV": RankSVMCV(),
        "RankSVMCV, every alpha": RankSVMCV(early_stopping=False),
        "RankRLSCV": RankRLSCV(),
    }
    calls = {name: lambda model=model: model.fit(X, y, qid) for name, model in searches.items()}
    for name, seconds in best_times(calls, repeats=3).items():
        model = searches[name]
        print(f"{name:22}  {seconds:6.2f} s  {len(model.alphas_):3} alphas  best {model.alpha_:.3g}")


@config_context(n_threads=N_THREADS)
def run() -> None:
    bench_oracle()
    bench_queries()
    bench_training()
    bench_small()
    bench_grid()
    bench_search()
