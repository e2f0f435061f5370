"""How the parts of a split query belong together.

The rows of a query in one part, and of one label if ties are dropped, are a *group* g with weight S_g, in a
level l of weight S_l and a query of weight S. For the scores v of all rows, with means μ_g, μ_l and μ,

- ties kept:    ``(Lv)ᵢ = c S sᵢ (vᵢ − μ_g) + c S sᵢ (μ_g − μ)``;
- ties dropped: ``(Lv)ᵢ = c (S − S_l) sᵢ (vᵢ − μ_g) + c sᵢ [(S − S_l)(μ_g − μ_l) + S (μ_l − μ)]``.

The first term is that of a whole query with ties kept and a known factor, so a part computes it by itself.
The second is constant in a group: it takes one number per group to find out, and one to tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankwise.preferences.differences import query_weights
from rankwise.preferences.queries import Queries
from rankwise.ridge.moments.pool import ONE_LEVEL
from rankwise.ridge.moments.sizes import QuerySizes
from rankwise.types import Floats, Ints, Ties, Weighting
from rankwise.validation import Problem


@dataclass(frozen=True, eq=False)
class Groups:
    """The rows of split queries in one part.

    Attributes
    ----------
    rows : Ints
        Row numbers in the part.
    members : Queries
        Their partition into groups.
    query, level : Ints, Floats, shape (n_groups,)
        The position of the query among the split ones, and the label that tied rows share.
    weight : Floats, shape (n_groups,)
        The sum of the row weights.
    """

    rows: Ints
    members: Queries
    query: Ints
    level: Floats
    weight: Floats


def split_groups(problem: Problem, position: Ints, ties: Ties) -> Groups:
    """The groups of a part, given the positions of its queries among the split ones."""
    query_of_row = position[problem.queries.query_of_row()]
    rows = np.flatnonzero(query_of_row >= 0)
    query = query_of_row[rows]
    level = problem.y[rows] if ties is Ties.DROP else np.full(len(rows), ONE_LEVEL)
    order = np.lexsort((level, query)).astype(np.int64)
    query, level = query[order], level[order]
    starts = np.flatnonzero(np.append(True, (np.diff(query) != 0) | (np.diff(level) != 0))[: len(rows)])
    offsets = np.append(starts, len(rows)).astype(np.int64)
    weight = np.ones(len(rows)) if problem.row_weight is None else problem.row_weight[rows][order]
    total = np.add.reduceat(weight, starts) if len(rows) else weight
    return Groups(rows, Queries(offsets, order), query[starts], level[starts], total)


def group_sizes(problem: Problem, position: Ints, ties: Ties) -> tuple[Ints, Floats, Floats]:
    """Query, level and weight of the groups of a part: all that others need to know of it."""
    groups = split_groups(problem, position, ties)
    return groups.query, groups.level, groups.weight


class Coupling:
    """The groups of all parts, and what follows from their weights.

    Parameters
    ----------
    sizes : sequence of (query, level, weight)
        For each part, the result of `group_sizes`.
    split : Ints
        The digests of the split queries.
    ties, weighting
    """

    def __init__(
        self,
        sizes: Sequence[tuple[Ints, Floats, Floats]],
        split: Ints,
        ties: Ties,
        weighting: Weighting,
    ) -> None:
        self.query, self._value, self.weight = (np.concatenate(column) for column in zip(*sizes, strict=True))
        self._ends = np.cumsum([len(query) for query, _, _ in sizes])
        self._split, self._drop = split, ties is Ties.DROP
        table = np.column_stack([self.query, self._value])
        levels, self.level = np.unique(table, axis=0, return_inverse=True)
        self._level_query, self._level_value = levels[:, 0].astype(np.int64), levels[:, 1]
        self._level_sum = _sums(self.weight, self.level, len(levels))
        self._sum = _sums(self.weight, self.query, len(split))
        others = self._sum[self._level_query] - self._level_sum
        pairs = self._sum * (self._sum - 1.0) / 2.0
        if self._drop:
            pairs = _sums(self._level_sum * others, self._level_query, len(split)) / 2.0
        self._pair_weight = query_weights(weighting, self._sum, pairs, None)
        self._others = others if self._drop else self._sum[self._level_query]

    @cached_property
    def factors(self) -> list[Floats]:
        """For each part, what the scatter of its groups is multiplied by."""
        return self._by_part(self._pair_weight[self.query] * self._others[self.level])

    def shifts(self, means: Sequence[Floats]) -> list[Floats]:
        """For each part, the constant term of each group times its weight, from the means of all groups."""
        in_level, in_query = self._deviations(np.concatenate(means))
        shift = self._others[self.level] * in_level + self._sum[self.query] * in_query[self.level]
        return self._by_part(self._pair_weight[self.query] * self.weight * shift)

    def between(self, means: Floats) -> tuple[Floats, Floats]:
        """Weights and differences, one per row, whose squares the groups add to the sum over pairs.

        Of groups from their level and of levels from their query, for several columns of means at once.
        """
        in_level, in_query = self._deviations(means)
        of_groups = self._pair_weight[self.query] * self._others[self.level] * self.weight
        of_levels = self._pair_weight[self._level_query] * self._sum[self._level_query] * self._level_sum
        return np.concatenate([of_groups, of_levels]), np.concatenate([in_level, in_query])

    def _deviations(self, means: Floats) -> tuple[Floats, Floats]:
        """The differences of groups from their level, and of levels from their query.

        With ties kept, a query is one level.
        """
        of_level = _means(means, self.weight, self.level, self._level_sum)
        of_query = _means(of_level, self._level_sum, self._level_query, self._sum)
        return means - of_level[self.level], of_level - of_query[self._level_query]

    def sizes(self) -> list[QuerySizes]:
        """For each part, the sizes of its split queries."""
        totals: list[dict[float, float]] = [{} for _ in self._split]
        for query, value, total in zip(
            self._level_query.tolist(), self._level_value.tolist(), self._level_sum.tolist(), strict=True
        ):
            totals[query][value] = total
        queries = [np.unique(query) for query in self._by_part(self.query)]
        return [QuerySizes({int(self._split[q]): totals[q] for q in of_part.tolist()}) for of_part in queries]

    def _by_part(self, values: Floats) -> list[Floats]:
        return np.split(values, self._ends[:-1])


def _sums(values: Floats, group: Ints, n_groups: int) -> Floats:
    sums = np.zeros((n_groups, *values.shape[1:]))
    np.add.at(sums, group, values)
    return sums


def _means(values: Floats, weight: Floats, group: Ints, total: Floats) -> Floats:
    """Weighted means of the members of groups, given the sums of their weights; 0 for one without weight."""
    sums = _sums((weight * values.T).T, group, len(total))
    return (np.divide(sums.T, total, out=np.zeros_like(sums.T), where=total > 0.0)).T
