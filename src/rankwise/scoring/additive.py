"""The function that a linear ranker on encoded columns computes: a sum of one function per column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.rows.table import Table
from rankwise.scoring.shapes import Shape
from rankwise.types import Floats


@dataclass(frozen=True, slots=True)
class Term:
    """One column of a table and its share of the score."""

    column: str
    shape: Shape


@dataclass(frozen=True, slots=True)
class AdditiveFunction:
    """``row ↦ Σ_c g_c(value of column c)``.

    Attributes
    ----------
    terms : tuple of Term
        A shape for each column that the model uses.
    labels : tuple of str, optional
        What all columns of the rows are called, in order, if they are found by position and not by name.
    """

    terms: tuple[Term, ...]
    labels: tuple[str, ...] | None = None

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
        """The values of all terms, one column each, shape (m, p)."""
        rows = self._matched(rows)
        values = np.empty((rows.n_rows, len(self.terms)))
        for c, term in enumerate(self.terms):
            values[:, c] = term.shape(rows.read(term.column, term.shape.reading))
        return values

    def difference(self, pair: Table) -> Floats:
        """What each column adds to the score of the first of two rows over that of the second."""
        first, second = self.contributions(pair)
        return np.asarray(first - second)

    def scores(self, rows: Table) -> Floats:
        """The sum of the terms, added in their order, so that equal rows have equal scores."""
        rows, scores = self._matched(rows), np.zeros(rows.n_rows)
        for term in self.terms:
            scores += term.shape(rows.read(term.column, term.shape.reading))
        return scores

    def shown_values(self, pair: Table) -> list[tuple[str, str]]:
        """The values of the columns in two rows, as text."""
        pair = self._matched(pair)
        shown = [pair.columns[term.column].shown() for term in self.terms]
        return [(first, second) for first, second in shown]

    def _matched(self, rows: Table) -> Table:
        return rows.matched([term.column for term in self.terms], self.labels)
