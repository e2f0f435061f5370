"""Rankers as ONNX graphs of a few standard operators, which every runtime supports."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import rankwise
from rankwise.errors import DataError, MissingExtraError, ParameterError, warn_caller
from rankwise.export.served import Served
from rankwise.files import replacing_file
from rankwise.operators.kernel import KernelName
from rankwise.scoring.functions import KernelExpansion
from rankwise.types import Floats, Matrix
from rankwise.validation import check_choice

# The first opset with every operator as used here; runtimes have supported it since 2023.
OPSET, IR_VERSION = 18, 8
# Scores in single precision are tried on this many rows, and may be off by this share of their range.
ROWS_TRIED, LARGEST_ERROR = 256, 1e-2
# A protobuf message cannot be larger.
MAX_BYTES = (1 << 31) - (1 << 20)


class Precision(StrEnum):
    """The floating-point type of a graph."""

    DOUBLE = "float64"
    SINGLE = "float32"


def save_onnx(served: Served, path: str | os.PathLike[str], *, dtype: str) -> None:
    """Write a graph that maps ``X`` (rows, features) to ``scores`` (rows[, targets])."""
    precision = check_choice("dtype", dtype, Precision)
    try:
        import onnx
    except ImportError:
        raise MissingExtraError("Exporting to ONNX", "onnx") from None

    graph = _Graph(np.dtype(precision.value))
    rows = graph.scaled_per_query("X") if served.scaled_per_query else "X"
    function = served.model.function
    if isinstance(function, KernelExpansion) and served.coef is None:
        targets = _kernel_scores(graph, served, function, rows)
    else:
        targets = _linear_scores(graph, served, rows)
    encoded = graph.encoded(served, targets)
    onnx.checker.check_model(encoded)
    if precision is Precision.SINGLE and isinstance(function, KernelExpansion):
        _warn_if_imprecise(encoded, served, function)
    with replacing_file(path) as beside:
        beside.write_bytes(encoded)


def _warn_if_imprecise(encoded: bytes, served: Served, function: KernelExpansion) -> None:
    """Run the graph on basis rows: distances between rows that barely differ are lost in single precision."""
    if served.scaled_per_query or function.basis is None:
        return  # rows in [0, 1] that vary as much; or no rows to try
    import onnx
    from onnx.reference import ReferenceEvaluator

    rows = _dense(function.basis[: min(function.basis.shape[0], ROWS_TRIED)])
    raw = np.divide(rows - served.shift, served.factor, out=np.zeros_like(rows), where=served.factor != 0.0)
    expected = function.scores(rows)
    outputs: Any = ReferenceEvaluator(onnx.load_from_string(encoded)).run(None, {"X": raw.astype(np.float32)})
    error, spread = float(np.abs(outputs[0] - expected).max()), float(np.ptp(expected, axis=0).max())
    if error > LARGEST_ERROR * spread:
        warn_caller(
            f"In single precision, scores of the model's own rows are off by up to {error / spread:.0%} of "
            "their range, because features vary so little compared with their size; use dtype='float64'.",
            UserWarning,
        )


def _linear_scores(graph: _Graph, served: Served, rows: str) -> tuple[int, ...]:
    """Add linear scores, folding factors and shifts into constants; return the shape of a row's scores."""
    assert served.coef is not None
    weights = [rows, graph.constant((served.coef * served.factor).T)]
    if served.shift.any():
        products = graph.add("MatMul", weights)
        graph.add("Add", [products, graph.constant(served.coef @ served.shift)], "scores")
    else:
        graph.add("MatMul", weights, "scores")
    return served.coef.shape[:-1]


def _kernel_scores(graph: _Graph, served: Served, function: KernelExpansion, rows: str) -> tuple[int, ...]:
    values = _kernel_values(graph, served, function, rows)
    graph.add("MatMul", [values, graph.constant(function.coefficients.T)], "scores")
    return function.coefficients.shape[:-1]


def _kernel_values(graph: _Graph, served: Served, function: KernelExpansion, rows: str) -> str:
    """Add kernel values between rows and the basis rows, by the formulas of `rankwise.operators.kernel`."""
    kernel = function.kernel
    if kernel.function not in (KernelName.RBF, KernelName.POLYNOMIAL) or function.basis is None:
        raise ParameterError(
            f"Only linear models and the rbf and polynomial kernels can be exported to ONNX; got "
            f"kernel={function.kernel_parameter!r}."
        )
    basis = _dense(function.basis)
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


def _dense(rows: Matrix) -> Floats:
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)


class _Graph:
    """Nodes and constants, each with a unique name."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.n_bytes = 0

    def add(self, operator: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        output = output or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, value: ArrayLike) -> str:
        return self._keep(np.ascontiguousarray(value, dtype=self.dtype).reshape(np.shape(value)))

    def axis(self, number: int) -> str:
        return self._keep(np.array([number], dtype=np.int64))

    def _keep(self, value: Any) -> str:
        from onnx import numpy_helper

        self.n_bytes += value.nbytes
        if self.n_bytes > MAX_BYTES:
            raise DataError("The model exceeds 2 GB, the limit of an ONNX file; use fewer basis rows.")
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def moved(self, rows: str, factor: Floats, shift: Floats) -> str:
        """``factor * rows + shift``, omitting steps that change nothing."""
        if (factor != 1.0).any():
            rows = self.add("Mul", [rows, self.constant(factor)])
        return self.add("Add", [rows, self.constant(shift)]) if shift.any() else rows

    def scaled_per_query(self, rows: str) -> str:
        """Scale all rows, which must be those of one query, to [0, 1]; constant features become 0."""
        least = self.add("ReduceMin", [rows, self.axis(0)], keepdims=1)
        most = self.add("ReduceMax", [rows, self.axis(0)], keepdims=1)
        span = self.add("Sub", [most, least])
        is_constant = self.add("Equal", [span, self.constant(0.0)])
        divisor = self.add("Where", [is_constant, self.constant(1.0), span])
        return self.add("Div", [self.add("Sub", [rows, least]), divisor])

    def encoded(self, served: Served, targets: tuple[int, ...]) -> bytes:
        """Return the content of the file."""
        from onnx import helper

        kind, name = helper.np_dtype_to_tensor_dtype(self.dtype), served.model.class_name
        X = helper.make_tensor_value_info("X", kind, ["rows", served.n_features])
        scores = helper.make_tensor_value_info("scores", kind, ["rows", *targets])
        one_query = " Pass all rows of one query at a time." if served.scaled_per_query else ""
        says = f"Scores of rows, higher is better.{one_query}"
        graph = helper.make_graph(self.nodes, name, [X], [scores], self.constants, doc_string=says)
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="rankwise",
            producer_version=rankwise.__version__,
        )
        facts = {"class": name, "scaled_per_query": served.scaled_per_query}
        if served.feature_names is not None:
            facts["feature_names"] = served.feature_names
        helper.set_model_props(made, {key: json.dumps(fact) for key, fact in facts.items()})
        content: bytes = made.SerializeToString()
        return content
