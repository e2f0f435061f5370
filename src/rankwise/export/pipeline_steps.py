"""The steps of a pipeline before a ranker that can be exported with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwise.errors import ParameterError

# Scalers of sklearn.preprocessing, as the factor and shift of ``factor * x + shift`` for a feature x.
_AFFINE: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "StandardScaler": lambda step: _divided(step.mean_ if step.with_mean else None, step.scale_),
    "RobustScaler": lambda step: _divided(getattr(step, "center_", None), getattr(step, "scale_", None)),
    "MaxAbsScaler": lambda step: _divided(None, step.scale_),
    "MinMaxScaler": lambda step: (step.scale_, step.min_),
}


def passes_through(step: Any) -> bool:
    """Whether this is what a pipeline has in place of a step that was left out."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def is_marked(step: Any, mark: str) -> bool:
    """Whether the class of the step, or one whose `transform` it keeps, has this mark.

    `QueryMinMaxScaler` and `ColumnEncoder` are marked, because this layer cannot import estimators.
    """
    kinds = (kind for kind in type(step).__mro__ if vars(kind).get(mark))
    return any(_transforms_as(step, kind) for kind in kinds)


def affine(step: Any) -> tuple[Any, Any]:
    """Factor and shift of a scaler; other steps are refused."""
    from sklearn import preprocessing

    for name, factor_and_shift in _AFFINE.items():
        if _transforms_as(step, getattr(preprocessing, name)) and not getattr(step, "clip", False):
            return factor_and_shift(step)
    how = " with clip=True" if getattr(step, "clip", False) else ""
    raise ParameterError(
        f"The step {type(step).__name__}{how} cannot be exported; use ColumnEncoder, "
        f"QueryMinMaxScaler, {', '.join(_AFFINE)} or a subclass that keeps their transform."
    )


def _transforms_as(step: Any, kind: Any) -> bool:
    """Whether the step is an instance of this class or of a subclass that does not override `transform`."""
    return isinstance(step, kind) and type(step).transform is kind.transform


def _divided(centre: Any, scale: Any) -> tuple[Any, Any]:
    """Return factor and shift of ``(x - centre) / scale``; either may be None."""
    by = 1.0 / np.asarray(1.0 if scale is None else scale)
    return by, -np.asarray(0.0 if centre is None else centre) * by
