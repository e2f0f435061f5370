"""Models for Elasticsearch and OpenSearch: of their learning-to-rank plugins, or as a script."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, assert_never

import numpy as np

from rankwise.errors import ParameterError
from rankwise.export.engine_scores import Values, double_scores
from rankwise.export.expressions import comes_with_request, parameter
from rankwise.export.json_text import as_json
from rankwise.export.weighted_features import weighted_features
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.interactions import Interaction
from rankwise.scoring.shapes import Flag, Line, LogLine, Lookup, OfAge, PiecewiseLinear, Relative, by_category
from rankwise.types import Floats, Reading

# What the engine calls the score of the query around the script.
QUERY_SCORE = "_score"
# One script for all models, so that the engine compiles it once. Negative scores are errors in a script; the
# last line makes them positive and keeps their order.
SCRIPT = """\
double valueOf(def column, def doc, def params, double queryScore) {
  def value;
  if (column.containsKey('parameter')) {
    value = params[column.parameter];
  } else if (column.containsKey('queryScore')) {
    value = queryScore;
  } else {
    def values = doc[column.field];
    value = values.size() == 0 ? null : values.get(0);
  }
  if (value == null) {
    return column.missing;
  }
  if (column.containsKey('other')) {
    return column.texts.getOrDefault(String.valueOf(value), column.other);
  }
  double x;
  if (column.containsKey('reference')) {
    def milliseconds = value instanceof Number ? value : value.toInstant().toEpochMilli();
    x = (column.reference - milliseconds) / 86400000.0;
  } else {
    x = value;
  }
  if (column.containsKey('log')) {
    x = x < 0 ? -Math.log(1 - x) : Math.log(1 + x);
  }
  int piece = 0;
  while (piece + 1 < column.knots.size() && x >= column.knots[piece + 1]) {
    piece++;
  }
  return column.values[piece] + column.slopes[piece] * (x - column.knots[piece]);
}
double along(def row, double position) {
  int point = (int) position;
  double here = row[point];
  double next = point + 1 < row.size() ? row[point + 1] : here;
  return here + (position - point) * (next - here);
}
double queryScore = 0;
double score = 0;
for (column in params.columns) {
  score += valueOf(column, doc, params, queryScore);
}
for (pair in params.interactions) {
  double first = valueOf(pair.first, doc, params, queryScore);
  double second = valueOf(pair.second, doc, params, queryScore);
  int point = (int) first;
  double here = along(pair.table[point], second);
  double next = point + 1 < pair.table.size() ? along(pair.table[point + 1], second) : here;
  score += here + (first - point) * (next - here);
}
return score < 0 ? 1 / (1 - score) : 1 + score;
"""
# An engine computes the score of the query only for scripts that mention it.
SCRIPT_OF_QUERY_SCORE = SCRIPT.replace("queryScore = 0;", f"queryScore = {QUERY_SCORE};")


def elasticsearch_model(name: str, function: AdditiveFunction) -> str:
    """Return the body of ``POST _ltr/_featureset/<features>/_createmodel`` for the learning-to-rank plugin.

    OpenSearch's plugin takes the same body.
    """
    features = weighted_features(function, instead="elasticsearch-script")
    weights = {feature.name: feature.weight for feature in features}
    model: dict[str, Any] = {"type": "model/linear", "definition": json.dumps(weights)}
    moved = {feature.name: feature.mean for feature in features if feature.mean != 0.0}
    if moved:
        model["feature_normalizers"] = {
            feature: {"standard": {"mean": mean, "standard_deviation": 1.0}}
            for feature, mean in moved.items()
        }
    return as_json({"model": {"name": name, "model": model}})


def elasticsearch_script(_: str, function: AdditiveFunction) -> str:
    """Return a ``script_score`` query over all documents; it has no place for the model's name."""
    _check_query_score(function)
    columns = [known for term in function.terms if _adds(known := _parameters(term))]
    pairs = [_table(interaction) for interaction in function.interactions]
    params: dict[str, Any] = {"columns": columns, "interactions": pairs}
    read = [*columns, *(pair[side] for pair in pairs for side in ("first", "second"))]
    for name in [known["parameter"] for known in read if "parameter" in known]:
        if name in ("columns", "interactions"):
            raise ParameterError(f"The script has a parameter {name!r} of its own; choose another name.")
        params[name] = None  # to be filled in
    source = SCRIPT_OF_QUERY_SCORE if any("queryScore" in known for known in read) else SCRIPT
    script = {"lang": "painless", "source": source, "params": params}
    return as_json({"query": {"script_score": {"query": {"match_all": {}}, "script": script}}})


def _check_query_score(function: AdditiveFunction) -> None:
    for term in function.terms:
        if term.column == QUERY_SCORE and term.shape.reading is not Reading.NUMBER:
            raise ParameterError(
                f"{QUERY_SCORE!r} is the score of the query, a number, but the model reads this column as a "
                f"{term.shape.reading}."
            )


def _adds(known: Mapping[str, Any]) -> bool:
    """Whether what the script knows of a column is not 0 everywhere."""
    texts = known.get("texts", {}).values()
    return any(
        [known["missing"], known.get("other"), *known.get("values", ()), *known.get("slopes", ()), *texts]
    )


def _parameters(term: Term) -> dict[str, Any]:
    """What the script needs to know of a column: texts with their values, or pieces of lines."""
    shape = term.shape
    assert not isinstance(shape, Relative)  # refused before
    missing = shape.missing
    if math.isnan(missing):  # a model of features, which are 0 where an engine has none
        missing = float(shape(np.zeros(1))[0])
    known: dict[str, Any] = {"missing": missing}
    if term.column == QUERY_SCORE:
        known["queryScore"] = True
    elif comes_with_request(term.column):
        known["parameter"] = parameter(term.column)
    else:
        known["field"] = term.column
    if isinstance(shape, OfAge):
        known["reference"] = int(np.datetime64(shape.reference, "ms").astype(int))
        shape = shape.shape
    match shape:
        case Lookup(categories, values, other):
            return known | {"texts": by_category(categories, values), "other": other}
        case Flag(true, false):
            return known | {"texts": {"true": true, "1": true}, "other": false}
        case PiecewiseLinear(knots, values):
            starts = slice(max(len(knots) - 1, 1))
            return known | {"knots": knots[starts], "values": values[starts], "slopes": shape.slopes.tolist()}
        case LogLine(at, value, slope):
            known["log"] = True
        case Line(at, value, slope):
            pass
        case _:
            assert_never(shape)
    return known | {"knots": [at], "values": [value], "slopes": [slope]}


def _table(interaction: Interaction) -> dict[str, Any]:
    """The table, and the functions of the two columns that say where in it to look."""
    first, second = map(Term, interaction.columns, interaction.positions())
    return {"first": _parameters(first), "second": _parameters(second), "table": interaction.values}


def script_scores(function: AdditiveFunction, values: Values) -> Floats:
    """Return the scores that the script computes, in the single precision of scores."""
    scores = double_scores(function, values)
    positive = np.where(scores < 0.0, 1.0 / (1.0 - np.minimum(scores, 0.0)), 1.0 + scores)
    return positive.astype(np.float32).astype(np.float64)
