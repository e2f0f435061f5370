"""The function that a linear ranker on encoded columns computes: a sum of functions of one or two columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankwise.rows.table import Table
from rankwise.scoring.interactions import Interaction
from rankwise.scoring.shapes import Shape
from rankwise.types import Floats


@dataclass(frozen=True, slots=True)
class Term:
    """One column of a table and its share of the score."""

    column: str
    shape: Shape

    @property
    def name(self) -> str:
        """What is added up: the column, or how it compares with the other rows of the query."""
        reading = self.shape.reading
        return f"{reading} of {self.column}" if reading.is_relative else self.column


@dataclass(frozen=True, slots=True)
class AdditiveFunction:
    """``row ↦ Σ_c g_c(value of column c) + Σ_cd t_cd(values of columns c and d)``.

    Attributes
    ----------
    terms : tuple of Term
        A shape for each column that the model uses.
    labels : tuple of str, optional
        What all columns of the rows are called, in order, if they are found by position and not by name.
    interactions : tuple of Interaction
        Tables for pairs of these columns.
    """

    terms: tuple[Term, ...]
    labels: tuple[str, ...] | None = None
    interactions: tuple[Interaction, ...] = ()

    @property
    def names(self) -> list[str]:
        """What to call the terms and the interactions, in the order of contributions."""
        return [term.name for term in self.terms] + [interaction.name for interaction in self.interactions]

    @property
    def propagates_nonfinite(self) -> bool:
        """Missing values have scores, and infinite ones are refused when columns are read."""
        return False

    @property
    def takes_sparse(self) -> bool:
        return False

    @property
    def weights(self) -> None:
        """A sum of functions has no weights of its columns."""
        return None

    def contributions(self, rows: Table) -> Floats:
        """The values of all terms and interactions, one column each, shape (m, p)."""
        values = np.empty((rows.n_rows, len(self.terms) + len(self.interactions)))
        for c, value in enumerate(self._values(rows)):
            values[:, c] = value
        return values

    def difference(self, pair: Table) -> Floats:
        """What each column and each pair adds to the score of the first of two rows over the second."""
        first, second = self.contributions(pair)
        return np.asarray(first - second)

    def scores(self, rows: Table) -> Floats:
        """The sum of all values, added in their order, so that equal rows have equal scores."""
        scores = np.zeros(rows.n_rows)
        for value in self._values(rows):
            scores += value
        return scores

    def shown_values(self, pair: Table) -> list[tuple[str, str]]:
        """The values of the columns, and of pairs of them, in two rows, as text."""
        pair = self._matched(pair)
        shown = {term.column: pair.columns[term.column].shown() for term in self.terms}
        for one in self.interactions:
            of_columns = zip(*(shown[column] for column in one.columns), strict=True)
            shown[one.name] = [" × ".join(values) for values in of_columns]
        return [(first, second) for first, second in shown.values()]

    def _values(self, rows: Table) -> Iterator[Floats]:
        rows = self._matched(rows)
        for term in self.terms:
            yield term.shape(rows.read(term.column, term.shape.reading))
        for interaction in self.interactions:
            yield interaction.read(rows)

    def _matched(self, rows: Table) -> Table:
        return rows.matched([term.column for term in self.terms], self.labels)
