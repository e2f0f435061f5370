"""Computation of measures of ranked lists: NDCG, precision, average precision, reciprocal rank, ERR.

Tied scores are averaged exactly: each formula is the expectation over all orders of the tied rows, in closed
form or by a recurrence, never by sampling.
"""

from __future__ import annotations

import math

import numpy as np

from rankwise import _native
from rankwise.errors import DataError, ParameterError
from rankwise.metrics.conventions import (
    Conventions,
    Denominator,
    Discount,
    Empty,
    Gain,
    ShortLists,
    TiedScores,
)
from rankwise.metrics.judged_rows import JudgedRows, RankedRows
from rankwise.types import Floats

_EMPTY_VALUE = {Empty.LEAVE_OUT: math.nan, Empty.ZERO: 0.0, Empty.ONE: 1.0}


class _ListFormula:
    """The base of the formulas below: tie order, empty queries, equal weights."""

    empty_reason = "no relevant rows"
    weight: Floats | None = None

    def __init__(self, judged: JudgedRows, conventions: Conventions, worth: Floats) -> None:
        if judged.weight is not None:
            raise ParameterError("Measures of ranked lists do not accept sample_weight; pairwise_error does.")
        self.judged = judged
        self.ties = conventions.ties
        self.worth = worth
        self.empty = judged.query_sums(worth) <= 0.0
        self.empty_value = _EMPTY_VALUE[conventions.empty]

    def _ranked(self, scores: Floats) -> RankedRows:
        if self.ties in (TiedScores.AVERAGE, TiedScores.THRESHOLD):
            return self.judged.ranked(scores)
        return self.judged.ranked_strictly(scores)


class DiscountedGain(_ListFormula):
    """``Σ_rows worth · discount(rank) / normalizer``, the form of both NDCG@k and P@k.

    Tied rows share the mean discount of their ranks, which is the expectation over their orders.
    """

    def __init__(
        self,
        judged: JudgedRows,
        conventions: Conventions,
        worth: Floats,
        discount: Floats,
        normalizer: Floats,
    ) -> None:
        super().__init__(judged, conventions, worth)
        self._up_to = np.concatenate([[0.0], np.cumsum(discount)])
        self._scale = np.divide(1.0, normalizer, out=np.zeros_like(normalizer), where=normalizer > 0.0)

    def values(self, scores: Floats) -> Floats:
        ranked = self._ranked(scores)
        discount = (self._up_to[ranked.end] - self._up_to[ranked.first]) / (ranked.end - ranked.first)
        return self.judged.query_sums(self.worth[ranked.row] * discount) * self._scale


def ndcg(judged: JudgedRows, cutoff: int | None, conventions: Conventions) -> DiscountedGain:
    """DCG@k divided by the largest DCG@k that the labels allow (Järvelin and Kekäläinen 2002)."""
    gains = _gains(judged, conventions.gain)
    discount = _discounts(int(judged.sizes.max()), conventions.discount)
    if cutoff is not None:
        discount[cutoff:] = 0.0
    ideal = judged.query_sums(gains[judged.ranked(gains).row] * discount[judged.rank])
    if conventions.short is ShortLists.ZERO and cutoff is not None:
        ideal[judged.sizes < cutoff] = 0.0
    return DiscountedGain(judged, conventions, gains, discount, ideal)


def precision(judged: JudgedRows, cutoff: int | None, conventions: Conventions) -> DiscountedGain:
    """The fraction of relevant rows among the first k."""
    k = math.inf if cutoff is None else float(cutoff)
    discount = (np.arange(judged.sizes.max()) < k).astype(np.float64)
    attainable = conventions.denominator is Denominator.ATTAINABLE or cutoff is None
    normalizer = np.minimum(k, judged.sizes) if attainable else np.full(judged.n_queries, k)
    return DiscountedGain(judged, conventions, _relevant(judged, conventions), discount, normalizer)


