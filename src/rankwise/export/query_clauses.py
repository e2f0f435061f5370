"""Linear models without negative weights as plain queries, for search engines without a plugin.

Elasticsearch and OpenSearch multiply the score of a clause by its boost, and a ``bool`` query adds up the
scores of its ``should`` clauses. If the score of each clause is a feature and its boost the weight, the sum
is the score of the model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from rankwise.errors import DataError, ParameterError
from rankwise.export.json_text import as_json
from rankwise.export.weighted_features import weighted_features
from rankwise.foreign_json import read_json_object
from rankwise.scoring.additive import AdditiveFunction

BOOST = "$boost"


def boosted_query(weights: Mapping[str, float], clauses: Mapping[str, Any]) -> str:
    """Return the body of a search request whose scores are those of the model.

    Parameters
    ----------
    weights : mapping
        The weight of each feature by name; features of weight 0 get no clause.
    clauses : mapping
        A clause for each feature, whose score without a boost is the feature, and in which the string
        ``"$boost"`` takes the place of the boost.
    """
    unknown = [name for name in clauses if name not in weights]
    if unknown:
        raise ParameterError(
            f"There is a clause for {unknown[0]!r:.100}, which is not a feature of the model."
        )
    boosted = [_boosted(name, weight, clauses) for name, weight in weights.items() if weight != 0.0]
    if not boosted:
        raise DataError("All weights of the model are 0, so the query would have no clauses.")
    return as_json({"query": {"bool": {"should": boosted}}})


def _boosted(feature: str, weight: float, clauses: Mapping[str, Any]) -> Any:
    if weight < 0.0:
        raise DataError(
            f"Boosts cannot be negative, but the weight of {feature!r} is {weight:.4g}; train with "
            f"monotonic_cst, 1 for every feature that is not negated."
        )
    if feature not in clauses:
        raise ParameterError(f"There is no clause for {feature!r}, whose weight is {weight:.4g}.")
    template = clauses[feature]
    n_places = _count(template)
    if not isinstance(template, Mapping) or n_places != 1:
        raise ParameterError(
            f"The clause for {feature!r} must be an object with one string {BOOST!r} in place of the boost; "
            f"got {json.dumps(template, default=str)[:100]}."
        )
    return _filled(template, weight)


def _count(template: Any) -> int:
    """The number of places for a boost."""
    if isinstance(template, Mapping):
        return sum(map(_count, template.values()))
    if isinstance(template, list):
        return sum(map(_count, template))
    return int(template == BOOST)


def _filled(template: Any, boost: float) -> Any:
    if isinstance(template, Mapping):
        return {key: _filled(value, boost) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, boost) for value in template]
    return boost if template == BOOST else template


def query_writer(clauses: Any) -> Callable[[str, AdditiveFunction], str]:
    """What writes the query of a model with these clauses, or those of a file."""
    checked = _checked_clauses(clauses)

    def write(_: str, function: AdditiveFunction) -> str:
        features = weighted_features(function, instead="elasticsearch-script")
        return boosted_query({feature.name: feature.weight for feature in features}, checked)

    return write


def _checked_clauses(clauses: Any) -> Mapping[str, Any]:
    if isinstance(clauses, (str, os.PathLike)):
        return read_json_object(clauses, "a clause for each feature")
    if not isinstance(clauses, Mapping):
        raise ParameterError(
            "The format 'elasticsearch-query' needs clauses (--clauses): a clause for each feature by name."
        )
    return clauses
