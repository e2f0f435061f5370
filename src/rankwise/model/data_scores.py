"""Scores of a data set, whose features must be those that a model was trained on, scaled in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwise.errors import DataError
from rankwise.rows.scaling import scaled_parts
from rankwise.scoring.additive import AdditiveFunction

if TYPE_CHECKING:
    from rankwise.model.model import Model
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Floats


def score_data(model: Model, data: RankingData) -> Floats:
    """The model's scores of all rows, after checking that the features match those of training.

    Rows are scaled within each query if the model was trained on rows scaled that way.
    """
    if not must_scale_for(model, data):
        return model.predict(data)
    scores = np.empty(data.n_rows)
    for rows, X in scaled_parts(data.X, data.queries):
        scores[rows] = model.predict(X)
    return scores


def must_scale_for(model: Model, data: RankingData) -> bool:
    """Whether rows still have to be scaled for a model; raises an error if their features do not match."""
    if not isinstance(model.function, AdditiveFunction):  # which finds its columns itself
        _check_features(model, data)
    # Models from SVMrank, and those trained in Python, do not record this.
    known_scaling = model.scaled_per_query
    return must_scale(data, data.scaled_per_query if known_scaling is None else known_scaling)


def _check_features(model: Model, data: RankingData) -> None:
    known = model.feature_names
    if known is not None and data.feature_names is not None and known != list(data.feature_names):
        missing = [name for name in known if name not in data.feature_names]
        what = f"the feature '{missing[0]}' is missing" if missing else "the order of the features differs"
        raise DataError(f"The data does not match the model: {what}.")
    if data.n_features != model.n_features:
        raise DataError(
            f"The data has {data.n_features} features, but the model was trained on {model.n_features}."
        )


def must_scale(data: RankingData, wanted: bool) -> bool:
    """Whether the data still has to be scaled within each query to match a model's training data."""
    if data.scaled_per_query == wanted:
        return False
    if not wanted:
        raise DataError(
            "The data was scaled within each query (--scale), which cannot be undone, "
            "but the model's training data was not."
        )
    if data.qid is None:
        raise DataError(
            "The model was trained on features scaled within each query (--scale), "
            "but the data has no queries."
        )
    return True