class AveragePrecision(_ListFormula):
    """The mean, over relevant rows, of the precision at their rank; ranks beyond the cutoff contribute 0.

    Tied rows contribute their expectation in closed form (McSherry and Najork 2008).
    """

    def __init__(self, judged: JudgedRows, cutoff: int | None, conventions: Conventions) -> None:
        super().__init__(judged, conventions, _relevant(judged, conventions))
        longest = int(judged.sizes.max())
        self._cutoff = longest if cutoff is None else cutoff
        self._harmonic: Floats | None = np.concatenate(
            [[0.0], np.cumsum(1.0 / np.arange(1.0, longest + 1.0))]
        )
        if self.ties is TiedScores.THRESHOLD:
            if cutoff is not None:
                raise ParameterError("Average precision with ties='threshold' takes no cutoff; use 'map'.")
            self._harmonic = None
        n_relevant = judged.query_sums(self.worth)
        if conventions.denominator is Denominator.ATTAINABLE:
            n_relevant = np.minimum(n_relevant, self._cutoff)
        self._scale = 1.0 / np.maximum(n_relevant, 1.0)

    def values(self, scores: Floats) -> Floats:
        ranked = self._ranked(scores)
        sums = np.empty(self.judged.n_queries)
        _native.average_precision(
            self.judged.offsets,
            ranked.first,
            ranked.end,
            self.worth[ranked.row],
            self._cutoff,
            self._harmonic,
            sums,
            self.judged.n_threads,
        )
        return sums * self._scale


class Cascade(_ListFormula):
    """``Σ_rank P(the reader stops at this rank) / rank``: reciprocal rank and ERR (Chapelle et al. 2009).

    A row stops the reader with probability `stop`. If all orders of the tied rows are equally likely, the
    reader passes j of them with the mean product of j of their 1 − stop: an elementary symmetric mean.
    """

    def __init__(
        self, judged: JudgedRows, cutoff: int | None, conventions: Conventions, stop: Floats
    ) -> None:
        super().__init__(judged, conventions, stop)
        self._cutoff = int(judged.sizes.max()) if cutoff is None else cutoff

    def values(self, scores: Floats) -> Floats:
        ranked = self._ranked(scores)
        values = np.empty(self.judged.n_queries)
        stop = self.worth[ranked.row]
        _native.cascade(
            self.judged.offsets, ranked.first, ranked.end, stop, self._cutoff, values, self.judged.n_threads
        )
        return values


def reciprocal_rank(judged: JudgedRows, cutoff: int | None, conventions: Conventions) -> Cascade:
    """One over the rank of the first relevant row; 0 if it is beyond the cutoff."""
    return Cascade(judged, cutoff, conventions, _relevant(judged, conventions))


def expected_reciprocal_rank(judged: JudgedRows, cutoff: int | None, conventions: Conventions) -> Cascade:
    """ERR: stop probability (2^label − 1) / 2^max_grade."""
    gains = _gains(judged, Gain.EXPONENTIAL)
    greatest = float(judged.y.max()) if conventions.max_grade is None else conventions.max_grade
    if judged.y.max() > greatest:
        row = judged.caller_rows[judged.y.argmax()]
        raise DataError(f"ERR's max_grade is {greatest:g}, but row {row} has label {judged.y.max():g}.")
    return Cascade(judged, cutoff, conventions, gains / 2.0**greatest)


def _relevant(judged: JudgedRows, conventions: Conventions) -> Floats:
    return (judged.y >= conventions.relevant).astype(np.float64)


def _gains(judged: JudgedRows, gain: Gain) -> Floats:
    if judged.y.min() < 0.0:
        row = judged.caller_rows[judged.y.argmin()]
        raise DataError(
            f"Measures with gains require non-negative labels, but row {row} has label {judged.y.min():g}."
        )
    if gain is Gain.LINEAR:
        return judged.y
    if judged.y.max() > 1000.0:
        row = judged.caller_rows[judged.y.argmax()]
        raise DataError(
            f"The gain 2^label − 1 overflows for the label {judged.y.max():g} of row {row}; "
            "use gain='linear'."
        )
    return np.exp2(judged.y) - 1.0


def _discounts(n: int, discount: Discount) -> Floats:
    rank = np.arange(1.0, n + 1.0)
    return 1.0 / np.log2(1.0 + rank) if discount is Discount.LOG2 else 1.0 / np.log2(np.maximum(rank, 2.0))
