"""What the parts of a model are called as attributes of rankers, and in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from rankwise.features import Features
from rankwise.model.history import Origin
from rankwise.model.model import Model, given
from rankwise.model.outcome import Outcome
from rankwise.operators.kernel import Kernel, KernelName, checked_function
from rankwise.scoring.functions import FeatureFunction, KernelExpansion, LinearFunction

_OF_ORIGIN = {field.name: f"{field.name}_" for field in fields(Origin)}
_OF_OUTCOME = {field.name: f"{field.name}_" for field in fields(Outcome)} | {"path": "_path"}


def model_from(class_name: str, parameters: Mapping[str, Any], attributes: Mapping[str, Any]) -> Model:
    """The model that parameters and attributes describe; the inverse of `attributes_of`."""
    names = attributes.get("feature_names_in_")
    moments, profile = attributes.get("moments_"), attributes.get("profile_")
    return Model(
        class_name,
        function_from(parameters, attributes),
        Features(
            names=None if names is None else tuple(map(str, names)),
            numbered_from=attributes.get("numbered_from_"),
            count=int(attributes["n_features_in_"]),
            scaled_per_query=attributes.get("scaled_per_query_"),
        ),
        encoding=attributes.get("encoding_"),
        calibration=attributes.get("calibration_"),
        parameters=parameters,
        outcome=Outcome(**{name: attributes.get(called) for name, called in _OF_OUTCOME.items()}),
        origin=Origin(**{name: attributes.get(called) for name, called in _OF_ORIGIN.items()}),
        form_moments=None if moments is None else partial(given, moments),
        form_profile=None if profile is None else partial(given, profile),
    )


def function_from(parameters: Mapping[str, Any], attributes: Mapping[str, Any]) -> FeatureFunction:
    """The function of features that was learned."""
    if "coef_" in attributes:
        return LinearFunction(attributes["coef_"])
    kernel = Kernel(
        checked_function(parameters["kernel"]),
        attributes["gamma_"],
        attributes["degree_"],
        attributes["coef0_"],
    )
    return KernelExpansion(
        kernel=kernel,
        coefficients=attributes["dual_coef_"],
        indices=attributes["basis_indices_"],
        basis=None if kernel.function is KernelName.PRECOMPUTED else attributes["basis_"],
        reference=attributes.get("basis_reference_") if kernel.function is KernelName.LINEAR else None,
        over_all_rows=parameters.get("basis") is None,
    )


def attributes_of_function(function: FeatureFunction) -> dict[str, Any]:
    """The attributes that stand for a function; the inverse of `function_from`."""
    if isinstance(function, LinearFunction):
        return {"coef_": function.weights, "intercept_": 0.0}
    kernel = function.kernel
    found = {
        "basis_": function.basis,
        "basis_indices_": function.indices,
        "basis_reference_": function.reference,
        "dual_coef_": function.coefficients,
        "gamma_": kernel.gamma,
        "degree_": kernel.degree,
        "coef0_": kernel.coef0,
        "rank_": len(function.indices),
    }
    return {name: value for name, value in found.items() if value is not None}


def attributes_of(model: Model) -> dict[str, Any]:
    """All that a model says but moments and profile, which may not have been formed; None is left out."""
    features, outcome = model.features, model.outcome
    names = None if features.names is None else np.array(features.names, dtype=object)
    found = {
        "n_features_in_": features.count,
        "feature_names_in_": names,
        "numbered_from_": features.numbered_from,
        "scaled_per_query_": features.scaled_per_query,
        "encoding_": model.encoding,
        "calibration_": model.calibration,
        **{called: getattr(outcome, name) for name, called in _OF_OUTCOME.items()},
        **{called: getattr(model.origin, name) for name, called in _OF_ORIGIN.items()},
        **attributes_of_function(model.of_features),
    }
    return {name: value for name, value in found.items() if value is not None}
