"""The functions of columns that a model with encoded columns adds up, with intervals by the jackknife."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.columns.encoding import Encoding
from rankwise.columns.profile import NO_EFFECT
from rankwise.model.model import Model
from rankwise.plots import labels_of, points_of
from rankwise.report.entrants import Entrant
from rankwise.report.lists import rounded, short_name
from rankwise.report.weights import (
    MAX_FEATURES,
    is_explained_by_alpha,
    jackknife_margins,
    left_out_weights,
    weights_of,
)
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.interactions import Interaction
from rankwise.types import Floats, Reading

# Columns that are drawn, and points of a curve.
MAX_SHAPES, N_POINTS = 30, 25
# Tables of two columns that are shown.
MAX_TABLES = 12


def shape_facts(
    entrants: Sequence[Entrant], judged: RankingData, training: RankingData | None
) -> dict[str, Any] | None:
    """The functions of columns that vary most, at values of the judged rows; None if there are none."""
    if not judged.n_features:
        return None
    models = {one.name: one.model for one in entrants if one.model is not None}
    found = {
        name: _of_model(model, model.encoding, judged, training)
        for name, model in models.items()
        if model.encoding is not None and model.of_features.weights is not None
    }
    return found or None


def _of_model(
    model: Model, encoding: Encoding, data: RankingData, training: RankingData | None
) -> list[dict[str, Any]]:
    coef = weights_of(model)
    table = model.table(data).matched(list(encoding.codes), encoding.labels)
    without: list[Floats] = []
    if training is not None and is_explained_by_alpha(model) and len(coef) <= MAX_FEATURES:
        without = list(left_out_weights(model, training))
    functions = [encoding.function(weights).terms for weights in (coef, *without)]
    shapes = [_shape(terms, table) for terms in zip(*functions, strict=True)]
    ranges = np.array([np.ptp(shape["values"]) if shape["values"] else 0.0 for shape in shapes])
    largest = np.argsort(-ranges, kind="stable")[:MAX_SHAPES]
    return [shapes[k] for k in largest if ranges[k] > NO_EFFECT * ranges.max()]


def interaction_facts(entrants: Sequence[Entrant]) -> dict[str, Any] | None:
    """The tables of two columns that vary most; None if there are none."""
    found = {
        one.name: [_table(interaction) for interaction in _largest(one.model.function.interactions)]
        for one in entrants
        if one.model is not None and isinstance(one.model.function, AdditiveFunction)
    }
    return {name: tables for name, tables in found.items() if tables} or None


def _largest(interactions: Sequence[Interaction]) -> list[Interaction]:
    by_range = sorted(interactions, key=lambda one: -float(np.ptp(np.array(one.values))))
    return by_range[:MAX_TABLES]


def _table(interaction: Interaction) -> dict[str, Any]:
    return {
        "columns": [short_name(column) for column in interaction.columns],
        "points": [[short_name(point) for point in axis.points] for axis in interaction.axes],
        "values": [rounded(np.array(row)) for row in interaction.values],
    }


def _shape(terms: Sequence[Term], table: Table) -> dict[str, Any]:
    """One column: its function by the model and, for the margins, by the models without each query.

    Only differences matter, so every function has mean 0 over the points.
    """
    column, shape = terms[0].column, terms[0].shape
    points = points_of(table.read(column, shape.reading), shape.reading, N_POINTS)
    curves = np.array([term.shape(points) for term in terms])
    curves -= curves.mean(axis=1, keepdims=True)
    numbers = shape.reading is Reading.NUMBER or shape.reading.is_relative
    facts = {
        "column": short_name(terms[0].name),
        "kind": "number" if numbers else "date" if shape.reading is Reading.DATE else "category",
        "points": rounded(points)
        if numbers
        else [short_name(point) for point in labels_of(points, shape.reading)],
        "values": rounded(curves[0]),
    }
    if len(curves) > 2:
        facts["margins"] = rounded(jackknife_margins(curves[1:]))
    return facts
