"""Models as rank profiles of Vespa."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankwise.export.expressions import Case, Language, comes_with_request, parameter, signed, summands
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.types import Reading

# A name, its arguments and its output; other expressions are parenthesized.
_FEATURE = re.compile(r"[\w.]+(\([^()]*\)[\w.]*)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
# What would end the text, or the expression around it.
_ESCAPED = re.compile(r'["\\{}#\x00-\x1f]')


def is_profile_name(name: str) -> bool:
    """Whether this is a valid name for a rank profile."""
    return _NAME.fullmatch(name) is not None


def is_feature(feature: str) -> bool:
    """Whether this stays a single expression within a sum: balanced brackets, no braces, no comments."""
    depth = 0
    for character in feature:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0 and feature.isprintable() and not set('{}#"\\') & set(feature)


class RankingExpression(Language):
    """Vespa's ranking expressions: a date is in seconds since 1970, a missing text is empty."""

    most_cases = 200  # each is nested in the one before, and the parser recurses

    def column(self, name: str) -> str:
        if comes_with_request(name):
            return f"query({parameter(name)})"
        return name if _FEATURE.fullmatch(name) else f"({name})"

    def choose(self, cases: Sequence[Case], otherwise: str) -> str:
        starts = "".join(f"if({case.condition}, {case.value}, " for case in cases)
        return f"{starts}{otherwise}{')' * len(cases)}"

    def signed_log(self, number: str) -> str:
        return f"if({number} < 0, -log(1 - {number}), log(1 + {number}))"

    def age(self, name: str, reference: str) -> str:
        import numpy as np

        seconds = np.datetime64(reference, "ms").astype(float) / 1000.0
        return f"(({self.number(seconds)} - {self.column(name)}) / 86400)"

    def is_missing(self, term: Term) -> str:
        if term.shape.reading is Reading.TEXT:
            return self.is_text(term.column, "")
        return f"isNan({self.column(term.column)})"

    def is_text(self, name: str, text: str) -> str:
        escaped = _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
        return f'{self.column(name)} == "{escaped}"'

    def is_true(self, name: str) -> str:
        return f"{self.column(name)} != 0"


def vespa_profile(name: str, function: AdditiveFunction) -> str:
    """Return a rank profile for a schema, with the weights inline; features with zero weight are omitted."""
    expression = f"\n{' ' * 12}".join(signed(summands(function, RankingExpression()))) or "0"
    return (
        f"rank-profile {name} {{\n{_inputs(function, expression)}    first-phase {{\n        expression {{\n"
        f"            {expression}\n        }}\n    }}\n}}\n"
    )


def _inputs(function: AdditiveFunction, expression: str) -> str:
    """The parameters of the request that an expression uses, declared."""
    of_request = [parameter(term.column) for term in function.terms if comes_with_request(term.column)]
    inputs = [f"query({name})" for name in of_request]
    declared = "".join(f"        {name} double\n" for name in inputs if name in expression)
    return f"    inputs {{\n{declared}    }}\n" if declared else ""
