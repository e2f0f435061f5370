"""The sizes of queries, for parts that hold only some of their rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError
from rankwise.preferences.differences import order_by_level
from rankwise.preferences.digests import label_digests
from rankwise.preferences.queries import group_rows
from rankwise.ridge.moments.pool import ONE_LEVEL, LevelWeights
from rankwise.types import Ints, Ties
from rankwise.validation import check_labels, check_row_weight


@dataclass(frozen=True, eq=False)
class QuerySizes:
    """The sum of the row weights of each query and label, computed without the features.

    With ``ties="drop"`` or a weighting other than "example", the weight of a row depends on the size of its
    query. `Moments.of` can therefore sum the rows of an open query only if it knows the size; otherwise it
    keeps a matrix for each open query.

    Attributes
    ----------
    weights : dict
        By the digest of the query's label, a dict of label y to the sum of row weights.

    See Also
    --------
    Moments : Computed with these sizes.

    Examples
    --------
    >>> from rankwise import Moments, QuerySizes, make_search_data
    >>> data = make_search_data(20, random_state=0)
    >>> sizes = QuerySizes.of(data.y, data.qid)
    >>> halves = [data.select(slice(None, 150)), data.select(slice(150, None))]
    >>> parts = [Moments.of(half, weighting="pair", sizes=sizes) for half in halves]
    >>> (parts[0] + parts[1]).close()
    Moments(291 rows, 20 queries, 22 features, ties='keep', weighting='pair')
    """

    weights: Mapping[int, Mapping[float, float]]

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        qid: ArrayLike | Iterable[Hashable],
        sample_weight: ArrayLike | None = None,
    ) -> QuerySizes:
        """Count rows, or sum their weights; parts may be counted separately and added."""
        labels = check_labels(y)
        queries = group_rows(qid, len(labels))
        if queries.labels is None:
            raise DataError("QuerySizes needs a qid: parts of one global ranking need a label, too.")
        weight = check_row_weight(sample_weight, len(labels))
        weight = np.ones(len(labels)) if weight is None else weight
        query = queries.query_of_row()
        order, offsets = order_by_level(queries, labels)
        sums, first = np.add.reduceat(weight[order], offsets[:-1]), order[offsets[:-1]]
        digests = label_digests(queries.labels.tolist())
        weights: dict[int, dict[float, float]] = {int(digest): {} for digest in digests}
        for row, total in zip(first.tolist(), sums.tolist(), strict=True):
            weights[int(digests[query[row]])][float(labels[row])] = total
        return cls(weights)

    def __add__(self, other: object) -> QuerySizes:
        if not isinstance(other, QuerySizes):
            return NotImplemented
        total = {query: dict(levels) for query, levels in self.weights.items()}
        for query, levels in other.weights.items():
            mine = total.setdefault(query, {})
            for level, weight in levels.items():
                mine[level] = mine.get(level, 0.0) + weight
        return QuerySizes(total)

    def told(self, digests: Ints, labels: Iterable[str], ties: Ties) -> LevelWeights:
        """The sums of row weights by label, for some queries."""
        entries: list[tuple[int, float, float]] = []
        for query, (digest, label) in enumerate(zip(digests.tolist(), labels, strict=True)):
            if digest not in self.weights:
                raise DataError(f"The sizes do not include query {label}.")
            levels = self.weights[digest]
            if ties is Ties.DROP:
                entries.extend((query, level, weight) for level, weight in levels.items())
            else:
                entries.append((query, ONE_LEVEL, sum(levels.values())))
        return LevelWeights(*map(np.array, zip(*entries, strict=True)))
