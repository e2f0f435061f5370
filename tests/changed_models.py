"""Fitted rankers whose model is changed by hand."""

from dataclasses import replace

import numpy as np

from rankwise.scoring.functions import LinearFunction


def set_weights(ranker, weights):
    """Let a linear ranker have these weights."""
    ranker.model_ = replace(ranker.model_, of_features=LinearFunction(np.asarray(weights, dtype=np.float64)))


def set_features(ranker, **changes):
    """Let a ranker have been fitted to other features: their names, or how they were scaled."""
    ranker.model_ = replace(ranker.model_, features=replace(ranker.model_.features, **changes))
