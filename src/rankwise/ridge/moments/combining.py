"""Which moments can be combined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwise.errors import DataError
from rankwise.features import Features

if TYPE_CHECKING:
    from rankwise.ridge.moments.moments import Moments


class AlreadyCompleteError(DataError):
    """Rows were added to a query that is complete."""


class AlreadyLearnedError(DataError):
    """Queries to add were learned before; `labels` are their digests."""

    def __init__(self, labels: Any) -> None:
        super().__init__(labels)
        self.labels = labels

    def __str__(self) -> str:
        return (
            f"{len(self.labels):,} of the queries are in both moments and would count twice; rows of a query "
            f"can be in several parts only while it is open."
        )


def common_names(ours: Moments, other: Moments) -> tuple[str, ...] | None:
    """The names of the features of both; DataError if they cannot be combined."""
    for name in ("ties", "weighting"):
        mine, theirs = str(getattr(ours, name)), str(getattr(other, name))
        if mine != theirs:
            raise DataError(f"Moments with {name}={mine!r} and {name}={theirs!r} cannot be combined.")
    if ours.quadratic.shape != other.quadratic.shape:
        mine, theirs = (" x ".join(map(str, one.quadratic.shape)) for one in (ours, other))
        raise DataError(f"Moments of {mine} and of {theirs} features cannot be combined.")
    if ours.feature_names is None or other.feature_names is None:
        return ours.feature_names or other.feature_names
    difference = Features(ours.feature_names).difference(Features(other.feature_names), "one", "the other")
    if difference is not None:
        raise DataError(f"Moments of different features cannot be combined: {difference}.")
    return ours.feature_names


def check_new(ours: Moments, other: Moments) -> None:
    """Reject queries that would be learned twice: pairs between their parts would be missing."""
    for one, another in ((ours, other), (other, ours)):
        returned = np.isin(another.open_queries.digests, one.learned.labels)
        if returned.any():
            names = another.open_queries.names(returned)
            raise AlreadyCompleteError(f"Query {names} is already complete and accepts no more rows.")
    if ours.has_qid and other.has_qid:
        both = np.intersect1d(ours.learned.labels, other.learned.labels)
        if len(both):
            raise AlreadyLearnedError(both)
