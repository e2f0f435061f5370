"""Graded queries of which two of a few features matter."""

import numpy as np


def plain(n_queries=12, n=6, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(8 * n_queries, n)), np.repeat(np.arange(n_queries), 8)
    y = np.digitize(X[:, 1] - 0.7 * X[:, 3] + noise * rng.normal(size=len(X)), [-1.0, 0.0, 1.0])
    return X, y.astype(float), qid
