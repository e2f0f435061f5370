"""Computation of pair measures: pairwise error, disagreement error, Kendall's τ-b, AUC.

All of them use the same counts, which a native kernel computes in O(h log h) for a query of h rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from rankwise import _native
from rankwise.config import resolve_threads
from rankwise.errors import ParameterError
from rankwise.metrics.arranged_rows import ArrangedRows
from rankwise.metrics.conventions import Conventions
from rankwise.types import Floats, Ints


class ScoreVectors(Protocol):
    """Score vectors in the caller's row order, each ordering the rows much like the previous one."""

    def tables(self) -> Iterable[Floats]:
        """The vectors, one per row, several at a time; each table is consumed before the next is created."""
        ...

    def count_pairs(self, offsets: Ints, level: Ints, column: Ints) -> Iterable[Ints]:
        """Per query: discordant pairs, pairs with tied scores, and pairs with tied scores and labels.

        Several vectors at a time, shape (3, vectors, queries).

        Parameters
        ----------
        offsets : Ints
            Query q holds the rows ``offsets[q]:offsets[q + 1]``, by descending label.
        level : Ints
            The rank in its query, from 0, of the first row with the label of each row.
        column : Ints
            The caller's row number of each row.
        """
        ...


@dataclass(frozen=True)
class ScoreTable:
    """Existing score vectors, as the rows of a table in C order."""

    scores: Floats

    def tables(self) -> Iterator[Floats]:
        yield self.scores

    def count_pairs(self, offsets: Ints, level: Ints, column: Ints) -> Iterator[Ints]:
        counts = np.empty((3, len(self.scores), len(offsets) - 1), dtype=np.int64)
        _native.count_nearby_pairs(offsets, level, column, self.scores, counts, resolve_threads())
        yield counts


@dataclass(frozen=True)
class PairCounts:
    """Numbers (or weights) of the pairs of each query, by how scores and labels order them.

    ``discordant`` pairs are ordered oppositely, ``tied_scores`` have equal scores, and ``tied_both`` have
    equal labels as well.
    """

    discordant: Ints | Floats
    tied_scores: Ints | Floats
    tied_both: Ints | Floats


class PairFormula(ABC):
    """The label side of the counts, and the kernel call for the score side."""

    empty_value = math.nan
    empty_reason = "no two rows with different labels"
    weight: Floats | None = None

    def __init__(self, judged: ArrangedRows) -> None:
        places, self._level = np.empty((2, len(judged.y)), dtype=np.int64)
        self.n_pairs = np.empty(judged.n_queries)
        _native.order_by_label(judged.offsets, judged.y, places, self._level, self.n_pairs, judged.n_threads)
        self.judged = judged.rearranged(places)
        if self.judged.weight is not None:
            # Scores that reverse the labels make all pairs with different labels discordant.
            self.n_pairs = np.asarray(self.counts(self._level.astype(np.float64)).discordant)
        self.empty = self.n_pairs <= 0.0
        self._divisor = self.n_pairs + self.empty

    def counts(self, scores: Floats) -> PairCounts:
        judged = self.judged
        if judged.weight is None:
            count = np.empty((3, judged.n_queries), dtype=np.int64)
            _native.count_pairs(judged.offsets, self._level, scores, count, judged.n_threads)
            return PairCounts(*count)
        total = np.empty((3, judged.n_queries))
        _native.count_weighted_pairs(
            judged.offsets, self._level, scores, judged.weight, total, judged.n_threads
        )
        return PairCounts(*total)

    def values(self, scores: Floats) -> Floats:
        return self._from(self.counts(scores))

    def values_of_many(self, vectors: ScoreVectors) -> Iterator[Floats]:
        """The values of score vectors in the caller's row order, several at a time, one row per vector."""
        judged = self.judged
        if judged.weight is not None:
            for table in vectors.tables():
                values = [self.values(judged.arranged(scores)) for scores in table]
                yield np.reshape(values, (len(table), judged.n_queries))
            return
        for counts in vectors.count_pairs(judged.offsets, self._level, judged.caller_rows):
            yield self._from(PairCounts(*counts))

    @abstractmethod
    def _from(self, counts: PairCounts) -> Floats:
        """Compute the values from the counts."""

    def _error(self, counts: PairCounts) -> Floats:
        """The fraction of pairs with different labels that the scores misorder; a tied pair counts ½."""
        wrong = counts.discordant + 0.5 * (counts.tied_scores - counts.tied_both)
        error = wrong / self._divisor
        # Counts are exact; sums of weights are rounded.
        return error if self.judged.weight is None else np.clip(error, 0.0, 1.0)


class PairwiseError(PairFormula):
    """Paper C, equation (1): misordered pairs over pairs with different labels; ½ for a tied score.

    With row weights s, a pair has weight s_i s_j. `micro` weights queries in the mean by their pairs.
    """

    def __init__(self, judged: ArrangedRows, *, micro: bool = False) -> None:
        super().__init__(judged)
        if micro:
            self.weight = self.n_pairs

    def _from(self, counts: PairCounts) -> Floats:
        return self._error(counts)


class AreaUnderCurve(PairFormula):
    """The probability that a relevant row scores above an irrelevant one: 1 − binary pairwise error."""

    empty_reason = "not both relevant and other rows"

    def __init__(self, judged: ArrangedRows, conventions: Conventions) -> None:
        super().__init__(replace(judged, y=(judged.y >= conventions.relevant).astype(np.float64)))

    def _from(self, counts: PairCounts) -> Floats:
        return 1.0 - self._error(counts)


class DisagreementError(PairFormula):
    """Paper B, equation (1): the mean of ½ |sign(y_i − y_j) − sign(f_i − f_j)| over all pairs of a query.

    A pair with tied labels counts too: ½ if the scores order it, 0 if they tie it as well.
    """

    empty_reason = "a single row"

    def __init__(self, judged: ArrangedRows) -> None:
        super().__init__(_unweighted(judged, "Disagreement error"))
        self._all = 0.5 * judged.sizes * (judged.sizes - 1.0)
        self.empty = judged.sizes < 2

    def _from(self, counts: PairCounts) -> Floats:
        tied_once = counts.tied_scores + (self._all - self.n_pairs) - 2.0 * counts.tied_both
        return _ratio(counts.discordant + 0.5 * tied_once, self._all)


class KendallTauB(PairFormula):
    """(concordant − discordant) / √(pairs untied in labels · pairs untied in scores).

    If all scores are equal, the value is 0 (SciPy: NaN), so that the labels alone determine which queries
    count.
    """

    def __init__(self, judged: ArrangedRows) -> None:
        super().__init__(_unweighted(judged, "Kendall's tau"))
        self._all = 0.5 * judged.sizes * (judged.sizes - 1.0)

    def _from(self, counts: PairCounts) -> Floats:
        concordant = self.n_pairs - counts.discordant - (counts.tied_scores - counts.tied_both)
        # The root of the product, not the product of roots: that of a square is exact.
        scale = np.sqrt(self.n_pairs * (self._all - counts.tied_scores))
        return np.clip(_ratio(concordant - counts.discordant, scale), -1.0, 1.0)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)


def _unweighted(judged: ArrangedRows, name: str) -> ArrangedRows:
    if judged.weight is not None:
        raise ParameterError(f"{name} does not accept sample_weight; pairwise_error does.")
    return judged
