"""Whether Jacobi preconditioning pays off: iterations to tolerance, and the error with early stopping.

The preconditioner is the diagonal of ``XᵀLX + αI``. SciPy runs on the products of rankwise, each to the same
unpreconditioned relative residual. Real data is used if available.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from benchmarks.rcv1_shaped import generate
from benchmarks.reproduce.large_scale import Rows, reuters
from benchmarks.tables import Table
from benchmarks.timing import header, real_data, sized
from rankwise import load_letor, make_search_data
from rankwise.metrics import get_measure
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows, one_query
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats, Matrix

TEXT_ROWS, HELD_ROWS, SEARCH_QUERIES = sized(50_000), sized(8_149), sized(1_000)
ALPHAS = [2.0**-10, 2.0**-5, 1.0, 2.0**5]
PATIENCE, MAX_ITER = 10, 500


def run() -> None:
    header(f"Jacobi preconditioning, tolerance 1e-5, at most {MAX_ITER} iterations, patience {PATIENCE}")
    early = "early stopping: error, iteration"
    table = Table("jacobi", "data", "alpha", "iterations", "with Jacobi", early, "with Jacobi")
    for name, train, held in data_sets():
        compare(table, name, train, held)


def data_sets() -> Iterator[tuple[str, Rows, Rows]]:
    train, held = generate(TEXT_ROWS), generate(HELD_ROWS, first_block=1_000)
    yield "RCV1-shaped text", _ranked(train.X, train.label), _ranked(held.X, held.label)
    yield "search data, dense", *_halves(make_search_data(SEARCH_QUERIES))
    folder = real_data()
    if folder is None:
        return
    topic = reuters(folder)
    yield "Reuters-21578", topic.train, topic.validation
    parts = [
        load_letor(folder / "ohsumed_letor2" / "Fold1" / f"{part}set.txt.xz")
        for part in ("training", "validation")
    ]
    yield "OHSUMED, dense", *(Rows(part.X, part.y, part.queries) for part in parts)
    scale = 10.0 ** np.random.default_rng(0).uniform(-2.0, 2.0, parts[0].X.shape[1])
    yield "OHSUMED, scales 1e±2", *(Rows(part.X * scale, part.y, part.queries) for part in parts)


def _ranked(X: Matrix, y: Floats) -> Rows:
    return Rows(sparse.csr_matrix(X), y, one_query(len(y)))


def _halves(data: RankingData) -> Iterator[Rows]:
    query = data.queries.query_of_row()
    for rows in (np.flatnonzero(query % 2 == 0), np.flatnonzero(query % 2 == 1)):
        yield Rows(data.X[rows], data.y[rows], group_rows(query[rows], len(rows)))


def compare(table: Table, name: str, train: Rows, held: Rows) -> None:
    F = QueryDifferences(train.queries, train.y)
    design, held_design = MatrixDesign(train.X), MatrixDesign(held.X)
    product, right = design.normal_operator(F), design.adjoint(F.laplacian(train.y))
    error = get_measure("pairwise_error").prepare(held.y, held.queries)
    diagonal = normal_diagonal(train.X, F)

    def curve(alpha: float, inverse: Floats) -> Floats:
        """The validation error after each iteration."""
        values: list[float] = []
        square = (len(right), len(right))
        cg(
            LinearOperator(square, matvec=lambda v: product(v) + alpha * v, dtype=float),
            right,
            rtol=1e-5,
            maxiter=MAX_ITER,
            M=LinearOperator(square, matvec=lambda v: inverse * v, dtype=float),
            callback=lambda w: values.append(error(held_design.scores(w))),
        )
        return np.array(values)

    for alpha in ALPHAS:
        plain, jacobi = curve(alpha, np.ones(len(right))), curve(alpha, 1.0 / (diagonal + alpha))
        early = [f"{values.min():.4f} at {len(values)}" for values in map(until_best, (plain, jacobi))]
        table.add(name, f"{alpha:.4g}", str(len(plain)), str(len(jacobi)), *early)
        name = ""


def normal_diagonal(X: Matrix, F: QueryDifferences) -> Floats:
    """The diagonal of ``XᵀLX``; for a sparse X, only with one global ranking."""
    if not sparse.issparse(X):
        return np.array([max(0.0, x @ F.laplacian(x)) for x in np.ascontiguousarray(X.T, dtype=float)])
    squares, sums = X.multiply(X).sum(axis=0), X.sum(axis=0)
    return np.maximum(0.0, np.asarray(squares) - np.asarray(sums) ** 2 / X.shape[0]).ravel()


def until_best(values: Floats) -> Floats:
    """The values up to the best one before PATIENCE iterations without improvement."""
    best = 0
    for t in range(len(values)):
        if t - best > PATIENCE:
            break
        if values[t] < values[best]:
            best = t
    return values[: best + 1]
