"""Pairs within queries, and pairs of all rows: scores that can be compared across queries."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.pair_differences import StackedDifferences
from rankwise.preferences.queries import Queries, one_query
from rankwise.types import Floats, Ties, Weighting


class AcrossQueries(StackedDifferences):
    """The pairs of each query, and those of all rows as if they were one query, which count β.

    The second block is what the first would be without queries, times √β: a row then counts as often as its
    query does, and `ties` and `weighting` mean for all rows what they mean for those of a query.

    Parameters
    ----------
    beta : float
        Positive.
    queries, y, ties, weighting, row_weight, query_factor
        As in `QueryDifferences`.
    """

    def __init__(
        self,
        beta: float,
        queries: Queries,
        y: Floats,
        *,
        ties: Ties,
        weighting: Weighting,
        row_weight: Floats | None = None,
        query_factor: Floats | None = None,
    ) -> None:
        self.beta = beta
        self.within = QueryDifferences(
            queries, y, ties=ties, weighting=weighting, row_weight=row_weight, query_factor=query_factor
        )
        self.whole = QueryDifferences(
            one_query(queries.n_rows),
            y,
            ties=ties,
            weighting=weighting,
            row_weight=weight_of_rows(queries, row_weight, query_factor),
            query_factor=np.array([beta]),
        )
        super().__init__([self.within, self.whole])

    def apply_to_labels(self, y: Floats) -> Floats:
        """``F y`` of the labels that define the levels."""
        return np.concatenate([part.apply_to_labels(y) for part in (self.within, self.whole)])

    @property
    def is_centring(self) -> bool:
        """Whether pairs across queries count the same, whatever queries are left out."""
        return self.within.ties is Ties.KEEP and self.within.weighting is Weighting.EXAMPLE

    @cached_property
    def row_weight(self) -> Floats:
        """How much each row counts among all rows, in the order of the differences within queries."""
        return self.within.grouped(self.whole.row_weight)


def weight_of_rows(queries: Queries, row_weight: Floats | None, query_factor: Floats | None) -> Floats:
    """How much each row counts among all rows: as often as it is given, if its query is, too."""
    weight = np.ones(queries.n_rows) if row_weight is None else row_weight
    return weight if query_factor is None else weight * query_factor[queries.query_of_row()]
