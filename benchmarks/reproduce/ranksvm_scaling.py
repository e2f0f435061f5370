"""Paper D's Figure 1: ``python -m benchmarks.reproduce.ranksvm_scaling [--rows 512000] [--out DIR]``.

RCV1 itself cannot be redistributed; RCV1-shaped text is used instead (`benchmarks.rcv1_shaped`). As in the
paper, the labels are the inner products with one row that is removed, alpha is 1e-5, the gap is 1e-3, and the
error is measured on 20,000 other rows. PairRSVM, which iterates over all pairs, is run up to `--pair-rows`.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.rcv1_shaped import generate
from benchmarks.timing import header
from rankwise.metrics import pairwise_error
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import one_query
from rankwise.svm.bundle import minimize_bundle
from rankwise.svm.hinge import QueryHinge
from rankwise.svm.risk import HingeValue
from rankwise.svm.rows_risk import RowsRisk
from rankwise.types import Floats, Ties, Weighting

ALPHA, TOL, TEST_ROWS = 1e-5, 1e-3, 20_000
BLOCK = 512


class PairHinges(QueryHinge):
    """The same loss by iterating over all pairs, in blocks of rows: O(m²) per value."""

    def __init__(self, differences: QueryDifferences, y: Floats) -> None:
        super().__init__(differences)
        self.labels = self.arranged(y)
        _, sizes = np.unique(y, return_counts=True)
        self.n_pairs = (len(y) ** 2 - int((sizes**2).sum())) / 2

    def value(self, scores: Floats) -> HingeValue[Floats]:
        y, above, below = self.labels, np.zeros(len(scores)), np.empty(len(scores))
        for start in range(0, len(scores), BLOCK):
            rows = slice(start, start + BLOCK)
            active = (y[rows, None] > y) & (scores[rows, None] - scores < 1.0)
            below[rows] = active.sum(axis=1)
            above += active.sum(axis=0)
        gradient = (above - below) / self.n_pairs
        offset = float(below.sum()) / self.n_pairs
        return HingeValue(offset + float(gradient @ scores), gradient, offset)


@dataclass
class Timed:
    """A loss that counts and times its evaluations."""

    loss: QueryHinge
    calls: int = 0
    seconds: float = 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self.loss, name)

    def value(self, scores: Floats) -> HingeValue[Floats]:
        start = time.perf_counter()
        value = self.loss.value(scores)
        self.calls, self.seconds = self.calls + 1, self.seconds + time.perf_counter() - start
        return value


def train(X, y, by_pairs: bool) -> tuple[float, float, int, Floats]:
    """Milliseconds per oracle call, seconds of training, products, weights."""
    differences = QueryDifferences(one_query(len(y)), y, ties=Ties.DROP, weighting=Weighting.QUERY)
    loss = Timed(PairHinges(differences, y) if by_pairs else QueryHinge(differences))
    start = time.perf_counter()
    result = minimize_bundle(RowsRisk(MatrixDesign(X), loss), ALPHA, tol=TOL)
    return 1e3 * loss.seconds / loss.calls, time.perf_counter() - start, result.n_products, result.coef


def slope(sizes: list[int], values: list[float]) -> str:
    """The exponent of growth over the larger half of the sizes."""
    half = len(values) // 2
    if len(values) - half < 2:
        return "-"
    return f"{np.polyfit(np.log(sizes[half : len(values)]), np.log(values[half:]), 1)[0]:.2f}"


def draw(sizes: list[int], curves: dict[str, dict[str, list[float]]], out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    titles = {"oracle": "one oracle call (ms)", "training": "training (s)", "error": "test error"}
    for axis, (name, title) in zip(axes, titles.items(), strict=True):
        for method, values in curves[name].items():
            axis.plot(sizes[: len(values)], values, marker="o", label=method)
        axis.set(xscale="log", xlabel="training rows", title=title)
        if name != "error":
            axis.set_yscale("log")
        axis.grid(alpha=0.3)
        axis.legend()
    for suffix in ("png", "svg"):
        figure.savefig(out / f"ranksvm_scaling.{suffix}", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=512_000, help="rows of the largest training set")
    parser.add_argument(
        "--pair-rows", type=int, default=8_000, help="rows of the largest training set for PairRSVM"
    )
    parser.add_argument("--out", type=Path, default=Path("out/ranksvm_scaling"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    sizes = [1000 * 2**k for k in range(10) if 1000 * 2**k <= options.rows]

    X = generate(sizes[-1] + TEST_ROWS + 1).X
    y = np.asarray((X[:-1] @ X[[-1]].T).todense()).ravel()
    X_test, y_test = X[sizes[-1] : -1], y[sizes[-1] :]
    curves: dict[str, dict[str, list[float]]] = {
        "oracle": {"RankSVM": [], "PairRSVM": []},
        "training": {"RankSVM": [], "PairRSVM": []},
        "error": {"RankSVM": []},
    }
    header(f"paper D, Figure 1: alpha {ALPHA:g}, gap {TOL:g}")
    print("     rows  oracle ms  training s  products  test error  | PairRSVM: oracle ms  training s")
    for m in sizes:
        call, seconds, products, coef = train(X[:m], y[:m], by_pairs=False)
        error = pairwise_error(y_test, np.asarray(X_test @ coef))
        curves["oracle"]["RankSVM"].append(call)
        curves["training"]["RankSVM"].append(seconds)
        curves["error"]["RankSVM"].append(error)
        line = f"{m:9,}  {call:9.2f}  {seconds:10.2f}  {products:8}  {error:10.4f}"
        if m <= options.pair_rows:
            call, seconds, _, _ = train(X[:m], y[:m], by_pairs=True)
            curves["oracle"]["PairRSVM"].append(call)
            curves["training"]["PairRSVM"].append(seconds)
            line += f"  | {call:19.2f}  {seconds:10.2f}"
        print(line, flush=True)
    for name in ("oracle", "training"):
        growth = {method: slope(sizes, values) for method, values in curves[name].items()}
        print(f"{name} grows as rows^p: " + ", ".join(f"{method} p = {p}" for method, p in growth.items()))
    draw(sizes, curves, options.out)
    print(f"Figure: {options.out}/ranksvm_scaling.png and .svg")


if __name__ == "__main__":
    main()
