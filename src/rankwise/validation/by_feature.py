"""Parameters with one number per feature, given as an array or as a mapping by feature name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwise.errors import ParameterError
from rankwise.types import AnyArray, Floats, Ints
from rankwise.validation.parameters import check_number


def check_signs(monotonic_cst: Any, features: Sequence[str]) -> Ints:
    """Return −1, 0 or 1 for each feature; those that a mapping leaves out may have any sign.

    Parameters
    ----------
    monotonic_cst : mapping of str to int, or array, shape (n,)
        The parameter of that name.
    features : sequence of str
        What the features are called.
    """
    signs = _by_feature("monotonic_cst", monotonic_cst, features, 0, "-1, 0 or 1", lambda v: v in (-1, 0, 1))
    return signs.astype(np.int64)


def check_costs(feature_costs: Any, features: Sequence[str]) -> Floats:
    """Return a cost above 0 for each feature; 1 for those that a mapping leaves out."""
    costs = _by_feature("feature_costs", feature_costs, features, 1, "finite and above 0", _is_cost)
    return costs.astype(np.float64)


def _is_cost(value: Any) -> bool:
    try:
        check_number("feature_costs", value, minimum=0.0, exclusive=True)
    except ParameterError:
        return False
    return True


def _by_feature(
    parameter: str,
    given: Any,
    features: Sequence[str],
    default: int,
    expected: str,
    fits: Callable[[Any], bool],
) -> AnyArray:
    if isinstance(given, Mapping):
        named = dict.fromkeys(features, default)
        for name in given:
            if name not in named:
                close = difflib.get_close_matches(str(name), features, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"the first feature is {features[0]!r}."
                raise ParameterError(f"{parameter} names {name!r:.100}, which is not a feature; {hint}")
        values = [{**named, **given}[name] for name in features]
    else:
        values = _listed(parameter, given, len(features), expected)
    for name, value in zip(features, values, strict=True):
        if isinstance(value, (bool, str)) or not fits(value):
            raise ParameterError(
                f"Values of {parameter} must be {expected}; got {value!r:.100} for {name!r}."
            )
    return np.array(values)


def _listed(parameter: str, given: Any, n_features: int, expected: str) -> list[Any]:
    try:
        array = np.asarray(given)
    except ValueError:  # sequences of different lengths
        array = np.empty((0, 0))
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise ParameterError(
            f"The '{parameter}' parameter must be None, a dict of numbers ({expected}) by feature name, or "
            f"an array of them; got {given!r:.100}."
        )
    if len(array) != n_features:
        raise ParameterError(
            f"The '{parameter}' parameter must have one value per feature, {n_features} in all; got "
            f"{len(array)}."
        )
    return list(array.tolist())
