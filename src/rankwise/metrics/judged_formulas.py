"""Computation of measures of retrieval: success@k, R-precision, bpref, RBP, and the share that was judged.

As in `list_formulas`, tied scores are averaged exactly, and rows that were not retrieved are worth nothing.
"""

from __future__ import annotations

import math

import numpy as np

from rankwise.metrics.arranged_rows import ArrangedRows
from rankwise.metrics.conventions import Conventions
from rankwise.metrics.list_formulas import ListFormula, RelevantOfFirst, relevant_rows
from rankwise.types import Floats


def r_precision(judged: ArrangedRows, _: int | None, conventions: Conventions) -> RelevantOfFirst:
    """The precision at R, where R is the number of relevant rows; also the recall there."""
    n_relevant = np.maximum(judged.query_sums(relevant_rows(judged, conventions)), 1.0)
    return RelevantOfFirst(judged, n_relevant.astype(np.int64), conventions, n_relevant)


class Success(ListFormula):
    """Whether a relevant row is among the first k; its probability if rows are tied across the cutoff.

    Of s tied rows, r of them relevant, c come before the cutoff: none of these is relevant with probability
    ``C(s − r, c) / C(s, c)``.
    """

    def __init__(self, judged: ArrangedRows, cutoff: int | None, conventions: Conventions) -> None:
        super().__init__(judged, conventions, relevant_rows(judged, conventions))
        assert cutoff is not None
        self._cutoff = cutoff

    def values(self, scores: Floats) -> Floats:
        ranked, worth = self._ranked(scores)
        starts, sizes = self._runs(ranked)
        relevant = np.add.reduceat(worth, starts)
        counted = np.clip(self._cutoff - ranked.first[starts], 0, sizes)
        found = ((relevant > 0.0) & (counted > 0)).astype(np.float64)
        for run in np.flatnonzero((found > 0.0) & (counted < sizes)).tolist():
            size, among = int(sizes[run]), int(counted[run])
            others = math.comb(size - int(relevant[run]), among)
            found[run] = 1.0 - others / math.comb(size, among)
        none = np.zeros(len(ranked.row))
        none[starts] = found
        return np.asarray(np.maximum.reduceat(none, self.judged.offsets[:-1]))


class BinaryPreference(ListFormula):
    """``1 / R · Σ_{relevant} 1 − min(n, R) / min(N, R)`` (Buckley and Voorhees 2004, as in trec_eval).

    R rows are relevant and N judged not to be, n of the latter come before the relevant one. Rows that were
    not judged play no part. Of the irrelevant rows in a run of ties, any number is as likely as any
    other to come before a relevant one.
    """

    def __init__(self, judged: ArrangedRows, _: int | None, conventions: Conventions) -> None:
        super().__init__(judged, conventions, relevant_rows(judged, conventions))
        known = ~self.judged.gaps()
        self._against = (known & (self.worth == 0.0)).astype(np.float64)
        self._n_relevant = np.maximum(self.judged.query_sums(self.worth), 1.0)
        self._divisor = np.minimum(self._n_relevant, self.judged.query_sums(self._against))

    def values(self, scores: Floats) -> Floats:
        ranked, worth = self._ranked(scores)
        retrieved = scores[ranked.row] > -np.inf
        against = self._against[ranked.row] * retrieved
        starts, sizes = self._runs(ranked)
        query = np.searchsorted(self.judged.offsets, starts, side="right") - 1
        inside = np.add.reduceat(against, starts)
        total = np.cumsum(inside) - inside
        before = total - total[np.searchsorted(starts, self.judged.offsets[:-1])][query]
        most = self._n_relevant[query]
        below = np.clip(most - before, 0.0, inside + 1.0)  # of the counts before..before + inside
        sums = below * before + below * (below - 1.0) / 2.0 + (inside + 1.0 - below) * most
        missed = np.divide(
            sums / (inside + 1.0),
            self._divisor[query],
            out=np.zeros_like(sums),
            where=self._divisor[query] > 0.0,
        )
        gained = worth * np.repeat(1.0 - missed, sizes)
        return self.judged.query_sums(gained) / self._n_relevant


class RankBiasedPrecision(ListFormula):
    """``(1 − p) Σ_{relevant} p^(rank − 1)`` for a reader of persistence p (Moffat and Zobel 2008)."""

    def __init__(self, judged: ArrangedRows, cutoff: int | None, conventions: Conventions) -> None:
        super().__init__(judged, conventions, relevant_rows(judged, conventions))
        p = conventions.persistence
        self._discount = (1.0 - p) * p ** self.judged.rank.astype(np.float64)
        if cutoff is not None:
            self._discount[self.judged.rank >= cutoff] = 0.0

    def values(self, scores: Floats) -> Floats:
        return self.judged.query_sums(self._expected(scores) * self._discount)


class JudgedOfFirst(ListFormula):
    """The share of judged rows among the first k rows that were retrieved."""

    empty_reason = "no rows"

    def __init__(self, judged: ArrangedRows, cutoff: int | None, conventions: Conventions) -> None:
        super().__init__(judged, conventions, (~judged.gaps()).astype(np.float64))
        self.empty = np.zeros(judged.n_queries, dtype=bool)
        self._cutoff = cutoff

    def values(self, scores: Floats) -> Floats:
        retrieved = (scores > -np.inf).astype(np.int64)
        length = self.judged.query_sums(retrieved)
        cutoff = length if self._cutoff is None else np.minimum(length, self._cutoff)
        first = self.judged.rank < np.repeat(cutoff, self.judged.sizes)
        return self.judged.query_sums(self._expected(scores) * first) / np.maximum(cutoff, 1.0)
