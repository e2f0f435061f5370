"""Scores of a data set, whose features must be those that a model was trained on, scaled in the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankwise.errors import DataError
from rankwise.rows.scaling import scaled_parts
from rankwise.rows.table import Table
from rankwise.types import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwise.features import Features
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
    if model.encoding is None:  # which finds its columns itself
        model.features.check(replace(data.features, scaled_per_query=None))
    return _must_scale(data, model.features)


def scaled_like(data: RankingData, known: Features) -> RankingData:
    """The data, scaled within each query if the features that a model was trained on were."""
    return data.scale_per_query() if _must_scale(data, known) else data


def _must_scale(data: RankingData, known: Features) -> bool:
    # Models from SVMrank, and those trained on arrays, do not record this.
    if known.scaled_per_query in (None, data.scaled_per_query):
        return False
    if data.scaled_per_query:
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


def with_numbers(data: RankingData, names: Sequence[str] | None = None) -> RankingData:
    """The rows for models that take numbers: a matrix of all columns, or of those named.

    Data without these names stays as it is, so that checks of its features can say how they differ.
    """
    if isinstance(data.X, Table):
        wanted = tuple(data.X.columns if names is None else names)
        table = data.X.matched(wanted)
        X = np.column_stack([table.read(column, Reading.NUMBER) for column in wanted])
        return replace(data, X=X, features=replace(data.features, names=wanted))
    known = data.feature_names
    if names is None or known is None or tuple(names) == known or not set(names) <= set(known):
        return data
    places = [known.index(name) for name in names]
    return replace(data, X=data.X[:, places], features=replace(data.features, names=tuple(names)))
