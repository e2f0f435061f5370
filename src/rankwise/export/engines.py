"""Linear models as search engines take them: weights by the names of features, without a constant.

The engines compute the features; a feature that is missing there counts 0.
"""

from __future__ import annotations

import json
import re

# A name, its arguments and its output; other expressions are bracketed.
_VESPA_FEATURE = re.compile(r"[\w.]+(\([^()]*\)[\w.]*)?")


def elasticsearch_model(name: str, weights: dict[str, float]) -> str:
    """The body of ``POST _ltr/_featureset/<features>/_createmodel`` of the learning-to-rank plugin.

    The plugin of OpenSearch takes the same. It sums in single precision.
    """
    definition = {"type": "model/linear", "definition": json.dumps(weights)}
    return _json({"model": {"name": name, "model": definition}})


def solr_model(name: str, weights: dict[str, float]) -> str:
    """The body of ``PUT <collection>/schema/model-store``; the features are those of the default store."""
    return _json(
        {
            "class": "org.apache.solr.ltr.model.LinearModel",
            "name": name,
            "features": [{"name": feature} for feature in weights],
            "params": {"weights": weights},
        }
    )


def vespa_profile(name: str, weights: dict[str, float]) -> str:
    """A rank profile for a schema, with the weights written out; features without weight are left out."""
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
