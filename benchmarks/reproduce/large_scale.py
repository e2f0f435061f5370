"""Paper C's Table 1 and Figures 1 and 2: ``python -m benchmarks.reproduce.large_scale --data DIR``.

RCV1 is not available. RCV1-shaped text is generated instead (`benchmarks.rcv1_shaped`) and, as in the paper,
learned from labels and from 10⁶ sampled pairs. The Reuters-21578 collection (topic earn, ModApte split, with
2,000 of its training rows for validation) and the public sample of the parse ranking data (with the queries
of the test file divided between validation and test) are real. Errors on other data are not comparable;
the aim is to reproduce the paper's finding that regularization by iteration is about as good as a grid
search in a fraction of the time.

Method 1 is Tikhonov regularization to a relative residual of 1e-5 or 500 iterations, 2 regularization by
iteration with λ = 0 and patience 10, and 3 the hybrid of both; λ is from {2⁻¹⁰, ..., 2¹⁰}. "Selection" is the
run that finds λ and the iteration; the paper used one run per λ, while here one run covers them all.
"""

from __future__ import annotations

import argparse
import lzma
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.rcv1_shaped import generate
from benchmarks.reproduce._data import check_folder
from rankwise import load_letor
from rankwise.held_out import HeldOut
from rankwise.metrics import get_measure
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import Queries, group_rows, one_query
from rankwise.ridge.cg_result import ShiftedCGResult, SurfacePoint
from rankwise.ridge.conjugate_gradient import ConjugateGradientFamily, Iterations
from rankwise.ridge.spaces import LinearSpace
from rankwise.ridge.squared import SquaredLoss, loss_on_pairs
from rankwise.types import Floats

ALPHAS = 2.0 ** np.arange(-10, 11)
PLOTTED = [0.0, 2.0**-10, 2.0**-5, 1.0, 2.0**5, 2.0**10]
PAPER = {
    "parse": {1: (0.2185, 11, 1743), 2: (0.2180, 6, 9), 3: (0.2185, 7, 137)},
    "text": {1: (0.01472, 352, 17186), 2: (0.01531, 65, 97), 3: (0.01473, 155, 2120)},
    "pairs": {1: (0.01530, 226, 15295), 2: (0.01621, 52, 78), 3: (0.01530, 94, 1695)},
}


@dataclass(frozen=True)
class Rows:
    X: sparse.csr_matrix
    y: Floats
    queries: Queries

    def scored_loss(self) -> SquaredLoss:
        F = QueryDifferences(self.queries, self.y)
        return SquaredLoss(F, F.apply(self.y))


@dataclass(frozen=True)
class Experiment:
    name: str
    paper: str | None
    train: Rows
    validation: Rows
    test: Rows
    loss: SquaredLoss

    def run(self, alphas: Floats, iterations: Iterations) -> tuple[ShiftedCGResult, float]:
        """Run conjugate gradient once, and time it."""
        start = time.perf_counter()
        error = get_measure("pairwise_error").prepare(self.validation.y, self.validation.queries)
        family = ConjugateGradientFamily(LinearSpace(self.train.X), self.loss, iterations)
        (result,) = family.solve(alphas, HeldOut(self.validation.X, error)).runs
        return result, time.perf_counter() - start

    def table(self) -> ShiftedCGResult:
        """Print the table of the three methods; return the whole surface."""
        m, n = self.train.X.shape
        print(
            f"\n{self.name}: {m:,} / {len(self.validation.y):,} / {len(self.test.y):,} rows, {n:,} features"
        )
        print(
            "  method  test error     λ  iterations  training  selection   paper: error, training, selection"
        )
        with_zero = np.array([0.0, *ALPHAS])
        whole, whole_time = self.run(with_zero, Iterations())
        early, early_time = self.run(with_zero[:1], Iterations(stop_early=True))
        hybrid, hybrid_time = self.run(ALPHAS, Iterations(stop_early=True))
        self._row(1, whole.tikhonov(), Iterations(), whole_time)
        self._row(2, early.by_iteration(), None, early_time)
        self._row(3, hybrid.hybrid(), None, hybrid_time)
        return whole

    def _row(
        self, method: int, chosen: SurfacePoint, iterations: Iterations | None, selection: float
    ) -> None:
        again = iterations or Iterations(max_iter=chosen.n_iter)
        _, training = self.run(np.array([chosen.alpha]), again)
        scores = MatrixDesign(self.test.X).scores(chosen.solution)
        error = get_measure("pairwise_error")(self.test.y, scores, self.test.queries)
        paper = PAPER[self.paper][method] if self.paper else None
        theirs = f"{paper[0]:.5f} {paper[1]:6d} s {paper[2]:7d} s" if paper else ""
        print(
            f"  {method}          {error:9.5f} {chosen.alpha:8.4g} {chosen.n_iter:8d} {training:8.2f} s "
            f"{selection:8.2f} s     {theirs}"
        )

    def figure(self, whole: ShiftedCGResult, folder: Path) -> None:
        """Validation error against iterations for several λ (Figures 1 and 2), as PNG and SVG."""
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot as plt

        assert whole.surface is not None
        figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
        colors = ["black", *plt.get_cmap("plasma")(np.linspace(0.1, 0.85, len(PLOTTED) - 1))]
        # Lines get thinner, so that curves that coincide all remain visible. A dot marks the best iteration.
        for alpha, color, width in zip(PLOTTED, colors, np.linspace(4.5, 1.2, len(PLOTTED)), strict=True):
            k = int(np.searchsorted(whole.alphas, alpha))
            curve = whole.surface.values[k, : whole.n_iter[k]]
            label = "0" if alpha == 0 else f"$2^{{{int(np.log2(alpha))}}}$"
            axes.plot(np.arange(1, len(curve) + 1), curve, color=color, linewidth=width, label=label)
            best = int(np.argmin(curve))
            axes.plot(best + 1, curve[best], "o", color=color, markeredgecolor="white", zorder=3)
        axes.set(xscale="log", xlabel="iteration", ylabel="validation error", title=self.name)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(title="λ")
        folder.mkdir(parents=True, exist_ok=True)
        for kind in ("png", "svg"):
            path = folder / f"large_scale_{self.name.lower().replace(' ', '_')}.{kind}"
            figure.savefig(path, dpi=150)
            print(f"  wrote {path}")
        plt.close(figure)


