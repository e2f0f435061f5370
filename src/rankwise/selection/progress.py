"""Progressive validation: every batch is scored by the models of those before, and only then learned.

Unlike cross-validation, it needs no rows learned before, and it shows when the data change: the models of all
alphas then get worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.family import Family
from rankwise.metrics.measure import Measure
from rankwise.types import Floats, Ints
from rankwise.validation import Problem


@dataclass(frozen=True)
class Progress:
    """The measure of every alpha on every batch, before it was learned.

    Attributes
    ----------
    values : Floats, shape (n_batches, n_alphas)
        NaN for a batch on which the measure is undefined.
    n_queries : Ints, shape (n_batches,)
        The number of queries measured.
    half_life : float or None
        The number of batches after which a batch counts half as much.
    """

    values: Floats
    n_queries: Ints
    half_life: float | None

    @classmethod
    def none(cls, n_alphas: int, half_life: float | None) -> Progress:
        return cls(np.empty((0, n_alphas)), np.empty(0, dtype=np.int64), half_life)

    @property
    def factor(self) -> float:
        """How much a batch counts compared with the next."""
        return 1.0 if self.half_life is None else 0.5 ** (1.0 / self.half_life)

    def then(self, family: Family, batch: Problem, measure: Measure, alphas: Floats) -> Progress:
        """The progress with another batch, scored by the models of a family."""
        prepared = measure.prepare(batch.y, batch.queries)
        n_measured, values = int((~prepared.left_out).sum()), np.full(len(alphas), np.nan)
        if n_measured:
            scores = family.scores(family.solve(alphas).coef, batch.X)
            values = np.array([prepared(column) for column in np.ascontiguousarray(scores.T)])
        n_queries = np.append(self.n_queries, n_measured)
        return Progress(np.vstack([self.values, values]), n_queries, self.half_life)

    @property
    def is_measured(self) -> bool:
        return bool(self.n_queries.any())

    def means(self) -> Floats:
        """The mean over queries for each alpha, with old batches discounted."""
        measured = self.n_queries > 0
        weight = (self.n_queries * self.factor ** np.arange(len(self.n_queries))[::-1])[measured]
        return np.asarray(weight @ self.values[measured] / weight.sum())
