"""Rankers as ONNX graphs."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import MissingExtraError, ParameterError
from rankwise.export.expressions import comes_with_request
from rankwise.export.onnx_columns import add_columns
from rankwise.export.onnx_graph import OUTPUT, Graph
from rankwise.export.onnx_trial import warn_if_imprecise
from rankwise.export.served import ScaledModel, dense_rows
from rankwise.files import encodable, replacing_file
from rankwise.operators.kernel import KernelName
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.functions import KernelExpansion
from rankwise.validation import check_choice


class Precision(StrEnum):
    """The floating-point type of a graph."""

    DOUBLE = "float64"
    SINGLE = "float32"


def save_onnx(
    served: ScaledModel,
    path: str | os.PathLike[str],
    *,
    dtype: str,
    X: Any = None,
    qid: ArrayLike | None = None,
) -> None:
    """Write a graph that maps ``X`` (rows, features), or columns, to ``scores`` (rows[, targets]).

    A graph of single precision is tried on the rows `X`, if given, and warned of.
    """
    precision = check_choice("dtype", dtype, Precision)
    try:
        import onnx
    except ImportError:
        raise MissingExtraError("Exporting to ONNX", "onnx") from None

    for name in filter(comes_with_request, served.feature_names or ()):
        raise ParameterError(f"An ONNX graph has inputs, but no request; rename {name!r}.")
    with encodable(path):
        encoded = _encoded(served, np.dtype(precision.value))
    onnx.checker.check_model(encoded)
    if precision is Precision.SINGLE:
        warn_if_imprecise(encoded, served, X, qid)
    with replacing_file(path) as beside:
        beside.write_bytes(encoded)


def _encoded(served: ScaledModel, dtype: np.dtype[Any]) -> bytes:
    if isinstance(served.model.function, AdditiveFunction):
        columns = served.as_columns("onnx")
        graph = Graph(dtype, [term.column for term in columns.terms])
        targets = add_columns(graph, columns)
    else:
        graph = Graph(dtype)
        targets = add_scores_of_rows(graph, served)
    one_query = " Pass all rows of one query at a time." if served.scaled_per_query else ""
    facts = {"class": served.model.class_name, "scaled_per_query": served.scaled_per_query}
    if served.feature_names is not None:
        facts["feature_names"] = served.feature_names
    says = f"Scores of rows, higher is better.{one_query}"
    return graph.encoded(served.model.class_name, targets, says, facts)


def add_scores_of_rows(graph: Graph, served: ScaledModel) -> tuple[int, ...]:
    """Add the scores of a matrix of features; return the shape of a row's scores."""
    rows = graph.input("X", served.n_features)
    if served.scaled_per_query:
        rows = graph.scaled_per_query(rows)
    function = served.model.function
    if isinstance(function, KernelExpansion) and served.coef is None:
        return _kernel_scores(graph, served, function, rows)
    return _linear_scores(graph, served, rows)


def _linear_scores(graph: Graph, served: ScaledModel, rows: str) -> tuple[int, ...]:
    """Add linear scores, folding factors into the weights; return the shape of a row's scores."""
    assert served.coef is not None
    rows, rest = graph.centred(rows, served.factor, served.shift)
    weights = [rows, graph.constant((served.coef * served.factor).T)]
    if rest.any():
        products = graph.add("MatMul", weights)
        graph.add("Add", [products, graph.constant(served.coef @ rest)], OUTPUT)
    else:
        graph.add("MatMul", weights, OUTPUT)
    return served.coef.shape[:-1]


def _kernel_scores(
    graph: Graph, served: ScaledModel, function: KernelExpansion, rows: str
) -> tuple[int, ...]:
    values = _kernel_values(graph, served, function, rows)
    graph.add("MatMul", [values, graph.constant(function.coefficients.T)], OUTPUT)
    return function.coefficients.shape[:-1]


def _kernel_values(graph: Graph, served: ScaledModel, function: KernelExpansion, rows: str) -> str:
    """Add kernel values between rows and the basis rows, by the formulas of `rankwise.operators.kernel`."""
    kernel = function.kernel
    if kernel.function not in (KernelName.RBF, KernelName.POLYNOMIAL) or function.basis is None:
        raise ParameterError(
            f"Only linear models and the rbf and polynomial kernels can be exported to ONNX; got "
            f"kernel={function.kernel_parameter!r}."
        )
    basis = dense_rows(function.basis)
    if kernel.function is KernelName.POLYNOMIAL:
        rows = graph.moved(rows, served.factor, served.shift)
        products = graph.add("MatMul", [rows, graph.constant(kernel.gamma * basis.T)])
        raised = graph.add("Add", [products, graph.constant(kernel.coef0)])
        return graph.add("Pow", [raised, graph.constant(kernel.degree)])
    # Centring at the basis leaves distances unchanged and precise, however far from zero the features are.
    centre = basis.mean(axis=0, dtype=np.float64)
    rows, basis = graph.moved(rows, served.factor, served.shift - centre), basis - centre
    # gamma is part of the constants: runtimes would fuse a separate factor in, in single precision.
    products = graph.add("MatMul", [rows, graph.constant(2.0 * kernel.gamma * basis.T)])
    squares = graph.add("ReduceSumSquare", [rows, graph.axis(1)], keepdims=1)
    less = graph.add("Sub", [products, graph.add("Mul", [squares, graph.constant(kernel.gamma)])])
    exponents = graph.add("Sub", [less, graph.constant(kernel.gamma * np.vecdot(basis, basis))])
    return graph.add("Exp", [graph.add("Min", [exponents, graph.constant(0.0)])])
