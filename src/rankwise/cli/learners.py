"""The learners that can be named on the command line; one line adds one."""

from __future__ import annotations

import inspect
import json
from typing import Any

import rankwise
from rankwise.errors import ParameterError

# Name on the command line -> public class.
LEARNERS = {
    "rankrls": "RankRLS",
    "kernel-rankrls": "KernelRankRLS",
}


def make_learner(name: str, options: dict[str, Any], settings: list[str]) -> Any:
    """An unfitted learner.

    Parameters
    ----------
    name : str
        A key of `LEARNERS`.
    options : dict
        Values by parameter name; None means not given.
    settings : list of str
        More of them as ``name=value``, where the value is JSON or else a string.
    """
    if name not in LEARNERS:
        raise ParameterError(f"--learner must be one of {', '.join(LEARNERS)}; got {name!r}.")
    kind = getattr(rankwise, LEARNERS[name])
    given = {key: value for key, value in options.items() if value is not None}
    given |= dict(_setting(text) for text in settings)
    known = list(inspect.signature(kind).parameters)
    for key in given:
        if key not in known:
            raise ParameterError(f"The learner {name} has no option '{key}'; it has {', '.join(known)}.")
    return kind(**given)


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ParameterError(f"--set takes name=value; got {text!r}.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
