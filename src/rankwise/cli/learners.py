"""The learners available on the command line; adding one takes one line."""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import rankwise
from rankwise.cli.peer_learners import FEATURE, PEERS, BoostedTrees, OneFeature
from rankwise.errors import ParameterError, did_you_mean
from rankwise.foreign_json import parse_json, read_json_object, unique
from rankwise.numerals import is_number, is_whole, read_float

# Name on the command line -> public class: with fixed parameters, and with parameter selection.
LEARNERS = {
    "rankrls": "RankRLS",
    "kernel-rankrls": "KernelRankRLS",
    "ranksvm": "RankSVM",
}
SELECTORS = {
    "rankrls": "RankRLSCV",
    "kernel-rankrls": "KernelRankRLSCV",
    "ranksvm": "RankSVMCV",
}
# The classes that choose features, too.
PATHS = {"rankrls": "RankRLSPath"}
# Parameters of which `SELECTORS` take several values to choose from.
CHOICES = ("ties", "weighting", "loss", "gamma", "degree", "coef0")


def learner_to_train(
    name: str,
    alpha: str | None,
    cv: str | None,
    few: dict[str, Any],
    options: dict[str, Any],
    settings: list[str],
) -> Any:
    """Create the learner that chooses what was left to choose.

    Parameters
    ----------
    name : str
        A key of `LEARNERS`.
    alpha : str or None
        One value, or those to choose from.
    cv : str or None
        What to leave out; a number means folds.
    few : dict
        Options for choosing features; all None for a model of all features.
    options, settings
        As in `make_learner`.
    """
    alphas = None if alpha is None else parse_numbers(alpha)
    folds = int(cv) if cv is not None and is_whole(cv.removeprefix("-")) else cv
    given = options | _parsed(settings)
    several = any(isinstance(given.get(choice), list) for choice in CHOICES)
    choosing = {"alphas": alphas, "cv": folds}
    if any(value is not None for value in few.values()):
        return make_learner(PATHS, name, options | choosing | few, settings)
    if alphas is None or len(alphas) > 1 or cv is not None or several:
        return make_learner(SELECTORS, name, options | choosing, settings)
    return make_learner(LEARNERS, name, options | {"alpha": alphas[0]}, settings)


def make_learner(classes: dict[str, str], name: str, options: dict[str, Any], settings: list[str]) -> Any:
    """Create an unfitted learner.

    Parameters
    ----------
    classes : dict
        `LEARNERS`, `SELECTORS` or `PATHS`.
    name : str
        A key of `classes`.
    options : dict
        Values by parameter name; None means not given.
    settings : list of str
        More options as ``name=value``, where the value is JSON or otherwise a string.
    """
    if name not in classes:
        raise ParameterError(
            f"--learner must be one of {', '.join(classes)}; got {name!r}{did_you_mean(name, classes)}"
        )
    kind = getattr(rankwise, classes[name])
    given = {key: value for key, value in options.items() if value is not None}
    given |= _parsed(settings)
    known = list(inspect.signature(kind).parameters)
    for key in given:
        if key not in known:
            few = " with few features" if classes is PATHS else ""
            raise ParameterError(
                f"The learner {name}{few} has no option '{key}'; expected {', '.join(known)}"
                f"{did_you_mean(key, known)}"
            )
    return kind(**given)


def _parsed(settings: list[str]) -> dict[str, Any]:
    return _unique("--set", [_setting(text) for text in settings])


