"""The pairwise hinge over explicit pairs."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from rankwise.preferences.pairs import Pairs
from rankwise.svm.hinge import NEAR
from rankwise.svm.risk import Hinge, HingeValue, SquaredHingeValue
from rankwise.svm.rows_risk import HingeLoss
from rankwise.types import Floats, Ints


class PairHinge(HingeLoss):
    """Explicit pairs, each with its own weight and margin; O(m + l) per evaluation.

    Parameters
    ----------
    n_rows : int
    pairs : Pairs
        Magnitudes are the score differences at which pairs are satisfied.
    total : float, optional
        The sum of the weights, if it is that of more pairs than these.
    """

    def __init__(self, n_rows: int, pairs: Pairs, total: float | None = None) -> None:
        self.n_rows, self._pairs = n_rows, pairs
        weight = pairs.weights() if total is None else pairs.given_weights()
        self._share = weight / (weight.sum() if total is None else total)

    def arranged(self, rows: Floats) -> Floats:
        return rows

    def restored(self, rows: Floats) -> Floats:
        return rows

    def reference(self) -> Ints:
        return self._pairs.components(self.n_rows).first_rows()

    def row_weights(self) -> Floats:
        return self._per_row(self._share)

    def value(self, scores: Floats) -> HingeValue[Floats]:
        active = np.where(self._slack(scores) > 0.0, self._share, 0.0)
        offset = float(active @ self._pairs.magnitude)
        gradient = self._signed_per_row(-active)
        return HingeValue(offset + float(gradient @ scores), gradient, offset)

    def squared_value(self, scores: Floats) -> SquaredHingeValue[Floats, Floats]:
        slack = np.maximum(self._slack(scores), 0.0)
        active = np.where(slack > 0.0, self._share, 0.0)
        better, worse = self._pairs.better, self._pairs.worse
        gradient = self._signed_per_row(-2.0 * active * slack)
        return SquaredHingeValue(
            float(active @ slack**2),
            gradient,
            float(active.sum()),
            float(np.abs(gradient).sum()),
            lambda v: self._signed_per_row(2.0 * active * (v[better] - v[worse])),
        )

    def margin_density(self, scores: Floats) -> Floats:
        near = np.abs(self._slack(scores)) < NEAR * self._pairs.magnitude
        return self._per_row(np.where(near, self._share / (2.0 * NEAR * self._pairs.magnitude), 0.0))

    def _slack(self, scores: Floats) -> Floats:
        return self._pairs.magnitude - (scores[self._pairs.better] - scores[self._pairs.worse])

    def _per_row(self, per_pair: Floats) -> Floats:
        """Add each pair's value to both of its rows."""
        both = np.concatenate([self._pairs.better, self._pairs.worse])
        return np.asarray(np.bincount(both, np.tile(per_pair, 2), self.n_rows), dtype=np.float64)

    def _signed_per_row(self, per_pair: Floats) -> Floats:
        """Add each pair's value to its better row and subtract it from its worse row."""
        better, worse = self._pairs.better, self._pairs.worse
        total = np.bincount(better, per_pair, self.n_rows) - np.bincount(worse, per_pair, self.n_rows)
        return np.asarray(total, dtype=np.float64)


@singledispatch
def pair_hinge(pairs: Pairs, n_rows: int) -> Hinge:
    """The hinge over explicit pairs; `cluster/variants.py` names that of parts."""
    return PairHinge(n_rows, pairs)
