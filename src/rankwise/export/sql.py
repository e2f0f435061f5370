"""Models as SQL expressions, which compute the score of a row from its columns.

A database plans a query anew for each request, so an expression should not name thousands of categories:
their values are looked up in a table, which statements that are run once create.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence, Set

import numpy as np

from rankwise.export.expressions import Case, Language, comes_with_request, parameter, summands
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.shapes import Lookup
from rankwise.types import Reading

# A sum of k terms is an expression of depth k, and SQLite and DuckDB accept a depth of 1,000.
TERMS_PER_SUM = 100
# The column that tells the rows of a query from others, for columns that are compared within it.
QUERY = "qid"
# Rows that one statement adds to the table of categories.
ROWS_PER_INSERT = 1_000
# How the category of a whole number is written.
WHOLE = re.compile("0|-?[1-9][0-9]*")


class StandardSQL(Language):
    """The SQL that PostgreSQL, DuckDB and others share, of a model with a name."""

    quote = '"'
    parameter_mark = "$"

    # Of more categories, the values are in a table. By default, a column has at most as many.
    most_cases = 100

    def __init__(self, model: str, function: AdditiveFunction) -> None:
        self.function = function
        self.table = self.column(f"{model}_categories")
        # Inside the lookup, a column of the model must not be taken for one of the table, in any case.
        taken = {term.column.casefold() for term in function.terms}
        self.alias, *self.columns = [
            _unused(name, taken) for name in ("known", "of_column", "category", "value")
        ]

    def expression(self) -> str:
        """The score."""
        return self.sum(summands(self.function, self)) + "\n"

    def statements(self) -> str:
        """Those that create the table of the categories; empty if the expression needs none."""
        rows = [row for term in self.function.terms for row in self._rows(term)]
        if not rows:
            return ""
        of_column, category, value = self.columns
        columns = f"{of_column} TEXT, {category} TEXT, {value} DOUBLE PRECISION"
        starts = range(0, len(rows), ROWS_PER_INSERT)
        listed = [",\n".join(rows[start : start + ROWS_PER_INSERT]) for start in starts]
        return "\n".join(
            [
                "BEGIN;",
                f"CREATE TABLE {self.table} ({columns}, PRIMARY KEY ({of_column}, {category}));",
                *(f"INSERT INTO {self.table} VALUES\n{some};" for some in listed),
                "COMMIT;\n",
            ]
        )

    def _rows(self, term: Term) -> list[str]:
        shape = term.shape
        if not isinstance(shape, Lookup) or len(shape.categories) <= self.most_cases:
            return []
        values = dict(zip(shape.categories, shape.values, strict=True))
        if all(map(WHOLE.fullmatch, values)):  # which the database may store as floating-point numbers
            values |= {f"{category}.0": value for category, value in values.items()}
        column = self.text(term.column)
        return [f"({column}, {self.text(text)}, {self.number(value)})" for text, value in values.items()]

    def many_categories(self, term: Term, shape: Lookup) -> list[str]:
        """Looked up by a subquery: it can be part of an expression, and databases plan it as a join."""
        of_column, category, value = (f"{self.alias}.{name}" for name in self.columns)
        text = f"CAST({self.column(term.column)} AS TEXT)"
        is_it = f"{of_column} = {self.text(term.column)} AND {category} = {text}"
        found = f"(SELECT {value} FROM {self.table} AS {self.alias} WHERE {is_it})"
        return [self.choose([self.missing_case(term)], f"COALESCE({found}, {self.number(shape.other)})")]

    def text(self, text: str) -> str:
        """The literal."""
        doubled = text.replace("'", "''")
        return f"'{doubled}'"

    def column(self, name: str) -> str:
        if comes_with_request(name):
            return f"{self.parameter_mark}{parameter(name)}"
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

    def relative(self, name: str, relation: str) -> str:
        """By window functions over the rows with the same qid; what is missing does not count."""
        number, query = f"({self.known(name)})", f"PARTITION BY {self.column(QUERY)}"
        if relation == "distance":
            return f"({number} - AVG({number}) OVER ({query}))"
        if relation == "rank":
            before = f"RANK() OVER ({query} ORDER BY {number} NULLS LAST)"
            return f"({before} + (COUNT(*) OVER ({query}, {number}) - 1) / 2e0)"
        largest = f"MAX(ABS({number})) OVER ({query})"
        return f"(CASE WHEN {largest} = 0 THEN 0e0 ELSE 1e0 * {number} / {largest} END)"

    def known(self, name: str) -> str:
        """The number in a column, or NULL where it is missing."""
        return f"CASE WHEN {self.column(name)} <= {self._largest()} THEN {self.column(name)} END"

    def age(self, name: str, reference: str) -> str:
        """In seconds since 1970: the difference of two times may depend on the time zone of the session."""
        at, date = np.datetime64(reference, "us").astype(np.int64) / 1e6, self.column(name)
        if comes_with_request(name):  # a parameter that is NULL has no type of its own
            date = f"COALESCE({date}, CAST(NULL AS TIMESTAMP))"
        return f"(({self.number(at)} - EXTRACT(EPOCH FROM {date})) / 86400e0)"

    def is_missing(self, term: Term) -> str:
        """NaN is a value in these databases, above all other numbers."""
        is_null = f"{self.column(term.column)} IS NULL"
        if term.shape.reading is not Reading.NUMBER and not term.shape.reading.is_relative:
            return is_null
        return f"{is_null} OR {self.column(term.column)} > {self._largest()}"

    def _largest(self) -> str:
        return self.number(sys.float_info.max)

    def is_text(self, name: str, text: str) -> str:
        return f"{self.column(name)} = {self.text(text)}"

    def is_true(self, name: str) -> str:
        return f"CAST({self.column(name)} AS INTEGER) <> 0"


class SQLite(StandardSQL):
    """SQLite has no dates, flags or NaN, and takes a name in double quotes for a text if no column has it."""

    quote = "`"
    parameter_mark = ":"

    def feature(self, name: str) -> str:
        return f"COALESCE({self.column(name)}, 0)"

    def known(self, name: str) -> str:
        return self.column(name)

    def is_missing(self, term: Term) -> str:
        return f"{self.column(term.column)} IS NULL"

    def text(self, text: str) -> str:
        """A literal cannot hold NUL."""
        return super().text(text).replace("\0", "' || char(0) || '")

    def age(self, name: str, reference: str) -> str:
        return f"(julianday({self.text(reference)}) - julianday({self.column(name)}))"

    def is_true(self, name: str) -> str:
        """The cast of a text that does not begin with a number is 0."""
        return f"({super().is_true(name)} OR LOWER({self.column(name)}) IN ('true', 't'))"


def _unused(name: str, taken: Set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def is_sql_text(text: str) -> bool:
    """Whether a database takes this for a name or a value; the rest can be quoted."""
    return "\0" not in text