def _setting(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ParameterError(f"--set expects name=value; got {text!r}.")
    try:
        return key, parse_json(value, unique_keys=True)
    except ValueError:
        return key, value


def _unique(option: str, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    try:
        return unique(pairs)
    except ValueError as error:
        raise ParameterError(f"{option}: {error}.") from None


def parse_by_feature(option: str, text: str | None) -> dict[str, Any] | None:
    """Parse numbers by feature, such as ``price=-1,bm25=+1``, or a JSON file with an object of them."""
    if text is None:
        return None
    if "=" not in text:
        return read_json_object(text, "numbers by feature name")
    return _unique(option, [_number_of_feature(option, part.strip()) for part in text.split(",")])


def _number_of_feature(option: str, text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    if not (name and is_number(number)):
        raise ParameterError(f"{option} expects price=-1,bm25=+1 or the like, or a JSON file; got {text!r}.")
    return name, read_float(number)


def parse_columns(text: str | None) -> str | dict[str, Any] | None:
    """What columns become: a word such as ``auto`` or ``spline:20``, or a JSON file by column name."""
    from rankwise.columns.specs import ColumnKind

    if text is None or text.partition(":")[0] in list(ColumnKind):
        return text
    if not os.path.lexists(text):
        raise ParameterError(
            f"--columns must be auto, spline or an existing JSON file; got {text!r}"
            f"{did_you_mean(text, ('auto', 'spline'))}"
        )
    return read_json_object(text, "what each column becomes")


def parse_interactions(text: str | None) -> Any:
    """Pairs of columns: ``auto``, a number, or some such as ``device*price,category*brand=category:50``."""
    if text is None or text == "auto":
        return text
    if is_whole(text):
        return int(text)
    return [_interaction(part) for part in text.split(",")]


def _interaction(text: str) -> list[str]:
    pair, equals, how = text.partition("=")
    columns = [column.strip() for column in pair.split("*")]
    if len(columns) != 2 or not all(columns):
        raise ParameterError(
            f"--interactions expects auto, a number or pairs such as device*price,size*brand; got {text!r}."
        )
    return [*columns, how.strip()] if equals else columns


@dataclass(frozen=True)
class LearnerSpec:
    """A learner as given on the command line: ``kind(name=value,...)``."""

    name: str
    kind: str
    settings: list[str]

    def make(self, measure: str) -> Any:
        return make_learner(SELECTORS, self.kind, {"measure": measure}, self.settings)


def parse_learner(text: str) -> LearnerSpec | BoostedTrees | OneFeature:
    """Parse a learner that chooses its parameters, such as ``rankrls`` or ``rankrls(ties=drop)``.

    Or one of another library, such as ``lightgbm(num_leaves=15)``, or a feature, such as ``feature:11``.
    """
    if text.startswith(FEATURE):
        return OneFeature(text)
    found = re.fullmatch(r"([\w-]+)\s*(?:\((.*)\))?", text)
    if found is None:
        raise ParameterError(f"--learners expects names such as rankrls or rankrls(ties=drop); got {text!r}.")
    # Lists such as alphas=[0.1,1] stay whole.
    settings = [part.strip() for part in re.split(r",(?![^\[]*\])", found[2] or "") if part.strip()]
    if found[1] in PEERS:
        peer = BoostedTrees(text, found[1], _parsed(settings))
        peer.make()
        return peer
    if found[1] not in SELECTORS:
        known = (*SELECTORS, *PEERS)
        raise ParameterError(
            f"--learners must name any of {', '.join(known)}, or a feature such as {FEATURE}11; got "
            f"{found[1]!r}{did_you_mean(found[1], known)}"
        )
    spec = LearnerSpec(text, found[1], settings)
    spec.make("map")  # an unknown name or parameter is an error before any data is read
    return spec


def parse_numbers(text: str) -> list[float]:
    """Parse numbers such as ``0.1,1,10``, with powers such as ``2^-3`` and ranges of powers such as
    ``2^-15..2^15``."""
    numbers: list[float] = []
    for part in text.split(","):
        first, dots, last = part.partition("..")
        if dots:
            (base, low), (other, high) = _power(first), _power(last)
            if base != other or low != int(low) or high != int(high) or low > high:
                raise ParameterError(
                    f"--alpha expects a range of powers like 2^-15..2^15; got {part.strip()!r}."
                )
            numbers += [_value(base, exponent) for exponent in range(int(low), int(high) + 1)]
        else:
            numbers.append(_value(*_power(part)))
    return numbers


def _power(text: str) -> tuple[float, float]:
    base, _, exponent = text.partition("^")
    try:
        return read_float(base), read_float(exponent or "1")
    except ValueError:
        raise ParameterError(
            f"--alpha expects a number like 0.1 or a power like 2^-3; got {text.strip()!r}."
        ) from None


def _value(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        raise ParameterError(
            f"--alpha expects a power with a finite value; got '{base:g}^{exponent:g}'."
        ) from None


def parse_choices(text: str | None) -> str | list[str] | None:
    """Parse one choice, or several alternatives such as ``keep,drop``."""
    if text is None or "," not in text:
        return text
    return [part.strip() for part in text.split(",")]
