"""Computation of measures of ranked lists: NDCG, precision, recall, average precision, reciprocal rank, ERR.

Tied scores are averaged exactly: each formula is the expectation over all orders of the tied rows, in closed
form or by a recurrence, never by sampling.

A row with the score −∞ was not retrieved: it comes after all others and is worth nothing there, but what its
label is worth still counts in what could have been attained.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from rankwise import _native
from rankwise.errors import DataError, ParameterError
from rankwise.metrics.arranged_rows import ArrangedRows, RankedRows
from rankwise.metrics.conventions import (
    Conventions,
    Denominator,
    Discount,
    Empty,
    Gain,
    ShortLists,
    TiedScores,
)
from rankwise.types import Floats, Ints

# The largest label whose gain 2^label − 1, and sums of it, are finite.
MAX_GRADE = 1000.0
_EMPTY_VALUE = {Empty.LEAVE_OUT: math.nan, Empty.ZERO: 0.0, Empty.ONE: 1.0}


class ListFormula:
    """The base of the formulas below: tie order, empty queries, equal weights.

    Unless row order breaks ties, rows are kept in order of descending worth, so that rounding does not
    depend on the caller's order either.
    """

    empty_reason = "no relevant rows"
    weight: Floats | None = None

    def __init__(self, judged: ArrangedRows, conventions: Conventions, worth: Floats) -> None:
        if judged.weight is not None:
            raise ParameterError("Measures of ranked lists do not accept sample_weight; pairwise_error does.")
        self._strict = conventions.ties not in (TiedScores.AVERAGE, TiedScores.THRESHOLD)
        if not self._strict:
            places = judged.ranked(worth).row
            judged, worth = judged.rearranged(places), worth[places]
        self.judged = judged
        self.worth = worth
        self.empty = judged.query_sums(worth) <= 0.0
        self.empty_value = _EMPTY_VALUE[conventions.empty]

    def _ranked(self, scores: Floats) -> tuple[RankedRows, Floats]:
        """The rows by descending score, and what the row at each position is worth there."""
        ranked = self.judged.ranked_strictly(scores) if self._strict else self.judged.ranked(scores)
        return ranked, np.where(scores[ranked.row] == -np.inf, 0.0, self.worth[ranked.row])

    def _runs(self, ranked: RankedRows) -> tuple[Ints, Ints]:
        """Where runs of tied rows begin, and how long they are."""
        starts = np.flatnonzero(ranked.first == self.judged.rank)
        return starts, (ranked.end - ranked.first)[starts]

    def _expected(self, scores: Floats) -> Floats:
        """What the row at each rank is expected to be worth."""
        ranked, worth = self._ranked(scores)
        starts, sizes = self._runs(ranked)
        if len(starts) == len(worth):
            return worth
        # Inside a run worth falls; the mean of equal ones is exact.
        means = np.clip(np.add.reduceat(worth, starts) / sizes, worth[starts + sizes - 1], worth[starts])
        return np.repeat(means, sizes)


class NormalizedGain(ListFormula):
    """``Σ_rank gain · discount(rank)`` over its greatest value, with a discount for each place of each query.

    Tied rows share the mean of their gains, which is the expectation over their orders. The sum depends only
    on the list of gains, so equal lists have equal values and the best list has exactly 1.
    """

    def __init__(
        self, judged: ArrangedRows, conventions: Conventions, worth: Floats, discount: Floats, shortest: int
    ) -> None:
        super().__init__(judged, conventions, worth)
        judged = self.judged
        self._discount = discount
        self._ideal = judged.query_sums(self.worth[judged.ranked(self.worth).row] * self._discount)
        self._ideal[judged.sizes < shortest] = 0.0

    def values(self, scores: Floats) -> Floats:
        sums = self.judged.query_sums(self._expected(scores) * self._discount)
        ratio = np.divide(sums, self._ideal, out=np.zeros_like(sums), where=self._ideal > 0.0)
        # No list is better than the best one, but its sum may be rounded up where that of the best is not.
        return np.minimum(ratio, 1.0)


def ndcg(judged: ArrangedRows, cutoff: int | None, conventions: Conventions) -> NormalizedGain:
    """DCG@k divided by the largest DCG@k that the labels allow (Järvelin and Kekäläinen 2002)."""
    gains = _relative_gains(judged, conventions.gain)
    discount = _discounts(judged, conventions.discount)
    if cutoff is not None:
        discount[judged.rank >= cutoff] = 0.0
    shortest = cutoff if conventions.short is ShortLists.ZERO and cutoff is not None else 0
    return NormalizedGain(judged, conventions, gains, discount, shortest)


def mean_ndcg(judged: ArrangedRows, _: int | None, conventions: Conventions) -> NormalizedGain:
    """LETOR's MeanNDCG: the mean of NDCG@1 to NDCG@h of a query of h rows.

    A gain at rank i is in NDCG@k for all k ≥ i, so the mean is a sum of gains, too: with the discount
    ``discount(i) / h · Σ_{k ≥ i} 1 / (the largest DCG@k)``.
    """
    gains = _relative_gains(judged, conventions.gain)
    discount = _discounts(judged, conventions.discount)
    best = gains[judged.ranked(gains).row] * discount
    for start, end in pairwise(judged.offsets.tolist()):
        if best[start] > 0.0:
            share = 1.0 / np.cumsum(best[start:end])
            discount[start:end] *= np.cumsum(share[::-1])[::-1] / (end - start)
    return NormalizedGain(judged, conventions, gains, discount, shortest=0)


class RelevantOfFirst(ListFormula):
    """The relevant rows among the first k over a divisor; rows tied across the cutoff count in part.

    Every query may have a cutoff of its own.
    """

    def __init__(
        self, judged: ArrangedRows, cutoff: int | Ints, conventions: Conventions, divisor: Floats
    ) -> None:
        super().__init__(judged, conventions, relevant_rows(judged, conventions))
        self._cutoff = np.repeat(np.broadcast_to(cutoff, judged.n_queries), judged.sizes)
        self._divisor = divisor

    def values(self, scores: Floats) -> Floats:
        ranked, worth = self._ranked(scores)
        starts, sizes = self._runs(ranked)
        counted = np.clip(self._cutoff[starts] - ranked.first[starts], 0, sizes)
        expected = np.zeros(len(ranked.row))
        # In this order of operations whole runs, and runs of relevant rows alone, count exactly.
        expected[starts] = np.add.reduceat(worth, starts) * counted / sizes
        return np.asarray(self.judged.query_sums(expected) / self._divisor)


def precision(judged: ArrangedRows, cutoff: int | None, conventions: Conventions) -> RelevantOfFirst:
    """P@k: the fraction of relevant rows among the first k."""
    assert cutoff is not None
    attainable = conventions.denominator is Denominator.ATTAINABLE
    divisor = np.minimum(judged.sizes, cutoff) if attainable else np.full(judged.n_queries, cutoff)
    return RelevantOfFirst(judged, cutoff, conventions, divisor.astype(np.float64))


def recall(judged: ArrangedRows, cutoff: int | None, conventions: Conventions) -> RelevantOfFirst:
    """Recall@k: the fraction of the relevant rows that are among the first k."""
    assert cutoff is not None
    n_relevant = judged.query_sums(relevant_rows(judged, conventions))
    attainable = conventions.denominator is Denominator.ATTAINABLE
    divisor = np.minimum(n_relevant, cutoff) if attainable else n_relevant
    return RelevantOfFirst(judged, cutoff, conventions, np.maximum(divisor, 1.0))


class AveragePrecision(ListFormula):
    """The mean, over relevant rows, of the precision at their rank; ranks beyond the cutoff contribute 0.

    Tied rows contribute their expectation in closed form (McSherry and Najork 2008).
    """

    def __init__(self, judged: ArrangedRows, cutoff: int | None, conventions: Conventions) -> None:
        super().__init__(judged, conventions, relevant_rows(judged, conventions))
        judged = self.judged
        longest = int(judged.sizes.max())
        self._cutoff = longest if cutoff is None else cutoff
        self._harmonic: Floats | None = np.concatenate(
            [[0.0], np.cumsum(1.0 / np.arange(1.0, longest + 1.0))]
        )
        if conventions.ties is TiedScores.THRESHOLD:
            if cutoff is not None:
                raise ParameterError("Average precision with ties='threshold' takes no cutoff; use 'map'.")
            self._harmonic = None
        n_relevant = judged.query_sums(self.worth)
        if conventions.denominator is Denominator.ATTAINABLE:
            n_relevant = np.minimum(n_relevant, self._cutoff)
        self._divisor = np.maximum(n_relevant, 1.0)

    def values(self, scores: Floats) -> Floats:
        ranked, worth = self._ranked(scores)
        sums = np.empty(self.judged.n_queries)
        _native.average_precision(
            self.judged.offsets,
            ranked.first,
            ranked.end,
            worth,
            self._cutoff,
            self._harmonic,
            sums,
            self.judged.n_threads,
        )
        return sums / self._divisor


class Cascade(ListFormula):
    """``Σ_rank P(the reader stops at this rank) / rank``: reciprocal rank and ERR (Chapelle et al. 2009).

    A row stops the reader with probability `stop`. If all orders of the tied rows are equally likely, the
    reader passes j of them with the mean product of j of their 1 − stop: an elementary symmetric mean.
    """

    def __init__(
        self, judged: ArrangedRows, cutoff: int | None, conventions: Conventions, stop: Floats
    ) -> None:
        super().__init__(judged, conventions, stop)
        self._cutoff = int(judged.sizes.max()) if cutoff is None else cutoff

    def values(self, scores: Floats) -> Floats:
        ranked, stop = self._ranked(scores)
        values = np.empty(self.judged.n_queries)
        _native.cascade(
            self.judged.offsets, ranked.first, ranked.end, stop, self._cutoff, values, self.judged.n_threads
        )
        return values


def reciprocal_rank(judged: ArrangedRows, cutoff: int | None, conventions: Conventions) -> Cascade:
    """One over the rank of the first relevant row; 0 if it is beyond the cutoff."""
    return Cascade(judged, cutoff, conventions, relevant_rows(judged, conventions))


def expected_reciprocal_rank(judged: ArrangedRows, cutoff: int | None, conventions: Conventions) -> Cascade:
    """ERR: stop probability (2^label − 1) / 2^max_grade."""
    gains = _gains(judged, Gain.EXPONENTIAL)
    greatest = float(judged.y.max()) if conventions.max_grade is None else conventions.max_grade
    if greatest > MAX_GRADE:
        raise ParameterError(f"ERR's max_grade must be at most {MAX_GRADE:g}; got {greatest:g}.")
    if judged.y.max() > greatest:
        row = judged.caller_rows[judged.y.argmax()]
        raise DataError(f"ERR's max_grade is {greatest:g}, but row {row} has label {judged.y.max():g}.")
    return Cascade(judged, cutoff, conventions, gains / 2.0**greatest)


def relevant_rows(judged: ArrangedRows, conventions: Conventions) -> Floats:
    """1 for relevant rows, 0 for others."""
    return (judged.y >= conventions.relevant).astype(np.float64)


def _gains(judged: ArrangedRows, gain: Gain) -> Floats:
    if judged.y.min() < 0.0:
        row = judged.caller_rows[judged.y.argmin()]
        raise DataError(
            f"Measures with gains require non-negative labels, but row {row} has label {judged.y.min():g}."
        )
    if gain is Gain.LINEAR:
        return judged.y
    if judged.y.max() > MAX_GRADE:
        row = judged.caller_rows[judged.y.argmax()]
        raise DataError(
            f"The gain 2^label − 1 overflows for the label {judged.y.max():g} of row {row}; "
            "use gain='linear'."
        )
    # Of a small label's 2^label only 1 would be left.
    return np.where(judged.y < 0.5, np.expm1(judged.y * math.log(2.0)), np.exp2(judged.y) - 1.0)


def _relative_gains(judged: ArrangedRows, gain: Gain) -> Floats:
    """Gains for formulas in which only ratios count: with the largest of every query about 1, sums neither
    over- nor underflow."""
    gains = _gains(judged, gain)
    _, exponent = np.frexp(np.maximum.reduceat(gains, judged.offsets[:-1]))
    return np.asarray(np.ldexp(gains, -np.repeat(exponent, judged.sizes)))


def _discounts(judged: ArrangedRows, discount: Discount) -> Floats:
    """The discount of each place, by its rank in its query."""
    rank = np.arange(1.0, judged.sizes.max() + 1.0)
    by_rank = 1.0 / np.log2(1.0 + rank if discount is Discount.LOG2 else np.maximum(rank, 2.0))
    return np.asarray(by_rank[judged.rank])
