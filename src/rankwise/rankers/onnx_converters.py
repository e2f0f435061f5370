"""Converters with which skl2onnx exports pipelines of scikit-learn's transformers and our rankers."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankwise
from rankwise.errors import MissingExtraError
from rankwise.export.onnx_graph import OPSET, OUTPUT, Graph
from rankwise.export.onnx_models import add_scores_of_rows
from rankwise.export.served import as_served
from rankwise.model.schemas import SCHEMAS


def register_onnx_converters() -> None:
    """Let ``skl2onnx.to_onnx`` convert rankers, also at the end of a pipeline or after a `ColumnTransformer`.

    For pipelines with transformers that `export_model` does not support; it exports scalers and columns
    without skl2onnx. Graphs use opset 18 or newer.

    Examples
    --------
    >>> import rankwise, skl2onnx
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> data = rankwise.make_search_data(20, random_state=0)
    >>> pipeline = make_pipeline(PCA(3), rankwise.RankRLS()).fit(data.X, data.y)
    >>> rankwise.register_onnx_converters()
    >>> onnx_model = skl2onnx.to_onnx(pipeline, data.X[:1])
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise MissingExtraError("Converting pipelines with skl2onnx", "skl2onnx") from None
    for name in SCHEMAS:
        update_registered_converter(getattr(rankwise, name), f"Rankwise{name}", _set_shape, _convert)


def _set_shape(operator: Any) -> None:
    """Declare scores of the type of the features, one per row and target."""
    given = operator.inputs[0].type
    coef = as_served(operator.raw_operator).coef
    targets = () if coef is None else coef.shape[:-1]
    operator.outputs[0].type = type(given)([None, *targets])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a ranker's graph under names that are new in the whole graph."""
    from onnx import helper
    from skl2onnx.common.data_types import DoubleTensorType

    is_double = isinstance(operator.inputs[0].type, DoubleTensorType)
    graph = Graph(np.dtype(np.float64 if is_double else np.float32))
    add_scores_of_rows(graph, as_served(operator.raw_operator))
    names = {"X": operator.inputs[0].full_name, OUTPUT: operator.outputs[0].full_name}
    for tensor in graph.constants:
        names[tensor.name] = scope.get_unique_variable_name(tensor.name)
        container.add_initializer(names[tensor.name], tensor.data_type, list(tensor.dims), tensor)
    for node in graph.nodes:
        for output in node.output:
            names.setdefault(output, scope.get_unique_variable_name(output))
        container.add_node(
            node.op_type,
            [names[name] for name in node.input],
            [names[name] for name in node.output],
            op_version=OPSET,
            name=scope.get_unique_operator_name(node.op_type),
            **{attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute},
        )
