"""Data sets in parts that this process holds."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from rankwise import RankingData
from rankwise.cluster.engine import Parts, joined, of_part
from rankwise.cluster.parted_data import PartedData, common_features, description_of, problem_of


class PartsHere(Parts):
    """Parts in this process."""

    def __init__(self, objects):
        self._objects = list(objects)

    @property
    def n_parts(self):
        return len(self._objects)

    def total(self, work, *shared, own=None):
        results = self._results(work, shared, own)
        (total,) = joined({(0, i): result for i, result in enumerate(results)}, self.n_parts).values()
        return total

    def derived(self, work, *shared, own=None):
        return type(self)(self._results(work, shared, own))

    def _results(self, work, shared, own):
        return [work(one, *of_part(own, i), *shared) for i, one in enumerate(self._objects)]


def in_parts(data: RankingData, n_parts: int, weight=None) -> PartedData:
    """Consecutive rows of a data set in parts of about equal size."""
    ends = np.linspace(0, data.n_rows, n_parts + 1).astype(int)
    data = data if weight is None else replace(data, sample_weight=weight)
    return together([data.select(slice(first, last)) for first, last in pairwise(ends)])


def together(parts: list[RankingData]) -> PartedData:
    """Data sets as parts of one."""
    descriptions = [description_of(part) for part in parts]
    features = common_features(descriptions, [f"part {number}" for number in range(len(parts))])
    return PartedData(PartsHere(parts).derived(problem_of, features), descriptions, features)
