"""Data sets in parts that this process holds."""

from itertools import pairwise

import numpy as np

from rankwise import RankingData
from rankwise.cluster.base import PartsHere
from rankwise.cluster.data import PartedData, RawPart, common_shape, description_of, problem_of


def in_parts(data: RankingData, n_parts: int, weight=None) -> PartedData:
    """Consecutive rows of a data set in parts of about equal size."""
    ends = np.linspace(0, data.n_rows, n_parts + 1).astype(int)
    places = [slice(first, last) for first, last in pairwise(ends)]
    weights = [None if weight is None else weight[place] for place in places]
    return together([data.select(place) for place in places], weights)


def together(parts: list[RankingData], weights=None) -> PartedData:
    """Data sets as parts of one."""
    weights = [None] * len(parts) if weights is None else weights
    raw = [RawPart(data, weight) for data, weight in zip(parts, weights, strict=True)]
    descriptions = [description_of(part) for part in raw]
    shape = common_shape(descriptions, [f"part {number}" for number in range(len(parts))])
    return PartedData(PartsHere(raw).derived(problem_of, shape), descriptions, shape)
