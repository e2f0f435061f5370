"""Generated data in the shapes of well-known sets, and the explicit pairs that other tools need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.rcv1_shaped import generate
from benchmarks.timing import sized


@dataclass(frozen=True)
class Rows:
    """Judged rows, sorted by query; one global ranking if qid is None."""

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[np.int64] | None

    @property
    def shape(self) -> str:
        return f"{self.X.shape[0]:,} × {self.X.shape[1]:,}"


@dataclass(frozen=True)
class RowPairs:
    """Pairs of row numbers; the label of the first is higher."""

    better: NDArray[np.int64]
    worse: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.better)


def ohsumed_shaped() -> Rows:
    """OHSUMED in LETOR 3.0: 106 queries of about 152 rows, 45 features, three grades."""
    return judged(sized(16_140) // 152, 152, 45, n_grades=3)


def web_shaped(seed: int = 0, share: float = 1.0) -> Rows:
    """As in web search: 1,000 queries of 100 rows, 136 features, five grades."""
    return judged(int(share * sized(100_000) / 100), 100, 136, n_grades=5, seed=seed)


def text() -> Rows:
    """Text with a binary label, one global ranking."""
    rows = generate(sized(20_000))
    return Rows(rows.X, rows.label, None)


def judged(n_queries: int, query_size: int, n_features: int, *, n_grades: int, seed: int = 0) -> Rows:
    """Grades of a utility that is linear in some features and has thresholds and products in others.

    The level of a feature depends on the query, as in real judgments; the function is the same for all seeds.
    """
    function, rng = np.random.default_rng(0), np.random.default_rng(seed + 1)
    qid = np.repeat(np.arange(n_queries), query_size)
    X = rng.normal(size=(len(qid), n_features))
    linear = function.normal(size=n_features) * (function.random(n_features) < 0.4)
    utility = X @ linear / np.linalg.norm(linear)
    utility += 0.5 * (X[:, 0] > 0.5) + 0.5 * X[:, 1] * X[:, 2] + rng.normal(size=len(qid))
    X += rng.normal(size=(n_queries, n_features))[qid]
    # Most rows are irrelevant: each grade has half as many rows as the one below.
    edges = np.quantile(utility, 1.0 - 0.5 ** np.arange(1, n_grades))
    return Rows(X, np.digitize(utility, edges).astype(float), qid)


def all_pairs(rows: Rows) -> RowPairs:
    """Every pair of rows of a query with different labels."""
    assert rows.qid is not None
    better, worse = [], []
    starts = np.flatnonzero(np.diff(rows.qid, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(rows.y)], strict=True):
        y = rows.y[start:stop]
        i, j = np.nonzero(y[:, None] > y[None, :])
        better.append(start + i)
        worse.append(start + j)
    return RowPairs(np.concatenate(better), np.concatenate(worse))


def sampled_pairs(rows: Rows, n_pairs: int, seed: int = 0) -> RowPairs:
    """About `n_pairs` pairs, drawn uniformly from all of them; queries have to be of equal size."""
    rng, m = np.random.default_rng(seed), len(rows.y)
    size = m if rows.qid is None else int(np.count_nonzero(rows.qid == rows.qid[0]))
    # As many draws as needed on average, given the share of pairs with different labels.
    share = np.mean(rows.y[rng.integers(0, m, 10_000)] != rows.y[rng.integers(0, m, 10_000)])
    i = rng.integers(0, m, int(n_pairs / share))
    j = i - i % size + rng.integers(0, size, len(i))
    different = rows.y[i] != rows.y[j]
    i, j = i[different], j[different]
    first = rows.y[i] > rows.y[j]
    return RowPairs(np.where(first, i, j), np.where(first, j, i))


def classified(X: Any, pairs: RowPairs, seed: int = 0) -> tuple[Any, NDArray[np.float64]]:
    """Differences as rows of a classification problem: half of them are turned round, with label −1."""
    turned = np.random.default_rng(seed).random(len(pairs)) < 0.5
    first, second = np.where(turned, pairs.worse, pairs.better), np.where(turned, pairs.better, pairs.worse)
    return X[first] - X[second], np.where(turned, -1.0, 1.0)


def centred(A: NDArray[np.float64], query_size: int) -> NDArray[np.float64]:
    """Rows minus the mean of their query; queries are of equal size and adjacent."""
    blocks = A.reshape(-1, query_size, *A.shape[1:])
    return (blocks - blocks.mean(axis=1, keepdims=True)).reshape(A.shape)
