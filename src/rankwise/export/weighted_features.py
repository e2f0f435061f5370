"""Models for engines that compute features and know only weights and normalizers.

A feature that is missing there counts as 0. Both engines sum in single precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankwise.errors import ParameterError, warn_caller
from rankwise.export.engine_scores import Values
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.shapes import Flag, Line, LogLine, Lookup, OfAge, PiecewiseLinear, Relative, Shape
from rankwise.types import Floats

# What users call the functions of columns that are not straight lines.
_WORDS: dict[type[Shape], str] = {
    LogLine: "a logarithm",
    PiecewiseLinear: "a spline",
    OfAge: "a date",
    Relative: "compared with the query",
    Lookup: "a category",
    Flag: "a flag",
}


@dataclass(frozen=True, slots=True)
class WeightedFeature:
    """``weight (x − mean)``: all that a weight and a normalizer can say of a feature x."""

    name: str
    weight: float
    mean: float


def weighted_features(function: AdditiveFunction, instead: str) -> list[WeightedFeature]:
    """Return the weights and means of a function that is linear in every column; refuse others by name."""
    for term in function.terms:
        if not isinstance(term.shape, Line):
            raise ParameterError(
                f"A weight and a normalizer cannot express what the model does with the column "
                f"'{term.column}' ({_WORDS[type(term.shape)]}); export to '{instead}', 'vespa', 'sql', "
                "'sqlite' or 'onnx'."
            )
    for interaction in function.interactions:
        raise ParameterError(
            f"Weights and normalizers cannot express the interaction {interaction.name}; export to "
            f"'{instead}', 'vespa', 'sql', 'sqlite' or 'onnx'."
        )
    defaults = _defaults(function)
    if defaults:
        listed = ", ".join(f"{column}: {value:.6g}" for column, value in list(defaults.items())[:5])
        more = ", ..." if len(defaults) > 5 else ""
        warn_caller(
            "A missing feature counts as 0 in the engine, but the model has other values for missing ones; "
            f"let the engine return these as defaults ({listed}{more}), or export to '{instead}'."
        )
    return _weighted(function)


def _weighted(function: AdditiveFunction) -> list[WeightedFeature]:
    return [
        WeightedFeature(
            term.column, line.slope, line.at - line.value / line.slope if line.slope != 0.0 else 0.0
        )
        for term in function.terms
        if isinstance(line := term.shape, Line)
    ]


def _defaults(function: AdditiveFunction) -> dict[str, float]:
    """The numbers that stand for missing ones, where they are not 0."""
    lines = {term.column: term.shape for term in function.terms if isinstance(term.shape, Line)}
    defaults = {
        column: line.at + (line.missing - line.value) / line.slope
        for column, line in lines.items()
        if line.slope != 0.0 and not math.isnan(line.missing)
    }
    return {column: number for column, number in defaults.items() if number != 0.0}


def weighted_scores(function: AdditiveFunction, values: Values) -> Floats:
    """Return the scores that the engines compute: features, weights and sums in single precision."""
    return _single_scores(_weighted(function), values)


def boosted_scores(function: AdditiveFunction, values: Values) -> Floats:
    """Return those of a query of boosted clauses, which have no normalizers."""
    return _single_scores([replace(feature, mean=0.0) for feature in _weighted(function)], values)


def _single_scores(features: Sequence[WeightedFeature], values: Values) -> Floats:
    scores = np.zeros(len(next(iter(values.values()))), dtype=np.float32)
    for feature in features:
        moved = values[feature.name].astype(np.float32) - np.float32(feature.mean)
        scores += moved * np.float32(feature.weight)
    return scores.astype(np.float64)
