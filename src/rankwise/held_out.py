"""Rows kept out of training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankwise.preferences.samples import PairSample
from rankwise.types import Floats, Matrix


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
    """

    X: Matrix
    measure: Callable[[Floats], float]
    higher_is_better: bool = False
    sample: Callable[[], PairSample] = PairSample.none
    name: str = "eval_set"

    def measured(self, scores: Floats) -> Floats:
        """The measure of each column of scores."""
        return np.array([self.measure(column) for column in scores.T])

    def improves(self, value: float, best: float) -> bool:
        """Whether a value beats the best so far; any number beats NaN."""
        if np.isnan(best):
            return not np.isnan(value)
        return value > best if self.higher_is_better else value < best

    def argbest(self, values: Floats) -> int:
        """The position of the first best value; NaN counts as the worst."""
        if np.isnan(values).all():
            return 0
        return int(np.nanargmax(values) if self.higher_is_better else np.nanargmin(values))
