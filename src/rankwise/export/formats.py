"""Export of fitted models to the formats of other programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from rankwise.errors import ParameterError
from rankwise.export.elasticsearch import elasticsearch_model, elasticsearch_script, script_scores
from rankwise.export.engine_scores import Values, double_scores, raised, warn_if_negative, warn_if_reordered
from rankwise.export.expressions import comes_with_request
from rankwise.export.query_clauses import query_writer
from rankwise.export.served import as_served
from rankwise.export.solr import function_scores, solr_function, solr_model
from rankwise.export.sql import SQLite, StandardSQL, is_sql_text
from rankwise.export.svmrank import save_svmrank
from rankwise.export.vespa import is_feature, is_profile_name, vespa_profile
from rankwise.export.weighted_features import boosted_scores, weighted_scores
from rankwise.features import JudgedRows
from rankwise.files import as_path, replacing_file
from rankwise.preferences.queries import group_rows
from rankwise.scoring.additive import AdditiveFunction
from rankwise.types import Floats, Reading
from rankwise.validation import check_choice, check_flag


class Format(StrEnum):
    """Export formats."""

    ONNX = "onnx"
    SQL = "sql"
    SQLITE = "sqlite"
    ELASTICSEARCH = "elasticsearch"
    ELASTICSEARCH_QUERY = "elasticsearch-query"
    ELASTICSEARCH_SCRIPT = "elasticsearch-script"
    OPENSEARCH = "opensearch"
    SOLR = "solr"
    SOLR_FUNCTION = "solr-function"
    VESPA = "vespa"
    SVMRANK = "svmrank"


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A format that names columns.

    Attributes
    ----------
    write : function of (str, AdditiveFunction)
        The text of a model with this name.
    prepare : function of (str, AdditiveFunction), optional
        Statements to run once before the text is used, for a file of their own; empty if there are none.
    fits_column, fits_name : function of str
        Whether the format takes this as the name of a column or model.
    engine_scores : function of (AdditiveFunction, Values), optional
        The scores that the engine computes, if not in double precision.
    may_sink : bool
        Whether documents with negative scores can sink below those that the engine does not rescore.
    of_request : collection of Reading
        What a column that comes with the request, ``params.NAME``, can be read as.
    """

    write: Callable[[str, AdditiveFunction], str]
    prepare: Callable[[str, AdditiveFunction], str] | None = None
    fits_column: Callable[[str], bool] = str.isprintable
    fits_name: Callable[[str], bool] = str.isprintable
    engine_scores: Callable[[AdditiveFunction, Values], Floats] | None = None
    may_sink: bool = False
    of_request: Collection[Reading] = ()


def _in_sql(language: type[StandardSQL]) -> TextFormat:
    return TextFormat(
        lambda name, function: language(name, function).expression(),
        lambda name, function: language(name, function).statements(),
        fits_column=is_sql_text,
        of_request=tuple(Reading),
    )


_PLUGIN = TextFormat(elasticsearch_model, engine_scores=weighted_scores, may_sink=True)
_BUT_TEXT = (Reading.NUMBER, Reading.FLAG, Reading.DATE)
_TEXT_FORMATS = {
    Format.SQL: _in_sql(StandardSQL),
    Format.SQLITE: _in_sql(SQLite),
    Format.ELASTICSEARCH: _PLUGIN,
    Format.ELASTICSEARCH_SCRIPT: TextFormat(
        elasticsearch_script, engine_scores=script_scores, of_request=tuple(Reading)
    ),
    Format.OPENSEARCH: _PLUGIN,
    Format.SOLR: TextFormat(solr_model, engine_scores=weighted_scores, may_sink=True),
    Format.SOLR_FUNCTION: TextFormat(
        solr_function, engine_scores=function_scores, may_sink=True, of_request=_BUT_TEXT
    ),
    Format.VESPA: TextFormat(
        vespa_profile, fits_column=is_feature, fits_name=is_profile_name, of_request=_BUT_TEXT
    ),
}


# The formats that a name can have, of which it implies the first.
_ENDINGS = {
    ".onnx": (Format.ONNX,),
    ".sql": (Format.SQL, Format.SQLITE),
    ".profile": (Format.VESPA,),
    ".sd": (Format.VESPA,),
}


def _format_of(path: Path, to: str | None) -> Format:
    possible = _ENDINGS.get(path.suffix.lower(), ())
    if to is not None:
        form = check_choice("to", to, Format)
        if possible and form not in possible:
            raise ParameterError(
                f"The name {path.name!r} implies the format '{possible[0]}', but the 'to' parameter is "
                f"'{form}'; change one of them."
            )
        return form
    if not possible:
        known = ", ".join(repr(str(form)) for form in Format)
        raise ParameterError(
            f"The name {path.name!r} does not imply a format; the 'to' parameter must be one of {known}."
        )
    return possible[0]


