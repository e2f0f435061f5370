"""Models for Solr: of its learning-to-rank module, or as a function query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwise.export.engine_scores import Values
from rankwise.export.expressions import Case, Language, comes_with_request, parameter, summands
from rankwise.export.json_text import as_json
from rankwise.export.weighted_features import WeightedFeature, weighted_features
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.types import Floats


def solr_model(name: str, function: AdditiveFunction) -> str:
    """Return the body of ``PUT <collection>/schema/model-store``, with features of the default store."""
    features = weighted_features(function, instead="solr-function")
    return as_json(
        {
            "class": "org.apache.solr.ltr.model.LinearModel",
            "name": name,
            "features": [_normalized(feature) for feature in features],
            "params": {"weights": {feature.name: feature.weight for feature in features}},
        }
    )


def _normalized(feature: WeightedFeature) -> dict[str, object]:
    if feature.mean == 0.0:
        return {"name": feature.name}
    params = {"avg": repr(feature.mean), "std": "1.0"}
    return {
        "name": feature.name,
        "norm": {"class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": params},
    }


class FunctionQuery(Language):
    """Solr's function queries, on single-valued fields."""

    most_cases = 200  # each is nested in the one before, and the parser recurses

    def column(self, name: str) -> str:
        """Solr puts the parameters of a request in place of ``${NAME}`` before it reads the function."""
        return f"${{{parameter(name)}}}" if comes_with_request(name) else f"field({_quoted(name)})"

    def choose(self, cases: Sequence[Case], otherwise: str) -> str:
        starts = "".join(f"if({case.condition},{case.value}," for case in cases)
        return f"{starts}{otherwise}{')' * len(cases)}"

    def signed_log(self, number: str) -> str:
        return f"if(lt({number},0),product(-1,ln(sub(1,{number}))),ln(sum(1,{number})))"

    def age(self, name: str, reference: str) -> str:
        date = self.column(name) if comes_with_request(name) else _quoted(name)
        return f"div(ms({reference}Z,{date}),86400000)"

    def is_missing(self, term: Term) -> str:
        if comes_with_request(term.column):
            return "false"
        return f"not(exists({self.column(term.column)}))"

    def is_text(self, name: str, text: str) -> str:
        return f"termfreq({_quoted(name)},{_quoted(text)})"

    def is_true(self, name: str) -> str:
        return self.column(name)

    def is_less(self, number: str, limit: float) -> str:
        return f"lt({number},{self.number(limit)})"

    def product(self, factor: float, number: str) -> str:
        return f"product({self.number(factor)},{number})"

    def times(self, one: str, other: str) -> str:
        return f"product({one},{other})"

    def difference(self, number: str, from_: float) -> str:
        return f"sub({number},{self.number(from_)})"

    def sum(self, summands: Sequence[str]) -> str:
        if len(summands) > 1:
            return f"sum({','.join(summands)})"
        return summands[0] if summands else self.number(0.0)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def solr_function(_: str, function: AdditiveFunction) -> str:
    """Return a function for ``{!func}``; it has no place for the model's name."""
    language = FunctionQuery()
    written = summands(function, language) or ["sum(0)"]  # a number alone could not be sorted by
    return language.sum(written) + "\n"


def function_scores(function: AdditiveFunction, values: Values) -> Floats:
    """Return the scores that Solr computes: terms, products and sums in single precision."""
    scores = np.zeros(len(next(iter(values.values()))), dtype=np.float32)
    for term in function.terms:
        scores += term.shape(values[term.column]).astype(np.float32)
    for one in function.interactions:
        first, second = (values[column] for column in one.columns)
        for f, g in one.products():
            scores += f(first).astype(np.float32) * g(second).astype(np.float32)
    return scores.astype(np.float64)
