"""Rows kept out of training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankwise.preferences.samples import PairSample
from rankwise.types import Floats, Matrix

# The values of measures, by the eval_set and the measure.
EvalResults: TypeAlias = dict[str, dict[str, list[float]]]


def improves(value: float, best: float, higher_is_better: bool) -> bool:
    """Whether a value beats the best so far; any number beats NaN."""
    if np.isnan(best):
        return not np.isnan(value)
    return value > best if higher_is_better else value < best


class Patience:
    """Watches the measure of models that become less and less regularized.

    It is exhausted by so many values in a row that are worse than the best so far, unless that is the first.
    Models that are hardly more than 0 differ little, and say little about those that follow: a peak must have
    been climbed before a descent counts. A value as good as the best starts the count again.

    Parameters
    ----------
    limit : int or None
        How many values; None is never exhausted.
    higher_is_better : bool
    """

    def __init__(self, limit: int | None, higher_is_better: bool) -> None:
        self._limit, self._higher_is_better = limit, higher_is_better
        self._first: float | None = None
        self._best, self._n_worse = np.nan, 0

    def exhausted_by(self, value: float) -> bool:
        """Whether the next value is one too many."""
        self._first = value if self._first is None else self._first
        if improves(self._best, value, self._higher_is_better):
            self._n_worse += 1
        else:
            self._best, self._n_worse = value, 0
        climbed = improves(self._best, self._first, self._higher_is_better)
        return self._limit is not None and climbed and self._n_worse >= self._limit


@dataclass(frozen=True)
class HeldOut:
    """Rows kept out of training, and the measure for their scores.

    They are used to compare iterates, alphas and settings. `selection.eval_sets` creates them from an
    ``eval_set`` or from a part of the training data.

    Attributes
    ----------
    X : Matrix
    measure : callable
        Maps scores, one per row, to a number.
    higher_is_better : bool
    sample : callable
        Draws pairs of these rows whose order is known.
    name : str
        Where they come from, such as "eval_set".
    evaluated : callable or None
        Measures the function that is given for every eval_set; None if there is none.
    """

    X: Matrix
    measure: Callable[[Floats], float]
    higher_is_better: bool = False
    sample: Callable[[], PairSample] = PairSample.none
    name: str = "eval_set"
    evaluated: Callable[[Callable[[Matrix], Floats]], EvalResults] | None = None

    def measured(self, scores: Floats) -> Floats:
        """The measure of each column of scores."""
        return np.array([self.measure(column) for column in scores.T])

    def results_of(self, scores_of: Callable[[Matrix], Floats]) -> EvalResults | None:
        """The measures of a function on every eval_set; None if there is none."""
        return None if self.evaluated is None else self.evaluated(scores_of)

    def improves(self, value: float, best: float) -> bool:
        return improves(value, best, self.higher_is_better)

    def argbest(self, values: Floats) -> int:
        """The position of the first best value; NaN counts as the worst."""
        if np.isnan(values).all():
            return 0
        return int(np.nanargmax(values) if self.higher_is_better else np.nanargmin(values))
