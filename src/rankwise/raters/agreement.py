"""Krippendorff's alpha for ordinal grades, with intervals.

``α = 1 − D_o / D_e``, where D_o is the mean disagreement of two raters of the same document and D_e that of
two judgments drawn from all of them: 1 where raters always agree, 0 where they agree as by chance. The
disagreement of grades c < k is ``(n_c/2 + n_{c+1} + … + n_k/2)²``, where n_g counts the judgments with grade
g: by how many judgments they are apart, and not by how many points.

K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankwise.errors import DataError
from rankwise.rows.ratings import Ratings
from rankwise.types import Bools, Floats, Ints

# Disagreements are a table of grades by grades, for every query.
MOST_GRADES = 101
RESAMPLES, LEVEL = 1000, 0.95
# Clusters drawn at a time, in all resamples together.
MOST_DRAWN = 1 << 21


@dataclass(frozen=True)
class Alpha:
    """Agreement, with the interval that holds it with a probability of 95 %; NaN where it is undefined."""

    alpha: float
    low: float
    high: float


class Disagreement:
    """The disagreements of all judgments of documents that several raters judged.

    Parameters
    ----------
    ratings : Ratings
    """

    def __init__(self, ratings: Ratings) -> None:
        self.ratings = ratings
        counts = np.bincount(ratings.document, minlength=ratings.n_documents)
        self.shared: Bools = counts[ratings.document] > 1
        if not self.shared.any():
            raise DataError("No document was judged by two raters, so their agreement is undefined.")
        self.document, self.rater = ratings.document[self.shared], ratings.rater[self.shared]
        grades, self.grade = np.unique(ratings.grade[self.shared], return_inverse=True)
        if len(grades) > MOST_GRADES:
            raise DataError(
                f"There are {len(grades):,} different grades; agreement is measured for at most "
                f"{MOST_GRADES}."
            )
        self.n_grades = len(grades)
        # How often each document has each grade.
        self.table = np.zeros((ratings.n_documents, self.n_grades))
        np.add.at(self.table, (self.document, self.grade), 1.0)
        self.others = np.maximum(counts - 1.0, 1.0)
        self.steps = ordinal_steps(self.marginal)

    @cached_property
    def cluster(self) -> Ints:
        """What is drawn together, for each document: its query or, if there is but one, itself."""
        queries: dict[object, int] = {}
        numbers = [queries.setdefault(label, len(queries)) for label in self.ratings.qid.tolist()]
        return np.array(numbers) if len(queries) > 1 else np.arange(self.ratings.n_documents)

    @cached_property
    def marginal(self) -> Floats:
        return np.bincount(self.grade, minlength=self.n_grades).astype(np.float64)

    @cached_property
    def expected(self) -> float:
        """D_e; 0 if all grades are equal, and then alpha is undefined."""
        return float(_expected(self.marginal, self.steps))

    @cached_property
    def of_judgment(self) -> Floats:
        """The mean disagreement of each judgment with the others of its document."""
        document = self.document
        return np.asarray((self.steps[self.grade] * self.table[document]).sum(axis=1) / self.others[document])

    def alpha_of(self, unit: Ints, n_units: int, rng: np.random.Generator, cluster: Ints) -> list[Alpha]:
        """Alpha of the judgments of each unit, such as a rater, relative to the D_e of all of them.

        Alpha of everything is their mean, weighted by judgments. Intervals are by a bootstrap of the clusters
        of judgments within each unit.
        """
        found = []
        order = np.argsort(unit, kind="stable")
        ends = np.searchsorted(unit[order], np.arange(n_units + 1))
        for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            rows = order[first:last]
            found.append(self.alpha_of_pairs(self.of_judgment[rows], cluster[rows], rng))
        return found

    def alpha_of_pairs(self, steps: Floats, cluster: Ints, rng: np.random.Generator) -> Alpha:
        """Alpha of two raters, from the disagreements of their pairs of judgments."""
        _, own = np.unique(cluster, return_inverse=True)
        counts = np.bincount(own).astype(np.float64)
        return self._alpha(np.asarray(np.bincount(own, steps), dtype=np.float64), counts, rng)

    def _alpha(self, sums: Floats, counts: Floats, rng: np.random.Generator) -> Alpha:
        if not len(sums) or self.expected == 0.0:
            return Alpha(np.nan, np.nan, np.nan)
        table = np.column_stack([sums, counts])
        drawn = resampled_sums(table, rng)
        values = 1.0 - drawn[:, 0] / drawn[:, 1] / self.expected
        return _with_interval(1.0 - float(sums.sum() / counts.sum()) / self.expected, values, len(sums))

    def overall(self, rng: np.random.Generator) -> Alpha:
        """Alpha of all judgments; a bootstrap of queries, or of documents if there is one query."""
        coincidences = self._coincidences(self.cluster)
        drawn = resampled_sums(coincidences.reshape(len(coincidences), -1), rng)
        values = alpha_of_coincidences(drawn.reshape(-1, self.n_grades, self.n_grades))
        alpha = float(alpha_of_coincidences(coincidences.sum(axis=0)))
        return _with_interval(alpha, values, len(coincidences))

    def _coincidences(self, cluster: Ints) -> Floats:
        """For each cluster, how often two judgments of a document have these two grades."""
        order = np.argsort(cluster, kind="stable")
        ends = np.searchsorted(cluster[order], np.arange(cluster.max() + 2))
        found = np.zeros((len(ends) - 1, self.n_grades, self.n_grades))
        for number, (first, last) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
            table = self.table[order[first:last]]
            shares = table / self.others[order[first:last], None]
            found[number] = table.T @ shares - np.diag(shares.sum(axis=0))
        return found


def ordinal_steps(marginal: Floats) -> Floats:
    """The disagreement of each two grades, for one or several counts of grades."""
    middle = np.cumsum(marginal, axis=-1) - marginal / 2.0
    return np.asarray(np.square(middle[..., :, None] - middle[..., None, :]))


def alpha_of_coincidences(coincidences: Floats) -> Floats:
    """Krippendorff's alpha of one or several tables of coincidences; NaN if all grades are equal."""
    marginal = coincidences.sum(axis=-1)
    steps = ordinal_steps(marginal)
    observed = (coincidences * steps).sum(axis=(-2, -1)) / marginal.sum(axis=-1)
    expected = _expected(marginal, steps)
    unknown = np.full(np.shape(expected), np.nan)
    return np.asarray(1.0 - np.divide(observed, expected, out=unknown, where=expected > 0.0))


def _expected(marginal: Floats, steps: Floats) -> Floats:
    total = marginal.sum(axis=-1)
    pairs = np.maximum(total * (total - 1.0), 1.0)
    return np.asarray(np.einsum("...c,...ck,...k->...", marginal, steps, marginal) / pairs)


def resampled_sums(table: Floats, rng: np.random.Generator) -> Floats:
    """The sums of the rows of a table, one per cluster, for clusters drawn with replacement."""
    n = len(table)
    at_once = max(1, MOST_DRAWN // n)
    shares = np.full(n, 1.0 / n)
    parts = [min(at_once, RESAMPLES - done) for done in range(0, RESAMPLES, at_once)]
    return np.concatenate([rng.multinomial(n, shares, size=size) @ table for size in parts])


def _with_interval(alpha: float, values: Floats, n_clusters: int) -> Alpha:
    """Percentiles of the resamples; no interval from one cluster."""
    values = values[np.isfinite(values)]
    if n_clusters < 2 or not len(values):
        return Alpha(float(alpha), np.nan, np.nan)
    low, high = np.quantile(values, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Alpha(float(alpha), float(low), float(high))
