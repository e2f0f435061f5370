"""Linear models in the formats of search engines: weights by feature name, without a constant.

The engines compute the features; a feature missing there counts as 0.
"""

from __future__ import annotations

import json
import re

# A name, its arguments and its output; other expressions are parenthesized.
_VESPA_FEATURE = re.compile(r"[\w.]+(\([^()]*\)[\w.]*)?")
_VESPA_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def is_vespa_name(name: str) -> bool:
    """Whether this is a valid name for a rank profile."""
    return _VESPA_NAME.fullmatch(name) is not None


def is_vespa_expression(feature: str) -> bool:
    """Whether this stays a single expression within a sum: balanced brackets, no braces, no comments."""
    depth = 0
    for character in feature:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0 and feature.isprintable() and not set("{}#") & set(feature)


def elasticsearch_model(name: str, weights: dict[str, float]) -> str:
    """Return the body of ``POST _ltr/_featureset/<features>/_createmodel`` for the learning-to-rank plugin.

    OpenSearch's plugin takes the same body. The plugin sums in single precision.
    """
    definition = {"type": "model/linear", "definition": json.dumps(weights)}
    return _json({"model": {"name": name, "model": definition}})


def solr_model(name: str, weights: dict[str, float]) -> str:
    """Return the body of ``PUT <collection>/schema/model-store``, with features of the default store."""
    return _json(
        {
            "class": "org.apache.solr.ltr.model.LinearModel",
            "name": name,
            "features": [{"name": feature} for feature in weights],
            "params": {"weights": weights},
        }
    )


def vespa_profile(name: str, weights: dict[str, float]) -> str:
    """Return a rank profile for a schema, with the weights inline; features with zero weight are omitted."""
    terms = [_term(weight, feature) for feature, weight in weights.items() if weight != 0.0]
    expression = f"\n{' ' * 12}".join(terms).removeprefix("+ ") or "0"
    return (
        f"rank-profile {name} {{\n    first-phase {{\n        expression {{\n"
        f"            {expression}\n        }}\n    }}\n}}\n"
    )


def _term(weight: float, feature: str) -> str:
    factor = feature if _VESPA_FEATURE.fullmatch(feature) else f"({feature})"
    return f"{'-' if weight < 0 else '+'} {abs(weight)!r} * {factor}"


def _json(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
