"""Rows to learn from, with weights."""

from __future__ import annotations

from typing import NamedTuple

from rankwise.rows.ranking import RankingData
from rankwise.types import Floats


class WeightedRows(NamedTuple):
    """Rows to learn from, as in ``fit(data, sample_weight=weight)``.

    Attributes
    ----------
    data : RankingData
    weight : Floats or None, shape (m,)
        None gives every row a weight of 1.
    """

    data: RankingData
    weight: Floats | None = None
