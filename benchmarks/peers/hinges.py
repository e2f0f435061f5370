"""RankSVM and RankSVMPath next to scikit-learn's SVMs and SciPy's L-BFGS-B, to the same objective.

The minimum is known to within the gap that RankSVM certifies, and every side has to come within 1 % of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

from benchmarks import timing
from benchmarks.peers.comparing import Side, compare, comparison, first_to_reach
from benchmarks.peers.shapes import (
    RowPairs,
    Rows,
    all_pairs,
    classified,
    ohsumed_shaped,
    sampled_pairs,
    text,
    web_shaped,
)
from benchmarks.tables import Table
from benchmarks.timing import sized
from rankwise import RankSVM, RankSVMPath, make_search_data
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.svm.hinge import QueryHinge
from rankwise.types import Ties, Weighting

ALPHA = 1e-3
MAX_EXCESS = 0.01
TOLERANCES = [1.0, 0.1, 0.01, 1e-3, 1e-4]
SAMPLES = [sized(n) for n in (10_000, 30_000, 100_000)]

Weights = NDArray[np.float64]


def run() -> None:
    table = comparison(
        "ranksvm", "RankSVM: the objective over all pairs, relative to the certified lower bound"
    )
    on_all_differences(table)
    for name, rows in (("dense", web_shaped()), ("text", text())):
        on_samples(table, name, rows)
    table = comparison(
        "ranksvm-path", "RankSVMPath (every alpha) next to 13 alphas: the largest excess over its objective"
    )
    along_the_path(table)


@dataclass(frozen=True)
class Problem:
    """Mean hinge over all pairs plus the penalty, and its certified lower bound."""

    rows: Rows
    loss: QueryHinge
    bound: float

    def value(self, w: Weights) -> float:
        return self.loss.value(self.loss.arranged(self.rows.X @ w)).risk + ALPHA * float(w @ w)

    def excess(self, w: Weights) -> str:
        return f"+{100 * (self.value(w) / self.bound - 1):.2f} %"

    def ours(self) -> Side:
        rows, tol = self.rows, MAX_EXCESS * self.bound
        model = RankSVM(ALPHA, weighting="pair", tol=tol)
        return Side("RankSVM", lambda: model.fit(rows.X, rows.y, rows.qid).coef_)

    def cheapest(self, name: str, fit: Callable[[Any], Weights], settings: list, label: str) -> Side:
        limit = (1 + MAX_EXCESS) * self.bound
        setting, reached = first_to_reach(settings, fit, self.value, limit)
        return Side(f"{name}, {label.format(setting)}", partial(fit, setting), reached)


def certified(rows: Rows) -> Problem:
    queries = group_rows(rows.qid, len(rows.y))
    loss = QueryHinge(QueryDifferences(queries, rows.y, ties=Ties.DROP, weighting=Weighting.PAIR))
    model = RankSVM(ALPHA, weighting="pair", tol=1e-4).fit(rows.X, rows.y, rows.qid)
    return Problem(rows, loss, model.objective_ - model.gap_)


def linear_svc(rows: Rows, pairs: RowPairs, tol: float) -> Weights:
    D, sign = classified(rows.X, pairs)
    svc = LinearSVC(
        loss="hinge", C=1 / (2 * ALPHA * len(pairs)), tol=tol, fit_intercept=False, random_state=0
    )
    return quietly(svc, D, sign)


def sgd(rows: Rows, pairs: RowPairs, step: float) -> Weights:
    """One pass over pairs that are fresh draws; the default steps are too long at the start."""
    D, sign = classified(rows.X, pairs)
    schedule = {"learning_rate": "invscaling", "eta0": step, "max_iter": 1, "tol": None}
    return quietly(SGDClassifier(alpha=2 * ALPHA, fit_intercept=False, **schedule, random_state=0), D, sign)


def quietly(model: Any, D: Any, sign: Weights) -> Weights:
    """Fit without warnings: a solver that stops early is judged by its objective."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.ascontiguousarray(model.fit(D, sign).coef_.ravel())


def on_all_differences(table: Table) -> None:
    problem = certified(ohsumed_shaped())
    rows, n_pairs = problem.rows, len(all_pairs(problem.rows))
    peers = [
        problem.cheapest(
            f"LinearSVC, all {n_pairs:,} differences",
            lambda tol: linear_svc(rows, all_pairs(rows), tol),
            TOLERANCES,
            "tol {:g}",
        ),
        sgd_side(problem),
    ]
    compare(table, f"dense {rows.shape}, to 1 %", problem.ours(), peers, problem.excess)


def on_samples(table: Table, name: str, rows: Rows) -> None:
    """All pairs are too many to write down, so peers take as many as suffice."""
    problem = certified(rows)
    svc = problem.cheapest(
        "LinearSVC",
        lambda n: linear_svc(rows, sampled_pairs(rows, n), 0.1),
        SAMPLES,
        "{:,} sampled differences",
    )
    compare(table, f"{name} {rows.shape}, to 1 %", problem.ours(), [svc, sgd_side(problem)], problem.excess)