def export_model(
    model: Any,
    path: str | os.PathLike[str],
    to: str | None = None,
    *,
    name: str = "rankwise",
    feature_names: Sequence[str] | Mapping[str, str] | None = None,
    dtype: str = "float64",
    clauses: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    X: Any = None,
    qid: ArrayLike | None = None,
    nonnegative: bool = False,
) -> None:
    """Export a fitted ranker to a file that another program reads.

    Parameters
    ----------
    model : ranker or pipeline
        Linear, also with `columns`, or with the linear kernel; "onnx" also supports the rbf and polynomial
        kernels. In a pipeline, scikit-learn's scalers and `QueryMinMaxScaler` may precede the ranker, or a
        `ColumnEncoder` if it is linear; they are exported with it.
    path : path
        The file to write; it is moved into place once complete.
    to : str, optional
        By default, the ending of the file decides: ``.onnx``, ``.sql``, or ``.sd`` and ``.profile`` for
        Vespa.

        - "onnx": a graph with the output ``scores`` and the input ``X``, shape (rows, features), or, of a
          ranker with `columns`, an input of shape (rows, 1) for each column: numbers, texts (empty where
          missing), and dates as seconds since 1970 in UTC.
        - "sql", "sqlite": an expression for ``SELECT``, in standard SQL (PostgreSQL, DuckDB) or for SQLite.
          More than 100 categories of a column are looked up in a table, called ``rankwise_categories`` after
          `name`, which a second file creates: ``score.categories.sql`` beside ``score.sql``; run it once.
        - "elasticsearch", "opensearch": the request body that creates the model in the learning-to-rank
          plugin.
        - "elasticsearch-query": a query of boosted clauses that needs no plugin, for weights that are not
          negative (see `monotonic_cst` of `RankRLS`).
        - "elasticsearch-script": a ``script_score`` query on document fields, for both engines.
        - "solr": a model for the model store of Solr's learning-to-rank module.
        - "solr-function": a function query on document fields.
        - "vespa": a rank profile.
        - "svmrank": a model file.
    name : str, default="rankwise"
        The name of the model in the engine.
    feature_names : sequence or mapping of str, optional
        The names of the features in the engine, in column order, or by the names that the model was fitted
        with, which are the default; for Vespa, expressions such as ``bm25(title)``. A name ``params.NAME``
        makes a column a parameter of the request, in SQL, scripts, Solr functions and Vespa.
    dtype : {"float64", "float32"}, default="float64"
        The floating-point type of an ONNX graph. With float64, its scores equal those of `predict` up to
        rounding.
    clauses : mapping or path of a JSON file, optional
        For "elasticsearch-query", a clause for each feature by name, whose score is the feature, with the
        string ``"$boost"`` in place of its boost.
    X : array-like, frame or RankingData, optional
        Rows like those of training, on which the export is tested: a warning is given if some of their scores
        are negative, or if the single precision of an engine, or of a graph with ``dtype="float32"``, changes
        their order.
    qid : array-like, optional
        The queries of these rows; the order of rows of different queries does not matter.
    nonnegative : bool, default=False
        Add a constant to all scores that makes those of `X` positive, plus a margin of a tenth of their
        range. "elasticsearch-script" always maps scores to positive ones in the same order.

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
    form, served = _format_of(as_path(path), to), as_served(model, feature_names)
    nonnegative = check_flag("nonnegative", nonnegative)
    qid = X.qid if isinstance(X, JudgedRows) else qid
    if nonnegative and form not in _TEXT_FORMATS:
        raise ParameterError(
            f"The '{form}' format does not support nonnegative=True, which is for search engines."
        )
    if form is Format.ONNX:
        from rankwise.export.onnx_models import save_onnx

        save_onnx(served, path, dtype=dtype, X=X, qid=qid)
    elif form is Format.SVMRANK:
        save_svmrank(served.weights(form), path, n_rows=0)
    else:
        function, text_format = served.as_columns(form), _text_format(form, clauses)
        _check_names(form, text_format, name, function)
        values = None if X is None else served.values(X, qid)
        if nonnegative:
            function = raised(function, _required(values))
        text = text_format.write(name, function)
        _check_scores(text_format, function, values, qid)
        prepared = "" if text_format.prepare is None else text_format.prepare(name, function)
        _write(as_path(path), text, prepared)


def _write(path: Path, text: str, prepared: str) -> None:
    """Write the text and, if there are any, the statements to run before; both are complete or neither is."""
    with ExitStack() as stack:
        files = {path: text}
        if prepared:
            if path.exists() and not path.is_file():
                raise ParameterError(
                    f"{path}: this model needs a second file next to it, so the output must be a file."
                )
            files[path.with_name(f"{path.stem}.categories{path.suffix}")] = prepared
        for file, content in files.items():
            stack.enter_context(replacing_file(file)).write_text(content, encoding="utf-8")


def _text_format(form: Format, clauses: Any) -> TextFormat:
    if form is not Format.ELASTICSEARCH_QUERY:
        return _TEXT_FORMATS[form]
    return TextFormat(query_writer(clauses), engine_scores=boosted_scores)


def _required(values: Values | None) -> Values:
    if values is None:
        raise ParameterError(
            "nonnegative=True (--nonnegative) needs rows X (--data), whose scores it makes positive."
        )
    return values


def _check_scores(
    form: TextFormat, function: AdditiveFunction, values: Values | None, qid: ArrayLike | None
) -> None:
    """Warn of what happens to scores in an engine."""
    if form.may_sink:
        warn_if_negative(function, values)
    if form.engine_scores is not None and values is not None:
        scores = double_scores(function, values)
        query = group_rows(qid, len(scores)).query_of_row()
        warn_if_reordered(scores, form.engine_scores(function, values), query)


def _check_names(form: Format, text_format: TextFormat, model: str, function: AdditiveFunction) -> None:
    """Reject names that the format cannot hold or would not read as a name."""
    columns = [("feature", term.column, text_format.fits_column) for term in function.terms]
    names = [("model", model, text_format.fits_name), *columns]
    for what, name, fits in names:
        if not isinstance(name, str) or not name.strip() or not fits(name):
            raise ParameterError(f"{name!r} cannot be the name of a {what} in the format '{form}'.")
    for term in function.terms:
        reading = term.shape.reading
        if comes_with_request(term.column) and reading not in text_format.of_request:
            can = [f"'{other}'" for other, one in _TEXT_FORMATS.items() if reading in one.of_request]
            raise ParameterError(
                f"The format '{form}' cannot take {term.column!r} from the request as a {reading}; "
                f"{', '.join(can)} can."
            )
