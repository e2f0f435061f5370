"""Models for Elasticsearch and OpenSearch: of their learning-to-rank plugins, or as a script."""

from __future__ import annotations

import json
import math
from typing import Any, assert_never

import numpy as np

from rankwise.export.json_text import as_json
from rankwise.export.scores import Values, double_scores
from rankwise.export.weights import weighted_features
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.shapes import Flag, Line, LogLine, Lookup, OfAge, PiecewiseLinear, by_category
from rankwise.types import Floats

# One script for all models, so that the engine compiles it once. Negative scores are errors in a script; the
# last line makes them positive and keeps their order.
SCRIPT = """\
double score = 0;
for (column in params.columns) {
  def values = doc[column.field];
  if (values.size() == 0) {
    score += column.missing;
  } else if (column.containsKey('other')) {
    score += column.texts.getOrDefault(String.valueOf(values.get(0)), column.other);
  } else {
    double x;
    if (column.containsKey('reference')) {
      x = (column.reference - values.get(0).toInstant().toEpochMilli()) / 86400000.0;
    } else {
      x = values.get(0);
    }
    if (column.containsKey('log')) {
      x = x < 0 ? -Math.log(1 - x) : Math.log(1 + x);
    }
    int piece = 0;
    while (piece + 1 < column.knots.size() && x >= column.knots[piece + 1]) {
      piece++;
    }
    score += column.values[piece] + column.slopes[piece] * (x - column.knots[piece]);
  }
}
return score < 0 ? 1 / (1 - score) : 1 + score;
"""


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
    params = {"columns": [_parameters(term) for term in function.terms]}
    script = {"lang": "painless", "source": SCRIPT, "params": params}
    return as_json({"query": {"script_score": {"query": {"match_all": {}}, "script": script}}})


def _parameters(term: Term) -> dict[str, Any]:
    """What the script needs to know of a column: texts with their values, or pieces of lines."""
    shape = term.shape
    missing = shape.missing
    if math.isnan(missing):  # a model of features, which are 0 where an engine has none
        missing = float(shape(np.zeros(1))[0])
    known: dict[str, Any] = {"field": term.column, "missing": missing}
    if isinstance(shape, OfAge):
        known["reference"] = int(np.datetime64(shape.reference, "ms").astype(int))
        shape = shape.shape
    match shape:
        case Lookup(categories, values, other):
            return known | {"texts": by_category(categories, values), "other": other}
        case Flag(true, false):
            return known | {"texts": {"true": true}, "other": false}
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


def script_scores(function: AdditiveFunction, values: Values) -> Floats:
    """Return the scores that the script computes, in the single precision of scores."""
    scores = double_scores(function, values)
    positive = np.where(scores < 0.0, 1.0 / (1.0 - np.minimum(scores, 0.0)), 1.0 + scores)
    return positive.astype(np.float32).astype(np.float64)