def sgd_side(problem: Problem) -> Side:
    return problem.cheapest(
        "SGDClassifier",
        lambda setting: sgd(problem.rows, sampled_pairs(problem.rows, setting[0]), setting[1]),
        [(n, step) for n in SAMPLES for step in (0.01, 0.1, 1.0)],
        "{0[0]:,} sampled differences",
    )


@dataclass(frozen=True)
class KernelProblem:
    """A kernel matrix and all differences as rows of a sparse matrix, for a grid of alphas."""

    K: NDArray[np.float64]
    P: sparse.csr_array
    alphas: NDArray[np.float64]

    @property
    def n_pairs(self) -> int:
        return self.P.shape[0]

    def values(self, coefficients: list[Weights]) -> Weights:
        """The mean hinge plus the penalty at every alpha, for coefficients of the rows."""
        scores = [self.K @ a for a in coefficients]
        hinges = [np.maximum(0.0, 1.0 - self.P @ f).mean() for f in scores]
        return np.array(hinges) + self.alphas * [a @ f for a, f in zip(coefficients, scores, strict=True)]

    def svc(self, tol: float) -> list[Weights]:
        """Each difference is given with both signs, which makes the intercept zero."""
        Q = self.P @ (self.P @ self.K).T
        Q, sign = np.block([[Q, -Q], [-Q, Q]]), np.repeat([1.0, -1.0], self.n_pairs)
        found = []
        for alpha in self.alphas:
            model = SVC(C=1 / (4 * alpha * self.n_pairs), kernel="precomputed", tol=tol).fit(Q, sign)
            a = np.zeros(len(sign))
            a[model.support_] = model.dual_coef_.ravel()
            found.append(self.P.T @ (a[: self.n_pairs] - a[self.n_pairs :]))
        return found

    def lbfgs(self, ftol: float) -> list[Weights]:
        """SciPy on the dual of N pairs, ``max Σ a − aᵀQa / 4 alpha N`` with ``0 ≤ a ≤ 1``, alpha by alpha."""
        a, found = np.zeros(self.n_pairs), []

        def negative_dual(a: Weights, scale: float) -> tuple[float, Weights]:
            scores = self.P @ (self.K @ (self.P.T @ a)) * scale
            return float(a @ scores / 2 - a.sum()), scores - 1.0

        options = {"method": "L-BFGS-B", "jac": True, "bounds": [(0.0, 1.0)] * self.n_pairs}
        for alpha in self.alphas[::-1]:
            scale = 1 / (2 * alpha * self.n_pairs)
            a = minimize(negative_dual, a, scale, **options, options={"ftol": ftol, "gtol": 0.0}).x
            found.append(scale * (self.P.T @ a))
        return found[::-1]


def along_the_path(table: Table) -> None:
    data = make_search_data(4 if timing.quick else 8, random_state=0).scale_per_query()
    rows = Rows(data.X, data.y, data.qid)
    pairs, gamma = all_pairs(rows), 1 / data.X.shape[1]
    entries = np.repeat([1.0, -1.0], len(pairs))
    places = np.tile(np.arange(len(pairs)), 2), np.concatenate([pairs.better, pairs.worse])
    P = sparse.csr_array((entries, places), shape=(len(pairs), len(rows.y)))
    model = RankSVMPath(gamma=gamma, weighting="pair")
    path = model.fit(rows.X, rows.y, rows.qid)
    alphas = np.geomspace(path.alphas_[0], path.alphas_[-1], 13)
    problem = KernelProblem(rbf_kernel(rows.X, gamma=gamma), P, alphas)
    exact = problem.values([path.dual_coef_at(alpha) for alpha in alphas])

    def worst(found: list[Weights]) -> float:
        return float(np.max(problem.values(found) / exact - 1))

    peers = []
    for name, fit, tolerances in (
        ("SVC", problem.svc, [0.1, 0.01, 1e-3]),
        ("SciPy, L-BFGS-B", problem.lbfgs, [1e-4, 1e-5, 1e-6, 1e-7]),
    ):
        tol, reached = first_to_reach(tolerances, fit, worst, MAX_EXCESS)
        peers.append(Side(f"{name}, 13 alphas, tol {tol:g}", partial(fit, tol), reached))

    def ours() -> list[Weights]:
        path = model.fit(rows.X, rows.y, rows.qid)
        return [path.dual_coef_at(alpha) for alpha in alphas]

    job = f"rbf kernel, {len(rows.y)} rows, {len(pairs):,} pairs, to 1 %"
    name = f"RankSVMPath, {path.n_events_:,} breakpoints"
    compare(table, job, Side(name, ours), peers, lambda found: f"+{max(0.0, 100 * worst(found)):.2f} %")
