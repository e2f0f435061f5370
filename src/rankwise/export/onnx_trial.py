"""Graphs of single precision, tried on rows with ONNX's own evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import warn_caller
from rankwise.export.engine_scores import double_scores, warn_if_reordered
from rankwise.export.served import ScaledModel, dense_rows
from rankwise.operators.kernel import row_blocks
from rankwise.preferences.queries import Queries, group_rows
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.functions import KernelExpansion
from rankwise.types import AnyArray, Floats, Matrix, Reading

Run: TypeAlias = Callable[[Mapping[str, AnyArray]], Floats]

# Without rows, scores are tried on this many basis rows, and may be off by this share of their range.
ROWS_TRIED, LARGEST_ERROR = 256, 1e-2


def warn_if_imprecise(encoded: bytes, served: ScaledModel, X: Any, qid: ArrayLike | None) -> None:
    """Warn if a graph changes the order of rows or, without rows, the scores of a model's own rows."""
    if X is None:
        _try_basis_rows(encoded, served)
        return
    if isinstance(served.model.function, AdditiveFunction):
        scores, found = _scores_of_columns(_runner(encoded), served, X)
        query = group_rows(qid, len(scores)).query_of_row()
    else:
        rows = served.rows(X)
        queries = group_rows(qid, rows.shape[0])
        scores, found = _scores_of_rows(_runner(encoded), served, queries.grouped(rows), queries)
        query = queries.grouped(queries.query_of_row())
    warn_if_reordered(scores, found, query, or_else="use dtype='float64'")


def _runner(encoded: bytes) -> Run:
    import onnx
    from onnx.reference import ReferenceEvaluator

    graph = ReferenceEvaluator(onnx.load_from_string(encoded))

    def run(inputs: Mapping[str, AnyArray]) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            outputs: Any = graph.run(None, dict(inputs))
        scores: Floats = outputs[0].astype(np.float64)
        return scores

    return run


def _scores_of_columns(run: Run, served: ScaledModel, X: Any) -> tuple[Floats, Floats]:
    """The scores of `predict` and those of the graph."""
    function, values = served.as_columns("onnx"), served.values(X)
    inputs = {term.column: _input(values[term.column], term.shape.reading) for term in function.terms}
    return double_scores(function, values), run(inputs)


def _input(values: AnyArray, reading: Reading) -> AnyArray:
    """The values of a column as an input of a graph."""
    if reading is Reading.TEXT:
        return np.array([["" if text is None else text] for text in values.tolist()], dtype=object)
    if reading is Reading.DATE:
        since_1970 = values.astype("datetime64[us]") - np.datetime64(0, "us")
        return np.asarray(since_1970 / np.timedelta64(1, "s"))[:, None]
    return _single(values[:, None])


def _single(values: AnyArray) -> AnyArray:
    with np.errstate(over="ignore"):  # what overflows is not in an order
        return values.astype(np.float32)


def _scores_of_rows(run: Run, served: ScaledModel, rows: Matrix, queries: Queries) -> tuple[Floats, Floats]:
    """The scores of `predict` and those of the graph, of rows that are grouped by query."""
    expected, found = [], []
    for part in _parts(served, queries):
        raw = dense_rows(rows[part])
        expected.append(served.scores(raw))
        found.append(run({"X": _single(raw)}))
    return np.concatenate(expected), np.concatenate(found)


def _parts(served: ScaledModel, queries: Queries) -> Iterator[slice]:
    """Rows that the graph takes at a time: all of one query if it scales them, otherwise some."""
    if not served.scaled_per_query:
        function = served.model.function
        basis = len(function.indices) if isinstance(function, KernelExpansion) else 0
        return row_blocks(queries.n_rows, max(served.n_features, basis))
    return map(slice, queries.offsets[:-1].tolist(), queries.offsets[1:].tolist())


def _try_basis_rows(encoded: bytes, served: ScaledModel) -> None:
    """Distances between rows that barely differ are lost in single precision."""
    function = served.model.function
    if served.scaled_per_query or not isinstance(function, KernelExpansion) or function.basis is None:
        return  # rows in [0, 1] that vary as much; or no rows to try
    rows = dense_rows(function.basis[: min(function.basis.shape[0], ROWS_TRIED)])
    raw = np.divide(rows - served.shift, served.factor, out=np.zeros_like(rows), where=served.factor != 0.0)
    expected = function.scores(rows)
    found = _runner(encoded)({"X": _single(raw)})
    error, spread = float(np.abs(found - expected).max()), float(np.ptp(expected, axis=0).max())
    if error > LARGEST_ERROR * spread:
        warn_caller(
            f"In single precision, scores of the model's own rows are off by up to {error / spread:.0%} of "
            "their range, because features vary so little compared with their size; use dtype='float64'.",
            UserWarning,
        )
