"""Export of fitted models to the formats of other programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from rankwise.errors import DataError, ParameterError
from rankwise.export.engines import (
    elasticsearch_model,
    is_vespa_expression,
    is_vespa_name,
    solr_model,
    vespa_profile,
)
from rankwise.export.query_clauses import boosted_query
from rankwise.export.served import Served, as_served
from rankwise.export.svmrank import save_svmrank
from rankwise.files import read_json_object, replacing_file
from rankwise.scoring.functions import KernelExpansion
from rankwise.types import Floats
from rankwise.validation import check_choice


class Format(StrEnum):
    """Export formats."""

    ONNX = "onnx"
    ELASTICSEARCH = "elasticsearch"
    ELASTICSEARCH_QUERY = "elasticsearch-query"
    OPENSEARCH = "opensearch"
    SOLR = "solr"
    VESPA = "vespa"
    SVMRANK = "svmrank"


# Functions from the name of a linear model and its weights by feature name to its text.
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
    clauses: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> None:
    """Export a fitted ranker to a file that another program reads.

    Parameters
    ----------
    model : ranker or pipeline
        Linear, or with the linear kernel; "onnx" also supports the rbf and polynomial kernels. In a pipeline,
        scikit-learn's scalers and `QueryMinMaxScaler` may precede the ranker; they are exported with it.
    path : path
        The file to write; it is moved into place once complete.
    to : str, default="onnx"
        - "onnx": an ONNX graph with the input ``X``, shape (rows, features), and the output ``scores``;
        - "elasticsearch" (o19s), "opensearch": the request body that creates the model in the
          learning-to-rank plugin;
        - "elasticsearch-query": a query of boosted clauses that needs no plugin, for weights that are not
          negative (see `monotonic_cst` of `RankRLS`);
        - "solr": a model for Solr's model store;
        - "vespa": a Vespa rank profile;
        - "svmrank": an SVMrank model file.
    name : str, default="rankwise"
        The name of the model in the engine.
    feature_names : sequence of str, optional
        The names of the features in the engine, in column order; for Vespa, expressions such as
        ``bm25(title)``. Defaults to the names that the model was fitted with.
    dtype : {"float64", "float32"}, default="float64"
        The floating-point type of an ONNX graph. With float64, its scores equal those of `predict` up to
        rounding.
    clauses : mapping or path of a JSON file, optional
        For "elasticsearch-query", a clause for each feature by name, whose score is the feature, with the
        string ``"$boost"`` in place of its boost.

    Notes
    -----
    A model of features scaled within each query (`QueryMinMaxScaler`, or ``--scale`` on the command line)
    takes raw features in ONNX and scales them itself, so every call must contain all rows of one query. The
    other formats do not support such models, and exporting one raises an error.

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
        raise ParameterError("The model has no feature names; pass feature_names (--features).")
    _check_names(form, name, served.feature_names)
    weights = dict(zip(served.feature_names, coef.tolist(), strict=True))
    if form is Format.ELASTICSEARCH_QUERY:
        text = boosted_query(weights, _checked_clauses(clauses))
    else:
        text = _ENGINES[form](name, weights)
    with replacing_file(path) as beside:
        beside.write_text(text, encoding="utf-8")


def _checked_clauses(clauses: Any) -> Mapping[str, Any]:
    if isinstance(clauses, (str, os.PathLike)):
        return read_json_object(clauses, "a clause for each feature")
    if not isinstance(clauses, Mapping):
        raise ParameterError(
            "The format 'elasticsearch-query' needs clauses (--clauses): a clause for each feature by name."
        )
    return clauses


def _check_names(form: Format, model: str, features: list[str]) -> None:
    """Reject names that the format cannot hold or would not read as a name."""
    vespa = form is Format.VESPA
    fits_model = is_vespa_name if vespa else str.isprintable
    fits_feature = is_vespa_expression if vespa else str.isprintable
    names = [("model", model, fits_model), *(("feature", feature, fits_feature) for feature in features)]
    for what, name, fits in names:
        if not isinstance(name, str) or not name.strip() or not fits(name):
            raise ParameterError(f"{name!r} cannot be the name of a {what} in the form '{form}'.")


def _weights_for_engines(served: Served, form: Format) -> Floats:
    """Return one weight per raw feature, without shifts, which change all scores equally."""
    coef, function = served.coef, served.model.function
    if isinstance(function, KernelExpansion) and coef is None:
        raise ParameterError(
            f"The '{form}' format supports only linear models, but this {served.model.class_name} has "
            f"kernel={function.kernel_parameter!r}; export it to 'onnx' or train a linear model."
        )
    assert coef is not None
    if coef.ndim != 1:
        raise DataError(
            f"The '{form}' format supports one score per row, but this model predicts {len(coef)} targets."
        )
    if served.scaled_per_query:
        raise DataError(
            f"The model was trained on features scaled within each query, which the '{form}' format does not "
            "support; export it to 'onnx' or train on raw features."
        )
    return coef * served.factor
