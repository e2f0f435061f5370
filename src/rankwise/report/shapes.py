"""The functions of columns that a model with encoded columns adds up, with intervals by the jackknife."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.report.entrants import Entrant
from rankwise.report.judged import Judged
from rankwise.report.lists import rounded, short_name
from rankwise.report.weights import (
    MAX_FEATURES,
    NO_EFFECT,
    is_explained_by_alpha,
    jackknife_margins,
    left_out_weights,
)
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table, table_of
from rankwise.scoring.additive import Term
from rankwise.scoring.curves import labels_of, points_of
from rankwise.types import Floats, Reading

# Columns that are drawn, and points of a curve.
MAX_SHAPES, N_POINTS = 30, 25


def shape_facts(
    entrants: Sequence[Entrant], judged: Judged, training: RankingData | None
) -> dict[str, Any] | None:
    """The functions of columns that vary most, at values of the judged rows; None if there are none."""
    if judged.data is None:
        return None
    found = {
        one.name: _of_model(one, judged.data, training) for one in entrants if "encoding_" in one.learned
    }
    return found or None


def _of_model(one: Entrant, data: RankingData, training: RankingData | None) -> list[dict[str, Any]]:
    encoding, coef = one.learned["encoding_"], one.learned["coef_"]
    table = table_of(data).matched(list(encoding.codes), encoding.labels)
    without: list[Floats] = []
    if training is not None and is_explained_by_alpha(one.learned) and len(coef) <= MAX_FEATURES:
        without = list(left_out_weights(one.learned, training))
    functions = [encoding.function(weights).terms for weights in (coef, *without)]
    shapes = [_shape(terms, table) for terms in zip(*functions, strict=True)]
    ranges = np.array([np.ptp(shape["values"]) if shape["values"] else 0.0 for shape in shapes])
    largest = np.argsort(-ranges, kind="stable")[:MAX_SHAPES]
    return [shapes[k] for k in largest if ranges[k] > NO_EFFECT * ranges.max()]


def _shape(terms: Sequence[Term], table: Table) -> dict[str, Any]:
    """One column: its function by the model and, for the margins, by the models without each query.

    Only differences matter, so every function has mean 0 over the points.
    """
    column, shape = terms[0].column, terms[0].shape
    points = points_of(table.read(column, shape.reading), shape.reading, N_POINTS)
    curves = np.array([term.shape(points) for term in terms])
    curves -= curves.mean(axis=1, keepdims=True)
    numbers = shape.reading is Reading.NUMBER
    facts = {
        "column": short_name(column),
        "points": rounded(points)
        if numbers
        else [short_name(point) for point in labels_of(points, shape.reading)],
        "values": rounded(curves[0]),
    }
    if len(curves) > 2:
        facts["margins"] = rounded(jackknife_margins(curves[1:]))
    return facts
