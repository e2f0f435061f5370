"""Training rows in parts, and which of their queries are split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rankwise.cluster.engine import Parts
from rankwise.errors import DataError
from rankwise.preferences.digests import label_digests
from rankwise.preferences.queries import shared_query
from rankwise.types import Floats, Ints
from rankwise.validation import Problem

# The label of the query that all rows without a qid form.
ONE_RANKING = np.array(["all"])


@dataclass(frozen=True)
class PartedRows:
    """The matrix of rows in parts: its shape and its number of stored entries."""

    shape: tuple[int, int]
    n_entries: int


@dataclass(frozen=True, eq=False)
class PartedQueries:
    """Where the rows of queries are.

    Attributes
    ----------
    digests : sequence of Ints
        For each part, the digests of the labels of its queries.
    split : Ints
        The digests of queries with rows in several parts, in ascending order.
    positions : sequence of Ints
        For each part, the position of each of its queries in `split`; −1 for whole queries.
    n_queries : int
    """

    digests: Sequence[Ints]
    split: Ints
    positions: Sequence[Ints]
    n_queries: int

    @classmethod
    def of(cls, digests: Sequence[Ints]) -> PartedQueries:
        distinct, counts = np.unique(np.concatenate(digests), return_counts=True)
        split = distinct[counts > 1]
        return cls(digests, split, [positions_in(split, one) for one in digests], len(distinct))


@dataclass(frozen=True, eq=False)
class PartedProblem:
    """Validated training rows that other processes hold; the counterpart of `Problem`.

    Attributes
    ----------
    parts : Parts of Problem
    X : PartedRows
    has_queries : bool
        Whether there is a qid; otherwise, all rows of all parts form one ranking.
    feature_names : tuple of str or None
    """

    parts: Parts
    X: PartedRows
    has_queries: bool
    feature_names: tuple[str, ...] | None = None

    n_targets: ClassVar[None] = None  # y has one column
    across_queries: ClassVar[float] = 0.0  # only rows of the same query are compared

    @cached_property
    def queries(self) -> PartedQueries:
        """8 bytes per query and part, in one message per process."""
        return PartedQueries.of(self.parts.each(query_labels_of))

    def without(self, queries: Ints) -> PartedProblem:
        """The problem without some queries, given by digest: their rows stay, with weight 0."""
        return replace(self, parts=self.parts.derived(without_queries, queries))

    def check_queries_are_whole(self, names: Sequence[str]) -> None:
        """Raise an error if a query has rows in two parts, which these names call."""
        split = self.queries.split
        if len(split):
            holds = [part for part, one in enumerate(self.queries.positions) if (one == 0).any()]
            labels = self.parts.each(label_with, split[0])
            raise shared_query(labels[holds[0]], names[holds[0]], names[holds[1]])

    def check_labels_differ(self) -> None:
        """Raise an error unless some query has two rows of positive weight with different labels."""
        found = self.parts.each(label_ranges_of, own=self.queries.positions)
        if any(differ for differ, _ in found):
            return
        ranges = np.concatenate([table for _, table in found])
        lowest, highest = (np.full(len(self.queries.split), end) for end in (np.inf, -np.inf))
        query = ranges[:, 0].astype(np.int64)
        np.minimum.at(lowest, query, ranges[:, 1])
        np.maximum.at(highest, query, ranges[:, 2])
        if not (lowest < highest).any():
            who = "no query has" if self.has_queries else "the ranking has no"
            raise DataError(f"There is nothing to learn: {who} two rows with different labels.")


def positions_in(known: Ints, digests: Ints) -> Ints:
    """The position of each digest among the known ones, which are ascending; −1 if it is not there."""
    if len(known) == 0:
        return np.full(len(digests), -1)
    at = np.minimum(np.searchsorted(known, digests), len(known) - 1)
    return np.where(known[at] == digests, at, -1)


def query_labels_of(problem: Problem) -> Ints:
    """The digests of a part's query labels."""
    labels = problem.queries.labels
    return label_digests((ONE_RANKING if labels is None else labels).tolist())


def label_with(problem: Problem, digest: int) -> Any:
    """The label with this digest; None if there is none."""
    found = np.flatnonzero(query_labels_of(problem) == digest)
    return problem.queries.labels[found[0]].item() if len(found) and problem.has_queries else None  # type: ignore[index]


def without_queries(problem: Problem, digests: Ints) -> Problem:
    found = positions_in(digests, query_labels_of(problem)) >= 0
    return problem.without(found[problem.queries.query_of_row()]) if found.any() else problem


def label_ranges_of(problem: Problem, position: Ints) -> tuple[bool, Floats]:
    """Whether labels differ within a whole query; position, lowest and highest label of the split ones."""
    queries, weight = problem.queries, problem.row_weight
    y: Any = queries.grouped(problem.y if weight is None else np.where(weight > 0.0, problem.y, np.nan))
    lowest, highest = (end.reduceat(y, queries.offsets[:-1]) for end in (np.fmin, np.fmax))
    is_split = position >= 0
    table = np.column_stack([position, lowest, highest])[is_split & ~np.isnan(lowest)]
    return bool((lowest < highest)[~is_split].any()), table
