"""One function that writes a fitted model in any of the forms other programs read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from rankwise.errors import DataError, ParameterError
from rankwise.export.engines import elasticsearch_model, solr_model, vespa_profile
from rankwise.export.served import Served, as_served
from rankwise.export.svmrank import save_svmrank
from rankwise.files import replacing_file
from rankwise.types import Floats
from rankwise.validation import check_choice


class Format(StrEnum):
    """What a model can be exported to."""

    ONNX = "onnx"
    ELASTICSEARCH = "elasticsearch"
    OPENSEARCH = "opensearch"
    SOLR = "solr"
    VESPA = "vespa"
    SVMRANK = "svmrank"


# The text of a linear model: its name, and its weights by the names of the features.
_ENGINES: dict[Format, Callable[[str, dict[str, float]], str]] = {
    Format.ELASTICSEARCH: elasticsearch_model,
    Format.OPENSEARCH: elasticsearch_model,
    Format.SOLR: solr_model,
    Format.VESPA: vespa_profile,
}


def export_model(
    model: Any,
    path: str | os.PathLike[str],
    to: str = "onnx",
    *,
    name: str = "rankwise",
    feature_names: Sequence[str] | None = None,
    dtype: str = "float64",
) -> None:
    """Write a fitted ranker in the form that another program reads.

    Parameters
    ----------
    model : ranker or pipeline
        Linear, or with the linear kernel; "onnx" also takes the rbf and the polynomial kernel. In a pipeline,
        scikit-learn's scalers and `QueryMinMaxScaler` may come before it; they are exported with it.
    path : path
        The file to write. It takes its place when it is whole.
    to : {"onnx", "elasticsearch", "opensearch", "solr", "vespa", "svmrank"}, default="onnx"
        An ONNX graph with the input ``X``, shape (rows, features), and the output ``scores``; the request
        body that creates the model in the learning-to-rank plugin of Elasticsearch (o19s) or OpenSearch; a
        model of Solr's model store; a rank profile of Vespa; SVMrank's model file.
    name : str, default="rankwise"
        What the engine calls the model.
    feature_names : sequence of str, optional
        What the engine calls the features, in the order of the columns; for Vespa, expressions such as
        ``bm25(title)``. By default the names that the model was fitted with.
    dtype : {"float64", "float32"}, default="float64"
        The numbers of an ONNX graph. In float64 it gives the scores of `predict` up to rounding.

    Notes
    -----
    A model of features scaled inside each query (`QueryMinMaxScaler`, or ``--scale`` on the command line)
    takes raw features in ONNX and scales them itself: every call must then hold all rows of one query. The
    other forms cannot do that, and such a model is refused.

    Examples
    --------
    >>> from rankwise import RankRLS, export_model
    >>> model = RankRLS(alpha=0.0).fit([[4.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [2, 1, 0])
    >>> export_model(model, "learned.profile", "vespa", feature_names=["bm25(title)", "freshness"])
    >>> print(open("learned.profile").read(), end="")
    rank-profile rankwise {
        first-phase {
            expression {
                0.5 * bm25(title)
                + 1.0 * freshness
            }
        }
    }
    """
    form, served = check_choice("to", to, Format), as_served(model, feature_names)
    if form is Format.ONNX:
        from rankwise.export.onnx_graph import save_onnx

        save_onnx(served, path, dtype=dtype)
        return
    coef = _weights_for_engines(served, form)
    if form is Format.SVMRANK:
        save_svmrank(coef, path, n_rows=0)
        return
    if served.feature_names is None:
        raise ParameterError(
            "The model does not know the names of its features: give feature_names (--features)."
        )
    weights = dict(zip(served.feature_names, coef.tolist(), strict=True))
    with replacing_file(path) as beside:
        beside.write_text(_ENGINES[form](name, weights), encoding="utf-8")


def _weights_for_engines(served: Served, form: Format) -> Floats:
    """One weight a raw feature; shifts, which move all scores alike, are left out."""
    coef, kind = served.coef, type(served.ranker).__name__
    if coef is None:
        raise ParameterError(
            f"The form '{form}' has room for linear models only, and this {kind} has "
            f"kernel={served.ranker.kernel!r}; export it to 'onnx', or train a linear one."
        )
    if coef.ndim != 1:
        raise DataError(f"The form '{form}' has one score a row; this model predicts {len(coef)} targets.")
    if served.scaled_per_query:
        raise DataError(
            f"The model was trained on features scaled inside each query, which the form '{form}' cannot do; "
            "export it to 'onnx', or train on raw features."
        )
    return coef * served.factor
