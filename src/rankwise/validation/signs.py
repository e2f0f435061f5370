"""Signs that the weights of features must have."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwise.errors import ParameterError
from rankwise.types import Ints

_SIGNS = (-1, 0, 1)


def check_signs(monotonic_cst: Any, features: Sequence[str]) -> Ints:
    """Return −1, 0 or 1 for each feature, from a mapping by feature name or one number per feature.

    Parameters
    ----------
    monotonic_cst : mapping of str to int, or array, shape (n,)
        The parameter of that name; features that a mapping leaves out may have any sign.
    features : sequence of str
        What the features are called.
    """
    if isinstance(monotonic_cst, Mapping):
        return _by_name(monotonic_cst, list(features))
    try:
        signs = np.asarray(monotonic_cst)
    except ValueError:  # sequences of different lengths
        signs = np.empty((0, 0))
    if signs.ndim != 1 or signs.dtype.kind not in "iuf":
        raise ParameterError(
            f"The 'monotonic_cst' parameter must be None, a dict of -1, 0 or 1 by feature name, or an array "
            f"of them; got {repr(monotonic_cst)[:100]}."
        )
    if len(signs) != len(features):
        raise ParameterError(
            f"The 'monotonic_cst' parameter must have one sign per feature, {len(features)} in all; got "
            f"{len(signs)}."
        )
    for name, sign in zip(features, signs.tolist(), strict=True):
        _check_sign(name, sign)
    return signs.astype(np.int64)


def _by_name(given: Mapping[Any, Any], features: list[str]) -> Ints:
    signs = dict.fromkeys(features, 0)
    for name, sign in given.items():
        if name not in signs:
            close = difflib.get_close_matches(str(name), features, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the first feature is {features[0]!r}."
            raise ParameterError(f"monotonic_cst names {name!r}, which is not a feature; {hint}")
        _check_sign(name, sign)
        signs[name] = int(sign)
    return np.array([signs[name] for name in features], dtype=np.int64)


def _check_sign(name: str, sign: Any) -> None:
    if isinstance(sign, (bool, str)) or sign not in _SIGNS:
        raise ParameterError(f"Signs of monotonic_cst must be -1, 0 or 1; got {sign!r} for {name!r}.")
