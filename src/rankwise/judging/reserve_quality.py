"""How good the live model is: whether models without a query order its random documents well."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rankwise.judging.collection import Collection
from rankwise.judging.entries import Kind, Reason
from rankwise.judging.in_effect import Judgments
from rankwise.judging.live_model import LiveModel
from rankwise.metrics.significance import margin_of_mean
from rankwise.types import Ints

LEAST_QUERIES = 5


@dataclass(frozen=True)
class ReserveQuality:
    """The fraction of pairs of documents in the order of the judgments, by queries that were left out.

    Attributes
    ----------
    mean : float
        Over queries; a tie of scores counts as one half.
    margin : float or None
        Half the width of its 95 % confidence interval; None for fewer than `LEAST_QUERIES`, which may agree
        by chance.
    n_queries, n_pairs : int
    """

    mean: float
    margin: float | None
    n_queries: int
    n_pairs: int


def left_out_quality(
    model: LiveModel, judgments: Judgments, collection: Collection, reserve: Iterable[int]
) -> ReserveQuality | None:
    """Measure the judgments of the reserve that were drawn at random; None if none can be compared.

    For each query, the model without it takes O(h n² + n³).
    """
    values, n_pairs = [], 0
    for query in sorted(reserve):
        pairs = _random_pairs(query, judgments, collection)
        if not len(pairs):
            continue
        first, second = (model.scores(pairs[:, k], model.without(query)) for k in (0, 1))
        values.append(float(np.where(first == second, 0.5, first > second).mean()))
        n_pairs += len(pairs)
    if not values:
        return None
    found = np.array(values)
    margin = margin_of_mean(found, np.ones(len(found))) if len(found) >= LEAST_QUERIES else None
    return ReserveQuality(float(found.mean()), margin, len(found), n_pairs)


def _random_pairs(query: int, judgments: Judgments, collection: Collection) -> Ints:
    """The pairs of rows of a query, drawn at random and judged to be different, the better one first."""
    name = collection.name(query)
    rows, grades, pairs = [], [], []
    for docs, judged in judgments.of_query(name):
        if not judged.is_random:
            continue
        if judged.grade is not None:
            rows.append(collection.row(name, docs[0]))
            grades.append(judged.grade)
        pairs += [
            [collection.row(name, doc) for doc in entry.docs]
            for entry in judged.comparisons
            if entry.kind is Kind.ABOVE and entry.reason is Reason.RANDOM
        ]
    graded, labels = np.array(rows, dtype=np.int64), np.array(grades, dtype=np.float64)
    better, worse = np.nonzero(np.subtract.outer(labels, labels) > 0.0)
    compared = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.vstack([compared, np.column_stack([graded[better], graded[worse]])])
