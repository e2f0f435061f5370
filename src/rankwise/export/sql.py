"""Models as SQL expressions, which compute the score of a row from its columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from rankwise.export.expressions import Case, Language, summands
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.types import Reading

# A sum of k terms is an expression of depth k, and SQLite and DuckDB accept a depth of 1,000.
TERMS_PER_SUM = 100


class StandardSQL(Language):
    """The SQL that PostgreSQL, DuckDB and others share."""

    quote = '"'

    def column(self, name: str) -> str:
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def feature(self, name: str) -> str:
        """Where it is missing, also as NaN, it counts as 0, as in search engines."""
        return f"CASE WHEN {self.column(name)} <= {self._largest()} THEN {self.column(name)} ELSE 0 END"

    def number(self, value: float) -> str:
        """Always with an exponent: other literals are decimals with few digits in some databases."""
        text = repr(float(value))
        return text if "e" in text else f"{text}e0"

    def sum(self, summands: Sequence[str]) -> str:
        add = super().sum
        while len(summands) > TERMS_PER_SUM:
            starts = range(0, len(summands), TERMS_PER_SUM)
            summands = [f"({add(summands[start : start + TERMS_PER_SUM])})" for start in starts]
        return add(summands)

    def choose(self, cases: Sequence[Case], otherwise: str) -> str:
        chosen = " ".join(f"WHEN {case.condition} THEN {case.value}" for case in cases)
        return f"CASE {chosen} ELSE {otherwise} END"

    def signed_log(self, number: str) -> str:
        return f"(SIGN({number}) * LN(1 + ABS({number})))"

    def age(self, name: str, reference: str) -> str:
        """In seconds since 1970: the difference of two times may depend on the time zone of the session."""
        at = np.datetime64(reference, "us").astype(np.int64) / 1e6
        return f"(({self.number(at)} - EXTRACT(EPOCH FROM {self.column(name)})) / 86400e0)"

    def is_missing(self, term: Term) -> str:
        """NaN is a value in these databases, above all other numbers."""
        is_null = f"{self.column(term.column)} IS NULL"
        if term.shape.reading is not Reading.NUMBER:
            return is_null
        return f"{is_null} OR {self.column(term.column)} > {self._largest()}"

    def _largest(self) -> str:
        return self.number(sys.float_info.max)

    def is_text(self, name: str, text: str) -> str:
        return f"{self.column(name)} = {_literal(text)}"

    def is_true(self, name: str) -> str:
        return f"CAST({self.column(name)} AS INTEGER) <> 0"


class SQLite(StandardSQL):
    """SQLite has no dates, flags or NaN, and takes a name in double quotes for a text if no column has it."""

    quote = "`"

    def feature(self, name: str) -> str:
        return f"COALESCE({self.column(name)}, 0)"

    def is_missing(self, term: Term) -> str:
        return f"{self.column(term.column)} IS NULL"

    def is_text(self, name: str, text: str) -> str:
        """A literal cannot hold NUL."""
        return super().is_text(name, text).replace("\0", "' || char(0) || '")

    def age(self, name: str, reference: str) -> str:
        return f"(julianday({_literal(reference)}) - julianday({self.column(name)}))"

    def is_true(self, name: str) -> str:
        """The cast of a text that does not begin with a number is 0."""
        return f"({super().is_true(name)} OR LOWER({self.column(name)}) IN ('true', 't'))"


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def is_sql_text(text: str) -> bool:
    """Whether a database takes this for a name or a value; the rest can be quoted."""
    return "\0" not in text


def standard_sql(_: str, function: AdditiveFunction) -> str:
    """Return an expression for ``SELECT``; it has no place for the model's name."""
    language = StandardSQL()
    return language.sum(summands(function, language)) + "\n"


def sqlite(_: str, function: AdditiveFunction) -> str:
    """Return the same for SQLite."""
    language = SQLite()
    return language.sum(summands(function, language)) + "\n"
