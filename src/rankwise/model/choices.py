"""What a search tried and chose, checked when it is read from a file: the parts must agree."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

from rankwise.tensor_file import RefusedError
from rankwise.types import Ties, Weighting

_CHOICES = {"ties": frozenset(map(str, Ties)), "weighting": frozenset(map(str, Weighting))}
# What fits with a loss that has ties choose between; updates continue with the choice.
_OF_UPDATES = {"ties", "weighting"}
_READING = {"alpha", "n_iter", "score"}


def check_choice_of_search(parameters: Mapping[str, Any], fitted: Mapping[str, Any]) -> None:
    """Refuse settings that no search of these parameters has, or a choice that is none of them."""
    settings, best = fitted["settings_"], fitted["best_"]
    if len(settings) != len(fitted["scores_"]) or not all(isinstance(each, dict) for each in settings):
        raise RefusedError("the value 'settings_' must be a list with one dictionary per row of 'scores_'")
    if not settings or any(each.keys() != settings[0].keys() for each in settings):
        raise RefusedError("the value 'settings_' must hold dictionaries with the same names")
    needed = _OF_UPDATES if "moments_" in fitted else set()
    if not needed <= settings[0].keys() <= parameters.keys():
        raise RefusedError("the names of 'settings_' must be parameters that a search chooses")
    for name, value in ((name, value) for each in settings for name, value in each.items()):
        if not _is_setting(name, value):
            raise RefusedError(f"the setting '{name}' cannot be {repr(value)[:40]}")
    _check_best(best, settings, fitted["alphas_"].tolist())
    if "surface_" in fitted:
        _check_surface(fitted)


def _check_best(best: dict[str, Any], settings: list[dict[str, Any]], alphas: list[float]) -> None:
    alpha, score = best.get("alpha"), best.get("score")
    setting = {name: value for name, value in best.items() if name not in ("alpha", "score")}
    if not (_is_number(alpha) and alpha in alphas and _is_number(score) and setting in settings):
        raise RefusedError("the value 'best_' must be one of 'settings_' with one of 'alphas_' and a score")


def _check_surface(fitted: Mapping[str, Any]) -> None:
    """The surface is by alpha and iteration, and the chosen iteration is one of them."""
    n_iterations = fitted["surface_"].shape[1]
    if not 1 <= fitted.get("best_iter_", 0) <= n_iterations:
        raise RefusedError(f"the value 'best_iter_' must be from 1 to {n_iterations}, as in 'surface_'")
    readings = fitted.get("readings_", {}).values()
    if not all(isinstance(each, dict) and each.keys() == _READING for each in readings):
        raise RefusedError(f"each of 'readings_' must have {', '.join(sorted(_READING))}")
    if not all(_is_number(value) for each in readings for value in each.values()):
        raise RefusedError("the values of 'readings_' must be numbers")


def _is_setting(name: str, value: Any) -> bool:
    if name in _CHOICES:
        return isinstance(value, str) and value in _CHOICES[name]
    return value is None or isinstance(value, str) or (_is_number(value) and math.isfinite(value))


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) <= sys.float_info.max)
