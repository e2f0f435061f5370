"""Sums of functions of columns as expressions: written once, in the words of each language."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, assert_never

from rankwise.errors import ParameterError
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.interactions import Interaction
from rankwise.scoring.shapes import (
    Flag,
    Line,
    LogLine,
    Lookup,
    NumberShape,
    OfAge,
    PiecewiseLinear,
    Relative,
)

REQUEST = "params."
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def comes_with_request(column: str) -> bool:
    """Whether a column is a parameter of the request, ``params.NAME``, rather than of each document."""
    return column.startswith(REQUEST)


def parameter(column: str) -> str:
    """The name of a parameter of the request."""
    name = column.removeprefix(REQUEST)
    if not _IDENTIFIER.fullmatch(name):
        raise ParameterError(
            f"{column!r} cannot be a parameter of the request; after '{REQUEST}', letters, digits and "
            "underscores are allowed."
        )
    return name


@dataclass(frozen=True, slots=True)
class Case:
    """The value of an expression where a condition holds."""

    condition: str
    value: str


class Language(ABC):
    """How a language writes arithmetic, choices and the values of columns; infix unless overridden."""

    # How many cases a choice can have; more categories are left to `many_categories`.
    most_cases: ClassVar[float] = math.inf

    @abstractmethod
    def column(self, name: str) -> str:
        """The value of a column, as part of a product or a comparison."""

    @abstractmethod
    def choose(self, cases: Sequence[Case], otherwise: str) -> str:
        """The value of the first case whose condition holds."""

    @abstractmethod
    def signed_log(self, number: str) -> str:
        """`rankwise.scoring.shapes.signed_log` of a number."""

    @abstractmethod
    def age(self, name: str, reference: str) -> str:
        """The days from the date in a column to a date in UTC."""

    @abstractmethod
    def is_missing(self, term: Term) -> str:
        """The condition that the column of a term has no value."""

    @abstractmethod
    def is_text(self, name: str, text: str) -> str:
        """The condition that a column has this text."""

    @abstractmethod
    def is_true(self, name: str) -> str:
        """The condition that a flag is set."""

    def relative(self, name: str, relation: str) -> str:
        """How the value of a column compares with those of its query.

        `Served.as_columns` refuses such columns in formats that are not among `COMPARING`.
        """
        raise NotImplementedError

    def feature(self, name: str) -> str:
        """The value of a column that is never missing in training."""
        return self.column(name)

    def number(self, value: float) -> str:
        return repr(float(value))

    def is_less(self, number: str, limit: float) -> str:
        return f"{number} < {self.number(limit)}"

    def product(self, factor: float, number: str) -> str:
        return f"{self.number(factor)} * {number}"

    def times(self, one: str, other: str) -> str:
        """The product of two expressions."""
        return f"({one}) * ({other})"

    def difference(self, number: str, from_: float) -> str:
        sign = "+" if from_ < 0.0 else "-"
        return f"({number} {sign} {self.number(abs(from_))})"

    def sum(self, summands: Sequence[str]) -> str:
        return " ".join(signed(summands)) or self.number(0.0)

    def many_categories(self, term: Term, shape: Lookup) -> list[str]:
        """Expressions whose sum is the value of a category, one of more than a choice can have."""
        differences = zip(shape.categories, (value - shape.other for value in shape.values), strict=True)
        known = [Case(self.is_text(term.column, text), self.number(by)) for text, by in differences]
        rest = self.choose([self.missing_case(term)], self.number(shape.other))
        return [rest, *(self.choose([case], self.number(0.0)) for case in known)]

    def missing_case(self, term: Term) -> Case:
        return Case(self.is_missing(term), self.number(term.shape.missing))


def signed(summands: Sequence[str]) -> list[str]:
    """Summands with their operators in front; the first one without a plus."""
    rest = [f"- {each[1:]}" if each.startswith("-") else f"+ {each}" for each in summands[1:]]
    return [*summands[:1], *rest]


def summands(function: AdditiveFunction, language: Language) -> list[str]:
    """Expressions whose sum is the function; what is 0 everywhere is omitted."""
    of_columns = [each for term in function.terms for each in _summands(term, language)]
    return [*of_columns, *(each for one in function.interactions for each in _products(one, language))]


def _products(interaction: Interaction, language: Language) -> list[str]:
    products = []
    for shapes in interaction.products():
        factors = map(Term, interaction.columns, shapes)
        written = [language.sum(_summands(term, language, spelled_out=True)) for term in factors]
        products.append(language.times(*written))
    return products


def _summands(term: Term, language: Language, *, spelled_out: bool = False) -> list[str]:
    """Expressions whose sum is the term; `spelled_out` means without a table beside the expression."""
    shape = term.shape
    if math.isnan(shape.missing) and isinstance(shape, Line):  # a model of features, which are never missing
        return _line(shape, language.feature(term.column), language)
    if isinstance(shape, Lookup) and len(shape.categories) > language.most_cases:
        many = Language.many_categories if spelled_out else type(language).many_categories
        return many(language, term, shape)
    cases = [language.missing_case(term), *_cases(term, language)]
    if all(case.value == language.number(0.0) for case in cases):
        return []
    return [language.choose(cases[:-1], cases[-1].value)]


def _cases(term: Term, language: Language) -> list[Case]:
    """The values of a column that is not missing; the condition of the last one is not needed."""
    match term.shape:
        case OfAge(reference, shape):
            return _number_cases(shape, language.age(term.column, reference), language)
        case Relative(relation, shape):
            return _number_cases(shape, language.relative(term.column, relation), language)
        case Lookup(categories, values, other):
            known = [each for each in zip(categories, values, strict=True) if each[1] != other]
            texts = [language.is_text(term.column, category) for category, _ in known]
            return _listed([*texts, ""], [*(value for _, value in known), other], language)
        case Flag(true, false):
            return _listed([language.is_true(term.column), ""], [true, false], language)
        case shape:
            return _number_cases(shape, language.column(term.column), language)


def _listed(conditions: Sequence[str], values: Sequence[float], language: Language) -> list[Case]:
    return [Case(*each) for each in zip(conditions, map(language.number, values), strict=True)]


def _number_cases(shape: NumberShape, number: str, language: Language) -> list[Case]:
    match shape:
        case PiecewiseLinear(knots, values, missing):
            starts = zip(knots, values, shape.slopes.tolist(), strict=False)
            lines = [Line(at, value, slope, missing) for at, value, slope in starts]
            ends = [language.is_less(number, knot) for knot in knots[1:-1]]
            pieces = [language.sum(_line(line, number, language)) for line in lines]
            cases = [Case(*each) for each in zip([*ends, ""], pieces, strict=True)]
            return [case for case, next_ in pairwise(cases) if case.value != next_.value] + cases[-1:]
        case LogLine(at, value, slope, missing):
            line, number = Line(at, value, slope, missing), language.signed_log(number)
            return [Case("", language.sum(_line(line, number, language)))]
        case Line():
            return [Case("", language.sum(_line(shape, number, language)))]
        case _:
            assert_never(shape)


def _line(line: Line, number: str, language: Language) -> list[str]:
    measured = language.difference(number, line.at) if line.at != 0.0 else number
    sloping = [language.product(line.slope, measured)] if line.slope != 0.0 else []
    return [language.number(line.value), *sloping] if line.value != 0.0 else sloping
