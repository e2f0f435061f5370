"""Explicit pairs of rows in parts, both rows of a pair in the same one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from rankwise.cluster.engine import Parts
from rankwise.cluster.parted_products import ComparableRows, NormalPart
from rankwise.cluster.problem import PartedRows
from rankwise.errors import DataError, ParameterError
from rankwise.preferences.pair_differences import PairDifferences
from rankwise.preferences.pairs import Pairs
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.ridge.squared import SquaredLoss
from rankwise.validation import Problem


@dataclass(frozen=True, eq=False)
class PartedPairs:
    """Explicit pairs of rows that other processes hold; the counterpart of `Pairs`.

    Attributes
    ----------
    parts : Parts of Problem
    by_part : sequence of Pairs
        The pairs of each part, by the numbers of its rows.
    n_features : int
    """

    parts: Parts
    by_part: Sequence[Pairs]
    n_features: int

    @classmethod
    def of(cls, parts: Parts, sizes: Sequence[int], n_features: int, pairs: Pairs) -> PartedPairs:
        """Divide pairs of rows that are numbered in the order of the parts; these are the parts' sizes."""
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        part, other = (
            np.searchsorted(starts, rows, side="right") - 1 for rows in (pairs.better, pairs.worse)
        )
        apart = np.flatnonzero(part != other)
        if len(apart):
            first = apart[0]
            raise DataError(
                f"Pair {first} is of row {pairs.better[first]} in part {part[first]} and row "
                f"{pairs.worse[first]} in part {other[first]}; both rows of a pair must be in the same part."
            )
        own = [pairs.chosen(part == number) for number in range(len(sizes))]
        numbered = [
            replace(one, better=one.better - start, worse=one.worse - start)
            for one, start in zip(own, starts, strict=True)
        ]
        return cls(parts, numbered, n_features)

    def total_weight(self) -> float:
        """The sum of the weights; an error if it is 0."""
        total = sum(float(one.given_weights().sum()) for one in self.by_part)
        if total == 0.0:
            raise DataError("There is nothing to learn: no pair has a positive weight.")
        return total


def prepared_pairs(problem: Problem, pairs: Pairs) -> NormalPart:
    """Prepare a part for products, given the pairs of its rows, of which there may be none."""
    return NormalPart(
        (ComparableRows(problem.X, problem.y, _loss_of(pairs, len(problem.y))),), None, np.zeros(0)
    )


def quadratic_of_pairs(problem: Problem, pairs: Pairs) -> Quadratic:
    """The quadratic of the squared loss on the pairs of a part."""
    block = ComparableRows(problem.X, problem.y, _loss_of(pairs, len(problem.y)))
    return block.loss.quadratic(block.design)


def _loss_of(pairs: Pairs, n_rows: int) -> SquaredLoss:
    differences = PairDifferences(n_rows, pairs.better, pairs.worse, pairs.given_weights())
    return SquaredLoss(differences, pairs.target)


def no_split_of_pairs(X: PartedRows, pairs: PartedPairs, *_: Any) -> NoReturn:
    raise ParameterError("early_stopping on a cluster needs an eval_set.")


def no_criterion_on_pairs(X: PartedRows, pairs: PartedPairs, cv: Any) -> NoReturn:
    raise ParameterError("Pairs on a cluster cannot be left out; pass an eval_set.")
