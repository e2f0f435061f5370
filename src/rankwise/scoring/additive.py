"""The function that a linear ranker on encoded columns computes: a sum of one function per column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankwise.scoring.shapes import Reading, Shape
from rankwise.types import AnyArray, Floats


class Columns(Protocol):
    """Rows of a table, read column by column."""

    @property
    def n_rows(self) -> int: ...

    def read(self, column: str, reading: Reading) -> AnyArray: ...


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
    """

    terms: tuple[Term, ...]

    def contributions(self, rows: Columns) -> Floats:
        """The values of all terms, one column each, shape (m, p)."""
        values = np.empty((rows.n_rows, len(self.terms)))
        for c, term in enumerate(self.terms):
            values[:, c] = term.shape(rows.read(term.column, term.shape.reading))
        return values

    def scores(self, rows: Columns) -> Floats:
        """The sum of the terms, added in their order, so that equal rows have equal scores."""
        scores = np.zeros(rows.n_rows)
        for term in self.terms:
            scores += term.shape(rows.read(term.column, term.shape.reading))
        return scores
