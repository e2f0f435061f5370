"""Rows whose labels follow a linear score and noise."""

import numpy as np


def noisy_ranking(m=300, n=30, seed=0, noise=3.0, n_queries=25):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = np.round(X @ np.linspace(1.0, 0.0, n) + noise * rng.normal(size=m))
    return X, y, rng.integers(0, n_queries, m)
