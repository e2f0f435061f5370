"""Graphs of a few standard ONNX operators, which every runtime supports."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import rankwise
from rankwise.errors import DataError
from rankwise.export.served import zero_of
from rankwise.types import Floats

# The first opset with every operator as used here; runtimes have supported it since 2023.
OPSET, IR_VERSION = 18, 8
# The operators for text.
ML_DOMAIN, ML_OPSET = "ai.onnx.ml", 3
# A protobuf message cannot be larger.
MAX_BYTES = (1 << 31) - (1 << 20)
OUTPUT = "scores"


class Graph:
    """Inputs, nodes and constants, each with a unique name.

    Parameters
    ----------
    dtype : dtype
        The floating-point type of its numbers.
    inputs : collection of str, optional
        The names of all inputs; other names begin with what none of these begins with.
    """

    def __init__(self, dtype: np.dtype[Any], inputs: Collection[str] = ()) -> None:
        self.dtype = dtype
        self.inputs: list[Any] = []
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.n_bytes = 0
        self._prefix = ""
        while any(name.startswith(self._prefix) for name in inputs):
            self._prefix += "_"

    def input(self, name: str, width: int, dtype: Any = None) -> str:
        """Take a matrix with this number of columns, of `dtype` or the type of the graph."""
        from onnx import helper

        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype or self.dtype))
        self.inputs.append(helper.make_tensor_value_info(name, kind, ["rows", width]))
        return name

    def add(self, operator: str, inputs: Sequence[str], output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        output = output or f"{self._prefix}{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, value: ArrayLike, dtype: Any = None) -> str:
        """A number or array of `dtype` or the type of the graph."""
        from onnx import numpy_helper

        array = np.ascontiguousarray(value, dtype=dtype or self.dtype).reshape(np.shape(value))
        self.n_bytes += array.nbytes
        if self.n_bytes > MAX_BYTES:
            raise DataError("The model exceeds 2 GB, the limit of an ONNX file; use fewer basis rows.")
        name = f"{self._prefix}constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def axis(self, number: int) -> str:
        return self.constant([number], np.int64)

    def centred(self, rows: str, factor: Floats, shift: Floats) -> tuple[str, Floats]:
        """Rows r' and the rest, for which ``factor * r' + rest`` is ``factor * rows + shift``.

        They are measured from where that is 0: products of numbers that are large but close together would
        lose the digits in which they differ.
        """
        with np.errstate(over="ignore"):
            centre = zero_of(factor, shift).astype(self.dtype)
        centre[~np.isfinite(centre)] = 0.0
        if not centre.any():
            return rows, shift
        return self.add("Sub", [rows, self.constant(centre)]), factor * centre.astype(np.float64) + shift

    def moved(self, rows: str, factor: Floats, shift: Floats) -> str:
        """``factor * rows + shift``, omitting steps that change nothing."""
        rows, rest = self.centred(rows, factor, shift)
        if (factor != 1.0).any():
            rows = self.add("Mul", [rows, self.constant(factor)])
        return self.add("Add", [rows, self.constant(rest)]) if rest.any() else rows

    def scaled_per_query(self, rows: str) -> str:
        """Scale all rows, which must be those of one query, to [0, 1]; constant features become 0."""
        least = self.add("ReduceMin", [rows, self.axis(0)], keepdims=1)
        most = self.add("ReduceMax", [rows, self.axis(0)], keepdims=1)
        span = self.add("Sub", [most, least])
        is_constant = self.add("Equal", [span, self.constant(0.0)])
        divisor = self.add("Where", [is_constant, self.constant(1.0), span])
        return self.add("Div", [self.add("Sub", [rows, least]), divisor])

    def encoded(self, name: str, targets: tuple[int, ...], says: str, facts: dict[str, Any]) -> bytes:
        """Return the content of the file, with `facts` about the model as its properties."""
        from onnx import helper

        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        scores = helper.make_tensor_value_info(OUTPUT, kind, ["rows", *targets])
        graph = helper.make_graph(self.nodes, name, self.inputs, [scores], self.constants, doc_string=says)
        uses_text = any(node.domain == ML_DOMAIN for node in self.nodes)
        opsets = [("", OPSET), *([(ML_DOMAIN, ML_OPSET)] if uses_text else [])]
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid(*opset) for opset in opsets],
            ir_version=IR_VERSION,
            producer_name="rankwise",
            producer_version=rankwise.__version__,
        )
        helper.set_model_props(made, {key: json.dumps(fact) for key, fact in facts.items()})
        content: bytes = made.SerializeToString()
        return content
