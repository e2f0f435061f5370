"""Measures of ranked lists by definition, one list at a time: reference code, never shipped."""

import itertools
import math

import numpy as np


def mean_over_tie_orders(y, scores, value):
    """The mean of value(labels best first) over every order of the rows that agrees with the scores."""
    runs = [
        [label for label, score in zip(y, scores, strict=True) if score == level]
        for level in sorted(set(scores), reverse=True)
    ]
    orders = itertools.product(*(itertools.permutations(run) for run in runs))
    return float(np.mean([value(list(itertools.chain.from_iterable(order))) for order in orders]))


def dcg(labels, k, gain=lambda r: 2.0**r - 1.0, discount=lambda rank: 1.0 / math.log2(1 + rank)):
    return sum(gain(r) * discount(rank) for rank, r in enumerate(labels[:k], start=1))


def ndcg(labels, k, **conventions):
    return dcg(labels, k, **conventions) / dcg(sorted(labels, reverse=True), k, **conventions)


def precision(labels, k):
    return sum(r >= 1 for r in labels[:k]) / k


def recall(labels, k):
    return sum(r >= 1 for r in labels[:k]) / sum(r >= 1 for r in labels)


def mean_ndcg(labels, **conventions):
    return float(np.mean([ndcg(labels, k, **conventions) for k in range(1, len(labels) + 1)]))


def average_precision(labels, k):
    hits = [rank for rank, r in enumerate(labels, start=1) if r >= 1]
    return sum((i + 1) / rank for i, rank in enumerate(hits) if rank <= k) / len(hits)


def reciprocal_rank(labels, k):
    return next((1.0 / rank for rank, r in enumerate(labels[:k], start=1) if r >= 1), 0.0)


def err(labels, k, max_grade):
    value, alive = 0.0, 1.0
    for rank, r in enumerate(labels[:k], start=1):
        stop = (2.0**r - 1.0) / 2.0**max_grade
        value += alive * stop / rank
        alive *= 1.0 - stop
    return value
