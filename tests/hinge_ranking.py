"""Rankings for RankSVM, and its objective over explicit pairs."""

import numpy as np

from all_pairs import hinge_pairs
from rankwise.preferences.queries import group_rows
from rankwise.svm import losses
from rankwise.types import Weighting
from rankwise.validation import Problem

LOSSES = ["hinge", "squared_hinge"]


def ranking(m=40, n=4, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = np.round(X @ rng.normal(size=n) + rng.normal(size=m), 1)
    return X, y, rng.integers(0, 3, m)


def objective(w, X, y, qid, alpha, loss, **options):
    pairs, weights = hinge_pairs(y, qid, **options)
    scores = X @ w
    slack = np.maximum(0.0, 1.0 - (scores[pairs[:, 0]] - scores[pairs[:, 1]]))
    return weights @ slack ** (1 + (loss == "squared_hinge")) + alpha * w @ w


def solvers_and_risk(X, y, loss):
    """Who minimizes a loss, and its risk on one global ranking."""
    kind = losses.LOSSES[losses.LossName(loss)]
    return kind, kind.of_rows(Problem(X, y, group_rows(None, len(y)), None), Weighting.QUERY).risk(X)
