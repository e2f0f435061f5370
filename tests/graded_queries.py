"""A small ranking with noisy grades in a few queries."""

import numpy as np


def toy(n=40, seed=0, features=3, queries=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    y = np.round(X[:, 0] + 0.7 * X[:, 1] + 0.5 * rng.normal(size=n))
    return X, y, rng.integers(0, queries, n)


def ranking(m=40, n=5, n_queries=5, seed=0):
    """Queries of random rows with three grades, and a query of one row."""
    rng = np.random.default_rng(seed)
    qid = rng.integers(0, n_queries, m)
    qid[-1] = n_queries
    return rng.normal(size=(m, n)), rng.integers(0, 3, m).astype(float), qid
