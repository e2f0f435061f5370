"""A small ranking with noisy grades in a few queries."""

import numpy as np


def toy(n=40, seed=0, features=3, queries=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    y = np.round(X[:, 0] + 0.7 * X[:, 1] + 0.5 * rng.normal(size=n))
    return X, y, rng.integers(0, queries, n)