def generated_text(n_train: int) -> list[Experiment]:
    """(a) RCV1-shaped text, from labels and from 10⁶ positive-negative pairs."""
    text = generate(n_train + 8_149 + 23_149)
    cuts = [0, n_train, n_train + 8_149, len(text.label)]
    train, validation, test = (
        Rows(sparse.csr_matrix(text.X[a:b]), text.label[a:b], one_query(b - a)) for a, b in pairwise(cuts)
    )
    rng = np.random.default_rng(0)
    better = rng.choice(np.flatnonzero(train.y == 1.0), 10**6)
    worse = rng.choice(np.flatnonzero(train.y == 0.0), 10**6)
    pairs = loss_on_pairs(Pairs(better, worse, np.ones(10**6)), n_train)
    scored = train.scored_loss()
    return [
        Experiment("Generated text", "text", train, validation, test, scored),
        Experiment("Generated text pairs", "pairs", train, validation, test, pairs),
    ]


def reuters(folder: Path) -> Experiment:
    """(b) Reuters-21578, topic earn."""
    data = load_letor(folder / "reuters21578" / "reuters_all_ltc_earn.svm.xz", dense=False)
    with lzma.open(folder / "reuters21578" / "reuters_meta.tsv.xz", "rt", encoding="utf-8") as file:
        meta = np.array([line.split("\t")[1:3] for line in file])
    judged = meta[:, 1] == "YES"
    train = np.flatnonzero(judged & (meta[:, 0] == "TRAIN"))
    test = np.flatnonzero(judged & (meta[:, 0] == "TEST"))
    train = np.random.default_rng(0).permutation(train)
    parts = [
        Rows(sparse.csr_matrix(data.X[rows]), data.y[rows], one_query(len(rows)))
        for rows in (np.sort(train[2_000:]), np.sort(train[:2_000]), test)
    ]
    return Experiment("Reuters-21578", None, *parts, parts[0].scored_loss())


def parses(folder: Path) -> Experiment:
    """(c) The sample of the parse ranking data."""
    train, test = (
        load_letor(folder / "parses" / f"rank_{part}.light.xz", dense=False, n_features=195_100)
        for part in ("train", "test")
    )
    query = test.queries.query_of_row()
    parts = [Rows(sparse.csr_matrix(train.X), train.y, train.queries)]
    for rows in (np.flatnonzero(query % 2 == 0), np.flatnonzero(query % 2 == 1)):
        parts.append(Rows(sparse.csr_matrix(test.X[rows]), test.y[rows], group_rows(query[rows], len(rows))))
    return Experiment("Parse ranking sample", "parse", *parts, parts[0].scored_loss())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--data", type=Path, help="the folder of real data sets, which are skipped without it"
    )
    parser.add_argument("--rows", type=int, default=781_265, help="training rows of generated text")
    parser.add_argument(
        "--out", type=Path, default=Path("out/large_scale"), help="the folder for the figures"
    )
    arguments = parser.parse_args()
    if arguments.data is not None:
        needed = ["reuters_all_ltc_earn.svm.xz", "reuters_meta.tsv.xz"]
        parses_of = [f"parses/rank_{part}.light.xz" for part in ("train", "test")]
        check_folder(parser, arguments.data, [*parses_of, *(f"reuters21578/{file}" for file in needed)])
    experiments = [] if arguments.data is None else [parses(arguments.data), reuters(arguments.data)]
    for experiment in experiments + (generated_text(arguments.rows) if arguments.rows else []):
        experiment.figure(experiment.table(), arguments.out)


if __name__ == "__main__":
    main()
